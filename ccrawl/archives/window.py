"""Bytes of a file by offset, read forward in blocks.

Decoders ask for "up to n bytes at offset o". Going forward costs one read a block; going back (which only
damage asks for) is served by seeking, or, where seeking is dear or impossible, from blocks that were kept.
"""

from __future__ import annotations

from collections import deque
from typing import IO

BLOCK = 1 << 18
LOOKBACK = 4 << 20


class Window:
    """`file` is any binary file; `size` is its length in bytes, None when it isn't known beforehand."""

    def __init__(self, file: IO[bytes], size: int | None = None, *, cheap_seek: bool = True) -> None:
        self.size = size
        self._file = file
        self._seekable = file.seekable()
        kept = 0 if cheap_seek and self._seekable else LOOKBACK // BLOCK
        self._kept: deque[tuple[int, bytes]] = deque(maxlen=kept)  # blocks before the current one
        self._block = b""
        self._view = memoryview(self._block)
        self._start = 0  # offset in the file of the block's first byte
        self._next = 0  # offset at which the file itself stands

    @property
    def earliest(self) -> int:
        """The lowest offset that can still be read."""
        if self._seekable:
            return 0
        return self._kept[0][0] if self._kept else self._start

    def read_at(self, offset: int, size: int) -> bytes:
        """At most `size` bytes at `offset`, fewer where a block ends; b"" only at the end of the file."""
        index = offset - self._start
        if 0 <= index < len(self._block):
            return self._block[index : index + size]
        return bytes(self.view_at(offset, size))

    def view_at(self, offset: int, size: int) -> memoryview:
        """The same, without a copy."""
        index = offset - self._start
        if not 0 <= index < len(self._block):
            if index < 0:
                for start, block in self._kept:
                    if start <= offset < start + len(block):
                        return memoryview(block)[offset - start : offset - start + size]
            if not self._load(offset):
                return memoryview(b"")
            index = offset - self._start
        return self._view[index : index + size]

    def _load(self, offset: int) -> bool:
        """Make the block that holds `offset` the current one; False when the file ends before it."""
        if offset != self._next:
            if self._seekable:
                if self.size is not None and offset >= self.size:
                    return False
                self._file.seek(offset)
                self._next = offset
                self._kept.clear()
                self._block = b""
            elif offset < self._next:
                raise ValueError(f"offset {offset} is behind the buffer of a stream that can't seek")
        while True:
            block = self._read_block()
            if not block:
                return False
            if self._block:
                self._kept.append((self._start, self._block))
            self._start = self._next
            self._block = block
            self._view = memoryview(block)
            self._next += len(block)
            if offset < self._next:
                return True

    def _read_block(self) -> bytes:
        """The next BLOCK bytes, fewer only at the end: pipes and inflated members give less in one read."""
        block = self._file.read(BLOCK) or b""
        while 0 < len(block) < BLOCK:
            more = self._file.read(BLOCK - len(block))
            if not more:
                break
            block += more
        return block
