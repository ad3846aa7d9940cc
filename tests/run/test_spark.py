"""Exports on a real Spark cluster, a master and two workers as processes, against exports here."""

from __future__ import annotations

import json
import os
import pickle
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow.parquet as pq
import pytest
from support import warcs
from support.spark import CHECKOUT, NEEDS_SPARK, Cluster, cluster, session

import ccrawl
from ccrawl.archives import Source
from ccrawl.dataset.files import leftovers, remove_leftovers
from ccrawl.dataset.layout import shard_file
from ccrawl.dataset.ledger import file_sha256
from ccrawl.errors import OutputError, SourceError, UsageError
from ccrawl.html import extractors
from ccrawl.run.events import Event, RunProgress, ShardDone, ShardRetried
from ccrawl.run.options import ExportOptions
from ccrawl.run.spark import SparkRunner, _blamed, _export, _Shared
from ccrawl.run.task import ShardReport, ShardTask
from ccrawl.spark import SparkFailure
from tests.index.conftest import start_server

pyspark = pytest.importorskip("pyspark")
pytestmark = NEEDS_SPARK

# On an executor's path: an extractor that does to its process what its page's address says.
HOSTILE = r"""
import os, sys, time

def hostile(page, options):
    from ccrawl.html import extractors
    name = page.url.rpartition("/")[2]
    if name == "abort":
        os.abort()
    if name == "sleep":
        time.sleep(3600)
    if name == "loop-in-c":
        sum(range(10**12))
    if name == "memory":
        hoard = bytearray(8 << 30)
    if name == "slow":
        with open(os.path.join(os.path.dirname(__file__), "slow.log"), "a") as log:
            log.write(page.url + "\n")
        time.sleep(0.2)
    if name == "lose-the-worker":  # Spark's own process: the fork server is this one's parent
        import psutil
        psutil.Process(os.getppid()).parent().kill()
        time.sleep(3600)
    return extractors.EXTRACTORS["raw"].extract(page, options)

def register():
    from ccrawl.html import extractors
    extractors.EXTRACTORS["hostile"] = extractors.Extractor("hostile", "1", hostile)
"""
# Python imports this first of all, in Spark's Python processes too; the extractor joins the others when they are.
SITE = """
import sys
from importlib.abc import MetaPathFinder
from importlib.util import find_spec

class Finder(MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name != "ccrawl.html.extractors":
            return None
        sys.meta_path.remove(self)
        spec = find_spec(name)
        execute = spec.loader.exec_module

        def execute_and_register(module):
            execute(module)
            import hostile
            hostile.register()

        spec.loader.exec_module = execute_and_register
        return spec

sys.meta_path.insert(0, Finder())
"""
OPTIONS = ExportOptions(extractor="hostile", page_timeout=2.0, worker_memory=512 << 20)


@pytest.fixture(scope="module")
def workers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    folder = tmp_path_factory.mktemp("spark")
    (folder / "hostile.py").write_text(HOSTILE)
    (folder / "sitecustomize.py").write_text(SITE)
    with cluster(folder) as running, pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(folder))
        import hostile  # type: ignore[import-not-found]

        hostile.register()
        yield running
        del extractors.EXTRACTORS["hostile"]


@pytest.fixture(scope="module")
def spark(workers: Cluster) -> Iterator[Any]:
    with session(workers) as found:
        yield found


def shard(path: Path, number: int, names: Sequence[str]) -> Path:
    """An archive of a page a name, at addresses that end in it. Those named `copy` are copies of the first."""
    return warcs.write(
        path,
        [
            warcs.response(
                1000 * number + (page if name != "copy" else 0),
                url=f"http://site.test/{number}/{page}/{name}",
            )
            for page, name in enumerate(names)
        ],
    )


