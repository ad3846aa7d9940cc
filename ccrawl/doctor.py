"""Is this machine ready? What is installed, what room there is, and a small export from end to end."""

from __future__ import annotations

import dataclasses
import gzip
import os
import platform
import re
import shutil
import tempfile
import time
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from ccrawl import __version__
from ccrawl.extras import EXTRAS, Requirement, install_command, requirements
from ccrawl.run.options import ExportOptions

_URL = "http://harbour.test/lines"
_PAGE = b"""<!DOCTYPE html><title>Line 12</title><nav><a href="/">Home</a></nav>
<main><h1>Line 12</h1><p>The ferry leaves the north quay at <b>ten</b> and is back before noon.</p></main>"""
_MARKDOWN = "# Line 12\n\nThe ferry leaves the north quay at **ten** and is back before noon."


@dataclass(frozen=True, slots=True)
class Package:
    """A package that ccrawl uses."""

    name: str
    version: str | None  # None: not installed
    least: str | None  # the version that is needed at least

    @property
    def usable(self) -> bool:
        """Whether it is there and new enough."""
        return self.version is not None and _numbers(self.version) >= _numbers(self.least or "0")


@dataclass(frozen=True, slots=True)
class Part:
    """An optional part: an extra of the package."""

    name: str
    purpose: str
    packages: tuple[Package, ...]
    also_needed: str | None = None  # a program that is missing, in words

    @property
    def present(self) -> bool:
        """Whether all that it needs is there."""
        return self.also_needed is None and all(package.usable for package in self.packages)

    @property
    def remedy(self) -> str | None:
        """The command, or the words, that say how to get it; None when it is present."""
        if not all(package.usable for package in self.packages):
            return install_command(self.name)
        return self.also_needed


@dataclass(frozen=True, slots=True)
class SelfTest:
    """What became of an archive with a page and its copy, made on the spot, exported and verified."""

    passed: bool
    detail: str
    seconds: float


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What `examine` found. Bytes are None where the system does not tell."""

    version: str
    python: str
    system: str
    needed: tuple[Package, ...]
    parts: tuple[Part, ...]
    cores: int
    memory: int | None
    memory_free: int | None
    worker_memory: int  # what each worker may use by default
    disk_free: int  # of the folder that the command runs in
    scratch: str  # the folder for temporary files
    scratch_free: int
    self_test: SelfTest

    @property
    def well(self) -> bool:
        """Whether all that is needed is there and the self-test passed. Optional parts don't count."""
        return self.self_test.passed and all(package.usable for package in self.needed)


def examine() -> Diagnosis:
    """Look at this machine; takes a second or two.

    Makes a small dataset in a temporary folder and removes it. What is wrong is in the result, not raised.
    """
    needed, parts = _packages(requirements())
    memory, memory_free = _memory()
    scratch = tempfile.gettempdir()
    return Diagnosis(
        version=__version__,
        python=platform.python_version(),
        system=f"{platform.system()} {platform.machine()}",
        needed=needed,
        parts=parts,
        cores=len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1,
        memory=memory,
        memory_free=memory_free,
        worker_memory=ExportOptions().worker_memory,
        disk_free=shutil.disk_usage(".").free,
        scratch=scratch,
        scratch_free=shutil.disk_usage(scratch).free,
        self_test=_self_test(),
    )


def _packages(stated: list[Requirement]) -> tuple[tuple[Package, ...], tuple[Part, ...]]:
    """The packages needed, and the optional parts."""
    needed: list[Package] = []
    optional: dict[str, list[Package]] = {name: [] for name in EXTRAS}
    for requirement in stated:
        package = Package(requirement.name, _installed(requirement.name), requirement.least)
        if requirement.extra is None:
            needed.append(package)
        elif requirement.extra in optional:
            optional[requirement.extra].append(package)
    parts = [
        Part(name, EXTRAS[name], tuple(packages), _java() if name == "spark" else None)
        for name, packages in optional.items()
    ]
    return tuple(needed), tuple(parts)


def _installed(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _java() -> str | None:
    """What to do when there is no Java for Spark."""
    home = os.environ.get("JAVA_HOME")
    if shutil.which("java") or (home and (Path(home) / "bin" / "java").exists()):
        return None
    return "install Java 17 or newer, or set JAVA_HOME"


def _numbers(version: str) -> tuple[int, ...]:
    """The release's numbers, without zeros at the end: 1.10.0 is (1, 10)."""
    release = re.match(r"\d+(?:\.\d+)*", version)
    numbers = [int(number) for number in release[0].split(".")] if release else []
    while numbers and numbers[-1] == 0:
        numbers.pop()
    return tuple(numbers)


def _memory() -> tuple[int | None, int | None]:
    """All memory and what is free of it, in bytes; a control group's limit counts as all."""
    try:
        text = Path("/proc/meminfo").read_text()
    except OSError:
        return None, None
    kilobytes = {name: int(number) for name, number in re.findall(r"^(\w+):\s+(\d+) kB$", text, re.MULTILINE)}
    total, free = kilobytes["MemTotal"] * 1024, kilobytes["MemAvailable"] * 1024
    try:
        group = Path("/sys/fs/cgroup")
        limit = int((group / "memory.max").read_text())
        used = int((group / "memory.current").read_text())
    except (OSError, ValueError):  # no control group, or "max"
        return total, free
    return min(total, limit), min(free, max(0, limit - used))


def _self_test() -> SelfTest:
    """Export a page and its copy, and verify what comes out."""
    started = time.monotonic()
    try:
        with tempfile.TemporaryDirectory(prefix="ccrawl-doctor-") as folder:
            wrong = _trial(Path(folder))
    except Exception as error:  # whatever goes wrong is what was looked for
        wrong = f"{type(error).__name__}: {error}"
    detail = wrong or "2 pages, 1 copy dropped, 1 row verified"
    return SelfTest(wrong is None, detail, time.monotonic() - started)


def _trial(folder: Path) -> str | None:
    """What is wrong with a small export, or None."""
    import ccrawl
    from ccrawl.dataset.rows import find_rows

    archive = folder / "trial.warc.gz"
    archive.write_bytes(b"".join(gzip.compress(_record(number), mtime=0) for number in (1, 2)))
    options = ExportOptions(dedup_digest=True)
    report = ccrawl.export(archive, folder / "dataset", options=options, workers=1)
    counts = report.counts
    if not report.complete or (counts.pages, counts.duplicates, counts.rows) != (2, 1, 1):
        return f"expected 2 pages, 1 duplicate and 1 row, but there are {dataclasses.asdict(counts)}"
    (found,) = find_rows(folder / "dataset", row=0)
    if found.row.markdown != _MARKDOWN:
        return f"the page came out as {found.row.markdown!r}"
    verified = ccrawl.verify(folder / "dataset", sources=[archive])
    return None if verified.ok else f"verify found {', '.join(verified.by_code)}"


def _record(number: int) -> bytes:
    """A response record with the page."""
    body = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n" + _PAGE
    head = (
        "WARC/1.1\r\nWARC-Type: response\r\n"
        f"WARC-Target-URI: {_URL}/{number}\r\nWARC-Date: 2024-01-01T00:00:0{number}Z\r\n"
        f"WARC-Record-ID: <urn:uuid:00000000-0000-4000-8000-00000000000{number}>\r\n"
        f"Content-Type: application/http; msgtype=response\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body + b"\r\n\r\n"
