"""What comes after the last shard: the dataset's card."""

from __future__ import annotations

from pathlib import Path

from ccrawl.errors import OutputError
from ccrawl.run.events import Listener, Notice
from ccrawl.run.processes import WorkerDied, become_worker, in_worker


def write_card(directory: Path, listener: Listener, *, here: bool = False) -> None:
    """Write the dataset's card; `listener` is told when that can't be done, since the dataset itself is done.

    A worker does it, unless `here`: workers have loaded what reads Parquet, and the run's own process hasn't.
    """
    try:
        if here:
            _write(directory)
        else:
            in_worker(_write_in_worker, directory)
    except OutputError as error:  # a README that someone else wrote, say
        listener(Notice(f"no card was written: {error}"))
    except WorkerDied as death:
        listener(Notice(f"no card was written: its process {death}; ccrawl card {directory} tries again"))


def _write_in_worker(directory: Path) -> None:
    become_worker(None)
    _write(directory)


def _write(directory: Path) -> None:
    from ccrawl.dataset.card import card

    card(directory)