def export_here(on: Cluster, *arguments: object) -> subprocess.CompletedProcess[str]:
    """`ccrawl export --extractor hostile` on this machine."""
    return subprocess.run(
        [sys.executable, "-m", "ccrawl", "export", "--extractor", "hostile", "-q", *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": f"{CHECKOUT}:{on.folder}"},
        capture_output=True,
        text=True,
        check=False,
    )


def contents(out: Path) -> dict[str, object]:
    """What a dataset holds but for the times of its run; failures have no order among shards."""
    manifest = json.loads((out / "manifest.json").read_bytes())
    for entry in manifest["shards"]:
        del entry["seconds"], entry["cpu_seconds"]
    failures = out / "failures.jsonl"
    return {
        "manifest": manifest,
        "failures": sorted(failures.read_text().splitlines()) if failures.exists() else [],
        **{str(path.relative_to(out)): path.read_bytes() for path in out.rglob("*.parquet")},
        "leftovers": leftovers(out),
    }


# The first, since a session of the fixture's would hold the cluster's cores.
def test_spark_submit_with_speculation_and_lists_of_duplicates(workers: Cluster, tmp_path: Path) -> None:
    for number in range(3):
        shard(tmp_path / "in" / f"{number}.warc.gz", number, ["", "", "copy"])
    script = tmp_path / "submit.py"
    script.write_text("from ccrawl.__main__ import main\n\nmain()\n")
    settings = {
        **workers.settings,
        "spark.speculation": "true",
        "spark.speculation.quantile": "0.5",
        "spark.speculation.multiplier": "1.01",
        "spark.executorEnv.PYSPARK_PYTHON": sys.executable,
    }
    export = [tmp_path / "in", "--dedup-digest", "--out"]
    lists = [tmp_path / "there.parquet", tmp_path / "here.parquet"]
    done = subprocess.run(
        [
            str(Path(pyspark.__file__).parent / "bin" / "spark-submit"),
            *("--master", workers.url),
            *(word for name, value in settings.items() for word in ("--conf", f"{name}={value}")),
            *(str(script), "export", "--extractor", "hostile", "-q", "--runner", "spark"),
            *(str(word) for word in (*export, tmp_path / "there", "--duplicates", lists[0])),
        ],
        env={
            **os.environ,
            "PYTHONPATH": f"{CHECKOUT}:{workers.folder}",
            "PYSPARK_PYTHON": sys.executable,
            "SPARK_LOCAL_IP": "127.0.0.1",
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    here = export_here(workers, *export, tmp_path / "here", "--duplicates", lists[1])
    assert here.returncode == 0, here.stderr
    assert contents(tmp_path / "there") == contents(tmp_path / "here")
    assert lists[0].read_bytes() == lists[1].read_bytes()
    assert pq.read_metadata(lists[0]).num_rows == 3


def attempt_task(tmp_path: Path) -> ShardTask:
    source = shard(tmp_path / "0.warc.gz", 0, [""] * 5)
    out = tmp_path / "out"
    return ShardTask(
        0, Source("0.warc.gz", str(source)), out / shard_file("local", 0), ExportOptions(), files=out
    )


def attempt(task: ShardTask, shared: _Shared) -> object:
    return _export(task.number, pickle.dumps(task), shared).end


def test_a_second_copy_of_a_task_touches_nothing_that_the_first_has_made(tmp_path: Path) -> None:
    task = attempt_task(tmp_path)
    out = tmp_path / "out"
    out.mkdir()
    shared = _Shared.make(out)
    runner = SparkRunner(SimpleNamespace(defaultParallelism=2), out)  # type: ignore[arg-type]
    first, second = attempt(task, shared), attempt(task, shared)
    assert isinstance(first, ShardReport) and isinstance(second, ShardReport)
    assert first.written.path != second.written.path
    assert not task.path.exists(), "only the driver puts a file in place"
    done = runner._commit(task, first)
    assert done.written.path == task.path
    assert second.written.path.exists() and second.written.sha256 == file_sha256(task.path)
    late = pickle.loads(pickle.dumps(attempt(task, shared)))  # a straggler ends when all is done
    assert isinstance(late, ShardReport)
    remove_leftovers(out)
    assert [path for path in out.rglob("*") if path.is_file()] == [task.path]
    assert file_sha256(task.path) == done.written.sha256
    ended = attempt(task, shared)  # one that begins after the end finds no run to be part of
    assert isinstance(ended, OutputError)


def test_a_machine_with_another_folder_or_other_packages_says_so(tmp_path: Path) -> None:
    task = attempt_task(tmp_path)
    (tmp_path / "out").mkdir()
    shared = _Shared.make(tmp_path / "out")
    for other, said in (
        (replace(shared, token="0"), "on a file system that all nodes share"),
        (replace(shared, probe=tmp_path / "nowhere"), "on a file system that all nodes share"),
        (replace(shared, versions=("0.0", shared.versions[1])), "the driver ccrawl 0.0 and pyarrow"),
    ):
        end = attempt(task, other)
        assert isinstance(end, OutputError) and said in str(end) and "\n" not in str(end)
    assert [path.name for path in (tmp_path / "out").iterdir()] == [shared.probe.name]


@pytest.mark.parametrize(
    ("told", "said"),
    [
        (
            "Task 0 in stage 1.0 failed 4 times ...: ModuleNotFoundError: No module named 'ccrawl'",
            "--archives",
        ),
        (
            "An error occurred while calling o3.z:\nJob 3 was cancelled by the user\n\tat x",
            "Job 3 was cancelled",
        ),
        ("Task 0 in stage 1.0 failed 4 times ...: java.io.IOException: no space", "no space"),
        ("Thrown from the worker:\nTraceback (...):\n  File x\nValueError: odd\n\n\tat org.apache", "odd;"),
    ],
)
def test_what_is_no_shards_fault_ends_the_run_in_one_line(tmp_path: Path, told: str, said: str) -> None:
    with pytest.raises(SparkFailure, match=said) as failure:
        _blamed(Exception(told), [attempt_task(tmp_path)])
    assert "\n" not in str(failure.value)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"runner": "yarn"}, "give one of local, spark"),
        ({"runner": "spark", "workers": 4}, "--workers"),
        ({"runner": "spark", "dedup_index": "folder"}, "can't be shared by machines"),
        ({"runner": "local", "spark_master": "local[2]"}, "add --runner spark"),
    ],
)
def test_what_cannot_go_with_the_runner_is_refused_before_anything_starts(
    tmp_path: Path, asked: dict[str, Any], said: str
) -> None:
    with pytest.raises(UsageError, match=said):
        ccrawl.export(shard(tmp_path / "0.warc.gz", 0, [""]), tmp_path / "out", **asked)
    assert not (tmp_path / "out").exists()


