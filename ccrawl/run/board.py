"""What a worker process is doing right now, in memory that its parent can read after its death.

A worker may be killed at any instruction. A queue or lock shared with it would then stay locked or hold
half a message; a few integers in shared memory can't. The parent reads them for progress, and, when a
worker has died, to learn which page it died on.
"""

from __future__ import annotations

import ctypes
import multiprocessing
from collections.abc import Iterable
from dataclasses import dataclass
from multiprocessing.context import BaseContext
from typing import Any

NO_PAGE = -1

_FIELDS = ("current_page", "records", "pages", "rows", "duplicates", "failed", "archive_bytes", "html_bytes")


@dataclass(frozen=True, slots=True)
class Progress:
    """How far one or more shards have come."""

    records: int = 0
    pages: int = 0
    rows: int = 0
    duplicates: int = 0
    failed: int = 0
    archive_bytes: int = 0
    html_bytes: int = 0

    def __add__(self, other: Progress) -> Progress:
        return Progress(*(getattr(self, name) + getattr(other, name) for name in _FIELDS[1:]))


class Board:
    """A shared array of one worker's counters. Made by the parent, handed over when the worker starts."""

    def __init__(self, context: BaseContext | None = None) -> None:
        make = (context or multiprocessing.get_context()).RawArray
        self._values: Any = make(ctypes.c_int64, len(_FIELDS))
        self.current_page = NO_PAGE

    @property
    def current_page(self) -> int:
        """Index of the page being converted, NO_PAGE between pages."""
        return int(self._values[0])

    @current_page.setter
    def current_page(self, index: int) -> None:
        self._values[0] = index

    def post(self, progress: Iterable[int]) -> None:
        """Publish the counters, in the order of Progress."""
        self._values[1:] = list(progress)

    def read(self) -> Progress:
        """The counters last published. A read in the middle of a post may mix two states: progress only."""
        return Progress(*self._values[1:])
