"""Publishing to a hub on this machine: what is sent, in which order, and what is not sent twice."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import huggingface_hub.constants
import pytest
from support import datasets, hub

import ccrawl.dataset.publish as publishing
from ccrawl.dataset.card import CardOptions, card
from ccrawl.dataset.publish import publish
from ccrawl.errors import OutputError, UsageError

REPO = "org/harbour"
# huggingface_hub 2.4 hands its LFS uploads to its HTTP library in a way that this one calls old.
pytestmark = pytest.mark.filterwarnings("ignore:Use 'content=:DeprecationWarning")


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[hub.Hub]:
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_DISABLE_XET", True)
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setenv("HF_TOKEN", "hf_of_a_test")
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    with hub.running() as running:
        yield running
    huggingface_hub.close_session()


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    shards = {
        f"{shard}.warc.gz": [datasets.row(10 * shard + n, source=f"{shard}.warc.gz") for n in range(3)]
        for shard in range(5)
    }
    out = datasets.write(tmp_path / "harbour", shards)
    card(out, options=CardOptions(repo=REPO))
    return out


def local(dataset: Path) -> dict[str, bytes]:
    return {
        path.relative_to(dataset).as_posix(): path.read_bytes()
        for path in dataset.rglob("*")
        if path.is_file() and not path.name.startswith(".")
    }


def remote(server: hub.Hub) -> dict[str, bytes]:
    return {path: content for path, content in server.repos[REPO].items() if path != ".gitattributes"}


def test_the_hub_then_holds_the_dataset_and_the_card_came_last(dataset: Path, server: hub.Hub) -> None:
    report = publish(dataset, REPO, endpoint=server.url, private=True)
    assert remote(server) == local(dataset)
    assert server.private == {REPO}
    *batches, (_, added, _) = server.commits
    assert "README.md" in added
    assert "manifest.json" in added
    assert not any("README.md" in paths or "manifest.json" in paths for _, paths, _ in batches)
    assert len(server.uploads) == 5
    assert report.commits == 2
    assert report.sent_bytes == sum(map(len, local(dataset).values()))
    assert server.tokens - {""} == {"Bearer hf_of_a_test"}


def test_nothing_is_sent_a_second_time(dataset: Path, server: hub.Hub) -> None:
    publish(dataset, REPO, endpoint=server.url)
    commits, uploads = list(server.commits), list(server.uploads)
    report = publish(dataset, REPO, endpoint=server.url)
    assert (report.sent, report.commits) == ((), 0)
    assert len(report.there) == len(local(dataset))
    assert (server.commits, server.uploads) == (commits, uploads)


def test_a_publication_that_was_stopped_goes_on(
    dataset: Path, server: hub.Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(publishing, "_BATCH_FILES", 2)
    server.fail_commits_after = 1
    with pytest.raises(OutputError, match=r"closed for today.*goes on where") as raised:
        publish(dataset, REPO, endpoint=server.url)
    assert "\n" not in str(raised.value)
    assert "hf_of_a_test" not in str(raised.value)
    assert "README.md" not in remote(server)  # no card for what is not there
    server.fail_commits_after = None
    told: list[tuple[int, int]] = []
    report = publish(
        dataset, REPO, endpoint=server.url, on_commit=lambda done, of, _: told.append((done, of))
    )
    assert remote(server) == local(dataset)
    assert len(report.sent) == 3 + len([p for p in local(dataset) if not p.endswith(".parquet")])
    assert [len(added) for _, added, _ in server.commits] == [2, 2, 1, len(report.sent) - 3]
    assert sorted(server.uploads) == sorted(set(server.uploads))  # also what was sent but not committed
    assert told[-1] == (len(report.sent), len(report.sent))


def test_only_what_changed_is_sent(dataset: Path, server: hub.Hub) -> None:
    publish(dataset, REPO, endpoint=server.url)
    file = "data/crawl=local/000002.parquet"
    datasets.reseal(dataset, file, [datasets.row(20 + n, source="2.warc.gz", title="new") for n in range(3)])
    with pytest.raises(OutputError, match="card of other files"):
        publish(dataset, REPO, endpoint=server.url)
    card(dataset, options=CardOptions(repo=REPO))
    report = publish(dataset, REPO, endpoint=server.url)
    assert {upload.path for upload in report.sent if upload.path.startswith("data/")} == {file}
    assert remote(server) == local(dataset)


def test_a_dry_run_changes_nothing_and_tells_the_same(dataset: Path, server: hub.Hub) -> None:
    planned = publish(dataset, REPO, endpoint=server.url, dry_run=True)
    assert server.repos == {}
    assert all(request.startswith("GET ") for request in server.requests)
    done = publish(dataset, REPO, endpoint=server.url)
    assert planned.sent == done.sent
    assert planned.dry_run
    assert publish(dataset, REPO, endpoint=server.url, dry_run=True).sent == ()


def test_data_of_something_else_is_refused_or_removed_when_asked(dataset: Path, server: hub.Hub) -> None:
    server.repos[REPO] = {"data/old.parquet": b"PAR1", "notes.txt": b"mine", ".gitattributes": b""}
    with pytest.raises(OutputError, match=r"data/old\.parquet; --prune"):
        publish(dataset, REPO, endpoint=server.url)
    assert server.commits == []
    report = publish(dataset, REPO, endpoint=server.url, prune=True)
    assert report.removed
    assert report.strangers == ("data/old.parquet",)
    assert remote(server) == {**local(dataset), "notes.txt": b"mine"}


def test_a_dataset_that_is_not_fit_is_refused_before_the_hub_is_asked(
    dataset: Path, server: hub.Hub, tmp_path: Path
) -> None:
    readme = (dataset / "README.md").read_bytes()
    (dataset / "README.md").unlink()
    with pytest.raises(OutputError, match="no card"):
        publish(dataset, REPO, endpoint=server.url)
    (dataset / "README.md").write_bytes(readme)
    file = dataset / "data/crawl=local/000001.parquet"
    file.write_bytes(file.read_bytes()[:-1])
    with pytest.raises(OutputError, match="2 faults, the first"):
        publish(dataset, REPO, endpoint=server.url)
    with pytest.raises(OutputError, match="no finished shard"):
        publish(datasets.write(tmp_path / "none", {}), REPO, endpoint=server.url)
    with pytest.raises(UsageError, match="no repository"):
        publish(dataset, "harbour", endpoint=server.url)
    assert server.requests == []


def test_a_hub_that_is_not_there_is_told_in_one_line(
    dataset: Path, server: hub.Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("huggingface_hub.utils._http.time.sleep", lambda _: None)  # between its tries
    with pytest.raises(OutputError, match="goes on where this one stopped") as raised:
        publish(dataset, REPO, endpoint="http://127.0.0.1:9")
    assert "\n" not in str(raised.value)


def test_the_command_prints_what_would_go(
    dataset: Path, server: hub.Hub, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from ccrawl.cli.publish import command

    monkeypatch.setattr(huggingface_hub.constants, "ENDPOINT", server.url)
    command(dataset, REPO, dry_run=True)
    text = capsys.readouterr().out
    assert text.startswith("would send 10 files, ")
    assert "  data/crawl=local/000004.parquet  " in text
    command(dataset, REPO)
    assert capsys.readouterr().out.startswith("sent 10 files, ")
    command(dataset, REPO, as_json=True)
    assert json.loads(capsys.readouterr().out)["sent"] == []