def test_a_cluster_writes_what_this_machine_writes_and_pages_fail_alone(
    workers: Cluster, spark: Any, tmp_path: Path
) -> None:
    names = [""] * 12
    for place, name in enumerate(("abort", "sleep", "loop-in-c", "memory")):
        names[3 * place + 1] = name
    for number in range(3):
        shard(tmp_path / "in" / f"{number}.warc.gz", number, [""] * (10 + 5 * number))
    shard(tmp_path / "in" / "3.warc.gz", 3, names)
    (tmp_path / "in" / "4.warc.gz").write_bytes(random.Random(3).randbytes(5000))
    limits = ("--page-timeout", 2, "--worker-memory", "512MiB", "--dedup-digest")
    here = export_here(workers, tmp_path / "in", "--out", tmp_path / "here", *limits)
    assert here.returncode == 3, here.stderr
    events: list[Event] = []
    report = ccrawl.export(
        tmp_path / "in",
        tmp_path / "there",
        options=replace(OPTIONS, dedup_digest=True),
        runner="spark",
        listener=events.append,
    )
    assert contents(tmp_path / "there") == contents(tmp_path / "here")
    assert report.counts.failed == {"crash": 1, "memory": 1, "timeout": 2}
    assert [failed.number for failed in report.failed_shards] == [4]
    assert report.counts.rows == 10 + 15 + 20 + 8
    assert sum(isinstance(event, ShardDone) for event in events) == 4
    # The shard with the page that aborts, then done with its pages fanned out, and the archive that is none.
    assert sum(isinstance(event, ShardRetried) for event in events) == 2
    last = [event for event in events if isinstance(event, RunProgress)][-1]
    assert (last.progress.rows, last.shards_done) == (report.counts.rows, 5)
    assert not spark.sparkContext._jsc.sc().isStopped(), "someone else's session"


