"""A sampled profile of the workers: where a run spends its time, for whoever finds it slow.

Each worker samples its own stack (pyinstrument, every 5 ms) and leaves the samples in a folder when it ends
well; the run puts those of all workers together into one file.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ccrawl.errors import OutputError, UsageError, reason
from ccrawl.extras import install_command

_INTERVAL = 0.005  # seconds
# Workers whose samples are kept: a minute of each is some megabytes.
_MOST_WORKERS = 64
_SUFFIX = ".samples"
FORMATS = {".html": "HTMLRenderer", ".json": "SpeedscopeRenderer", ".txt": "ConsoleRenderer"}


@contextlib.contextmanager
def profiling(file: Path | None) -> Iterator[str]:
    """The folder in which workers leave their samples while the block lasts; then they are put into `file`.

    Without a file the folder is "". Raises UsageError for one that can't be meant, and when pyinstrument is
    not installed, OutputError when it can't be written.
    """
    if file is None:
        yield ""
        return
    _check(file)
    with tempfile.TemporaryDirectory(prefix="ccrawl-profile-") as folder:
        yield folder
        _write(sorted(Path(folder).glob(f"*{_SUFFIX}")), file)


@contextlib.contextmanager
def sampled(folder: str) -> Iterator[None]:
    """Sample this process until the block ends, and leave the samples in `folder`; "" for not at all."""
    if not folder or len(os.listdir(folder)) >= _MOST_WORKERS:  # noqa: PTH208 (counted, not looked at)
        yield
        return
    from pyinstrument import Profiler

    profiler = Profiler(interval=_INTERVAL, async_mode="disabled")
    profiler.start()
    try:
        yield
    finally:
        session = profiler.stop()
        with contextlib.suppress(OSError):  # a profile is never worth a run
            session.save(Path(folder) / f"{os.getpid()}{_SUFFIX}")


def _check(file: Path) -> None:
    if file.suffix not in FORMATS:
        raise UsageError(
            f"--profile {file}: name a .html file (a page to look at), .json (for speedscope) or .txt"
        )
    if file.is_dir() or not file.absolute().parent.is_dir():
        raise UsageError(f"--profile {file}: name a file in a folder that is there")
    if importlib.util.find_spec("pyinstrument") is None:
        raise UsageError(f"--profile needs pyinstrument: {install_command('profile')}")


def _write(samples: Sequence[Path], file: Path) -> None:
    """Put the samples of all workers together. Without any (all shards were done before) there is no file."""
    from pyinstrument import renderers
    from pyinstrument.session import Session

    if not samples:
        return
    whole = Session.load(samples[0])
    for path in samples[1:]:
        whole = Session.combine(whole, Session.load(path))
    renderer: Any = getattr(renderers, FORMATS[file.suffix])()
    try:
        file.write_text(renderer.render(whole))
    except OSError as error:
        raise OutputError(f"{file}: {reason(error)}: the profile can't be written") from error
