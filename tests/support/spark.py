"""A Spark cluster of this machine: a master and two workers, each a process of its own, on loopback."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from shutil import which
from typing import Any

import pytest

CHECKOUT = Path(__file__).resolve().parents[2]

NEEDS_SPARK = [
    pytest.mark.slow,
    pytest.mark.timeout(600),
    pytest.mark.skipif(which("java") is None, reason="Spark needs Java"),
    # Spark's own sockets to its workers are closed by its garbage, not by it; pandas is too new for it.
    pytest.mark.filterwarnings(
        "ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning", "ignore::FutureWarning"
    ),
]

# Short-lived JVMs: the quick compiler only, and little memory.
_JVM = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"


@dataclass
class Cluster:
    """Its address, and its workers' processes."""

    folder: Path
    port: int
    workers: list[subprocess.Popen[bytes]] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"spark://127.0.0.1:{self.port}"

    @property
    def settings(self) -> dict[str, str]:
        """What an application needs to run here. Two failures of a task end its job (usually four)."""
        return {
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.executor.memory": "512m",
            "spark.executor.extraJavaOptions": _JVM,
            "spark.driver.extraJavaOptions": _JVM,
            "spark.executorEnv.PYTHONPATH": f"{CHECKOUT}:{self.folder}",
            "spark.local.dir": str(self.folder),
            "spark.sql.warehouse.dir": str(self.folder / "warehouse"),
            "spark.ui.enabled": "false",
            "spark.task.maxFailures": "2",
        }

    def start(self, kind: str, host: str, *arguments: str) -> subprocess.Popen[bytes]:
        """A master or worker; its output goes to a file of the folder."""
        import pyspark

        home = Path(pyspark.__file__).parent
        with (self.folder / f"{kind}.log").open("ab") as log:
            return subprocess.Popen(
                [
                    home / "bin" / "spark-class",
                    f"org.apache.spark.deploy.{kind.lower()}.{kind}",
                    *("--host", host, "--webui-port", "0"),
                    *arguments,
                ],
                env={
                    **os.environ,
                    "SPARK_HOME": str(home),
                    "SPARK_LOCAL_IP": host,
                    "SPARK_DAEMON_MEMORY": "256m",
                    "SPARK_DAEMON_JAVA_OPTS": _JVM,
                    "PYSPARK_PYTHON": sys.executable,
                },
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def start_worker(self) -> None:
        """Another worker, of one core. Each has an address of its own: Spark speculates on other hosts only."""
        host = f"127.0.0.{2 + len(self.workers)}"
        sizes = ("--cores", "1", "--memory", "1g", "--work-dir", str(self.folder / "work"))
        self.workers.append(self.start("Worker", host, *sizes, self.url))

    def kill_worker(self) -> None:
        """Kill -9 a worker and all that it has started: an executor, Python's processes."""
        import psutil

        worker = self.workers.pop()
        family = psutil.Process(worker.pid).children(recursive=True)
        for process in (worker, *family):
            os.kill(process.pid, signal.SIGKILL)
        worker.wait()


@contextmanager
def cluster(folder: Path) -> Iterator[Cluster]:
    """A running cluster, gone at the end."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        made = Cluster(folder, free.getsockname()[1])
    master = made.start("Master", "127.0.0.1", "--port", str(made.port))
    try:
        deadline = time.monotonic() + 60
        while not _listens(made.port):
            assert time.monotonic() < deadline and master.poll() is None, (folder / "Master.log").read_text()
            time.sleep(0.1)
        for _ in range(2):
            made.start_worker()
        yield made
    finally:
        for process in (*made.workers, master):
            process.terminate()
        for process in (*made.workers, master):
            process.wait(30)


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@contextmanager
def session(on: Cluster) -> Iterator[Any]:
    """A Spark session on a cluster."""
    from pyspark.sql import SparkSession

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        builder = SparkSession.builder.master(on.url)
        for name, value in on.settings.items():
            builder = builder.config(name, value)
        running = builder.getOrCreate()
        yield running
        running.stop()