def test_a_worker_killed_in_the_middle_costs_nothing_but_time(
    workers: Cluster, spark: Any, tmp_path: Path
) -> None:
    pages = 20
    for number in range(4):
        shard(tmp_path / "in" / f"{number}.warc.gz", number, ["slow"] * pages)
    log = workers.folder / "slow.log"
    killed: list[Event] = []

    def kill_once(event: Event) -> None:
        begun = Counter(line.split("/")[3] for line in log.read_text().splitlines()) if log.exists() else {}
        if not killed and sum(0 < count < pages - 5 for count in begun.values()) == 2:
            killed.append(event)
            workers.kill_worker()

    report = ccrawl.export(
        tmp_path / "in", tmp_path / "there", options=OPTIONS, runner="spark", listener=kill_once
    )
    workers.start_worker()
    assert report.complete and killed
    slow = log.read_text().splitlines()
    assert len(set(slow)) == 4 * pages < len(slow), "nothing was done twice"
    assert export_here(workers, tmp_path / "in", "--out", tmp_path / "here").returncode == 0
    assert contents(tmp_path / "there") == contents(tmp_path / "here")
    again = ccrawl.export(tmp_path / "in", tmp_path / "there", options=OPTIONS, runner="spark")
    assert (again.skipped_shards, again.cpu_seconds) == (4, 0)


def test_an_index_on_a_server_serves_all_machines(workers: Cluster, spark: Any, tmp_path: Path) -> None:
    shard(tmp_path / "known" / "0.warc.gz", 0, [""] * 4)
    for number in range(2):  # shard 0 has what the index knows by then, and a copy in itself
        shard(tmp_path / "in" / f"{number}.warc.gz", number, [""] * 6 + ["copy"])
    server, port = start_server(tmp_path / "redis")
    try:
        for database in (1, 2):
            done = ccrawl.export(
                tmp_path / "known",
                tmp_path / f"known{database}",
                dedup_index=f"redis://127.0.0.1:{port}/{database}",
            )
            assert done.index is not None and done.index.committed
        report = ccrawl.export(
            tmp_path / "in",
            tmp_path / "there",
            options=OPTIONS,
            runner="spark",
            dedup_index=f"redis://127.0.0.1:{port}/1",
        )
        index = f"redis://127.0.0.1:{port}/2"
        here = export_here(workers, tmp_path / "in", "--out", tmp_path / "here", "--dedup-index", index)
    finally:
        server.kill()
        server.wait()
    assert here.returncode == 0, here.stderr
    assert contents(tmp_path / "there") == contents(tmp_path / "here")
    assert (report.counts.duplicates, report.counts.duplicates_indexed) == (6, 5)
    assert report.index is not None and report.index.committed and report.counts.rows == 8


def test_a_shard_that_costs_its_worker_each_time_is_given_up_alone(spark: Any, tmp_path: Path) -> None:
    for number in range(3):
        shard(tmp_path / "in" / f"{number}.warc.gz", number, ["lose-the-worker" if number == 1 else ""] * 4)
    report = ccrawl.export(tmp_path / "in", tmp_path / "out", options=OPTIONS, runner="spark")
    assert report.counts.rows == 8
    (failed,) = report.failed_shards
    assert failed.number == 1 and "lost 2 times" in failed.error and "\n" not in failed.error


def test_the_first_failure_ends_a_strict_run_and_its_job(spark: Any, tmp_path: Path) -> None:
    shard(tmp_path / "in" / "1.warc.gz", 1, ["sleep"] * 4)
    (tmp_path / "in" / "2.warc.gz").write_bytes(random.Random(3).randbytes(5000))
    options = replace(OPTIONS, strict=True, page_timeout=60.0)
    with pytest.raises(SourceError, match=r"2\.warc\.gz"):
        ccrawl.export(tmp_path / "in", tmp_path / "out", options=options, runner="spark")
    assert not leftovers(tmp_path / "out")
