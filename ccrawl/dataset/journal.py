"""Shards finished since `manifest.json` was last written, a line each: none costs a write of the whole.

A journal belongs to one manifest, whose SHA-256 stands in its first line. One that is found beside another
manifest is of no use: that one was written later, and has all that the journal had. A run that was killed
leaves it; the next run reads it, and the manifest that it writes first takes its place.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

from ccrawl.dataset.entries import ShardEntry
from ccrawl.dataset.files import write_atomically
from ccrawl.errors import OutputError

JOURNAL = "manifest.journal"
_FORMAT = "ccrawl-journal/1"


class Journal:
    """The journal of a manifest that was just written. There is no file before the first entry."""

    def __init__(self, directory: Path, manifest_sha256: str) -> None:
        self._path = directory / JOURNAL
        self._head = {"format": _FORMAT, "manifest": manifest_sha256}
        self._file: BinaryIO | None = None
        self._path.unlink(missing_ok=True)

    def append(self, entry: bytes) -> None:
        """Add a finished shard's line, durably. OutputError when the disk refuses."""
        try:
            if self._file is None:
                write_atomically(self._path, json.dumps(self._head).encode() + b"\n")
                self._file = self._path.open("ab", buffering=0)
            self._file.write(entry + b"\n")
            os.fsync(self._file.fileno())
        except OSError as error:
            raise OutputError(f"{self._path}: can't be written ({error.strerror or error})") from error

    def close(self) -> None:
        """Stop writing; the file stays for whoever opens the dataset next."""
        if self._file is not None:
            self._file.close()
            self._file = None


def read_journal(
    directory: Path, manifest_sha256: Callable[[], str], checked: Callable[[Any], ShardEntry]
) -> Iterator[ShardEntry]:
    """The entries that a killed run left for the manifest that is there, up to the line it was killed in.

    `checked` makes an entry of JSON values, or raises ValueError, TypeError or KeyError.
    """
    try:
        lines = (directory / JOURNAL).read_bytes().splitlines()
    except OSError:
        return
    try:
        head = json.loads(lines[0])
        if head["format"] != _FORMAT or head["manifest"] != manifest_sha256():
            return
        for line in lines[1:]:
            yield checked(json.loads(line))
    except (ValueError, TypeError, KeyError, IndexError, AttributeError):
        return
