"""Bytes of a file by offset, through one buffer.

Decoders ask for "up to n bytes at offset o". Going forward costs one read a block; going back (which only
damage asks for) is served from the buffer, then by seeking. A file that can't seek keeps `lookback` bytes.
"""

from __future__ import annotations

from typing import IO

BLOCK = 1 << 18
LOOKBACK = 4 << 20


class Window:
    """`file` is any binary file; `size` is its length in bytes, None when it isn't known beforehand."""

    def __init__(self, file: IO[bytes], size: int | None = None, *, cheap_seek: bool = True) -> None:
        self.size = size
        self._file = file
        self._seekable = file.seekable()
        self._lookback = 0 if cheap_seek and self._seekable else LOOKBACK
        self._buffer = b""
        self._start = 0  # offset in the file of the buffer's first byte
        self._next = 0  # offset at which the file itself stands

    @property
    def earliest(self) -> int:
        """The lowest offset that can still be read."""
        return 0 if self._seekable else self._start

    def read_at(self, offset: int, size: int) -> bytes:
        """At most `size` bytes at `offset`, fewer where the buffer ends; b"" only at the end of the file."""
        index = offset - self._start
        if not 0 <= index < len(self._buffer):
            if not self._load(offset):
                return b""
            index = offset - self._start
        return self._buffer[index : index + size]

    def _load(self, offset: int) -> bool:
        if offset != self._next:
            if self._seekable:
                if self.size is not None and offset >= self.size:
                    return False
                self._file.seek(offset)
                self._next = self._start = offset
                self._buffer = b""
            elif offset < self._next:
                raise ValueError(f"offset {offset} is behind the buffer of a stream that can't seek")
        while True:
            block = self._file.read(BLOCK)
            if not block:
                return False
            kept = self._buffer[-self._lookback :] if self._lookback else b""
            self._start = self._next - len(kept)
            self._buffer = kept + block if kept else block
            self._next += len(block)
            if offset < self._next:
                return True
