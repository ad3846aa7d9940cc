"""A file as a row of members: what a compressor wrote in one go, or the whole of a plain file.

Archives compress each record as a member of its own, or the file as one, or (bgzip, pigz) every so many
bytes. All of it is read by the same four methods; decoded pieces are at most PIECE bytes, so a bomb costs
time in proportion to what is read of it and no memory.

    begin()    go to the next member; False at the end of the file
    more()     the next decoded bytes of the member, b"" at its end (then its checksum has been verified)
    skip(n)    pass over up to n decoded bytes, without decoding where the file is plain
    resync()   after Broken: the next place where a sound member starts
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from ccrawl.archives.codecs import Codec
from ccrawl.archives.window import Window

PIECE = 1 << 20
# Fed to a decoder in one go. What follows the member in it is copied once more as `unused_data`; over the
# shared shards 16 KiB is the best of 4 to 256 KiB (more calls below, more copying above).
FEED = 1 << 14
TRIAL = 1 << 16
# Failed trials of places that look like a member's start, in one file, before trials get short: bytes made to
# look like thousands of members would otherwise cost a PIECE each.
MAX_LONG_TRIALS = 1000
_ZERO_PADDING = b"\0" * 64


class Broken(Exception):
    """The member's bytes can't be decoded further. `cause`: cut, bad-gzip, bad-zstd, garbage ..."""

    def __init__(self, cause: str) -> None:
        super().__init__(cause)
        self.cause = cause


class Members(Protocol):
    """See the module docstring."""

    form: str  # "plain" or the codec's name
    offset: int  # where the current member starts in the file
    position: int  # where the file is read next

    def begin(self) -> bool: ...
    def more(self) -> bytes: ...
    def skip(self, count: int) -> int: ...
    def resync(self, accepts: Callable[[bytes], bool]) -> bool: ...


class PlainMembers:
    """An uncompressed file: one member."""

    form = "plain"

    def __init__(self, window: Window) -> None:
        self._window = window
        self.offset = 0
        self.position = 0
        self._begun = False

    @property
    def size(self) -> int | None:
        """Bytes of the file, None when unknown."""
        return self._window.size

    @property
    def earliest(self) -> int:
        """The lowest offset that can be gone back to."""
        return self._window.earliest

    def begin(self) -> bool:
        if self._begun:
            return False
        self._begun = True
        return True

    def more(self) -> bytes:
        piece = self._window.read_at(self.position, PIECE)
        self.position += len(piece)
        if not piece and self.size is not None and self.position < self.size:
            self.position = self.size
            raise Broken("cut")  # the file ends before its size: a damaged ZIP member
        return piece

    def skip(self, count: int) -> int:
        size = self._window.size
        if size is None:
            left = count
            while left and (piece := self._window.read_at(self.position, min(left, PIECE))):
                self.position += len(piece)
                left -= len(piece)
            return count - left
        count = max(0, min(count, size - self.position))
        self.position += count
        return count

    def resync(self, accepts: Callable[[bytes], bool]) -> bool:
        return False


class CompressedMembers:
    """A file of gzip, zstd, bzip2 or lz4 members."""

    def __init__(self, window: Window, codec: Codec) -> None:
        self.form = codec.name
        self._window = window
        self._codec = codec
        self._decoder: Any = None
        self._broken = False
        self._salvaged: list[bytes] = []
        self._cause = ""
        self._failed_trials = 0
        self.offset = 0
        self.position = 0

    def begin(self) -> bool:
        magic = self._codec.magic
        while True:
            head = self._window.read_at(self.position, 64)
            if len(head) < len(magic):
                head += self._window.read_at(self.position + len(head), 64)
            if head.startswith(magic):
                break
            if not head:
                if self._window.size is None or self.position >= self._window.size:
                    return False
                self.offset = self.position  # the file ends before its size: a damaged ZIP member
                raise Broken("cut")
            if skipped := self._codec.skippable(head):
                self.position += skipped
                continue
            if head == _ZERO_PADDING[: len(head)]:  # tape blocks and some writers pad with zeros
                self.position += len(head)
                continue
            if (stripped := head.lstrip(b"\0")) != head:
                self.position += len(head) - len(stripped)
                continue
            self.offset = self.position
            self._broken = True
            raise Broken("cut" if magic.startswith(head) else "garbage")
        self.offset = self.position
        self._decoder = self._codec.decoder()
        self._broken = False
        return True

    def more(self) -> bytes:
        if self._salvaged:
            return self._salvaged.pop()
        if self._cause:
            cause, self._cause = self._cause, ""
            raise Broken(cause)
        decoder = self._decoder
        if decoder.eof:
            return b""
        while True:
            piece: bytes | memoryview = b""
            if decoder.needs_input:
                piece = self._window.view_at(self.position, FEED)
                if not piece:
                    self._broken = True
                    raise Broken("cut")
            try:
                decoded: bytes = decoder.decompress(piece, PIECE)
            except self._codec.errors:
                self._broken = True
                self._salvage(self.position)
                return self.more()
            self.position += len(piece)
            if decoder.eof:
                self.position -= len(decoder.unused_data or b"")  # lz4 says None
                return decoded
            if decoded:
                return decoded

    def skip(self, count: int) -> int:
        left = count
        while left:
            piece = self.more()
            if not piece:
                break
            if len(piece) > left:
                self._salvaged.append(piece[left:])
                return count
            left -= len(piece)
        return count - left

    def _salvage(self, failed: int) -> None:
        """Decode the broken member again up to the feed at `failed`, then byte by byte.

        A decoder that raises gives back nothing of that call, although the bytes before the damage decode
        well; in a file that is one member they hold records that the damage did not touch.
        """
        self._cause = f"bad-{self.form}"
        self._decoder = None
        decoder = self._codec.decoder()
        position = self.offset
        if position < self._window.earliest:
            return
        salvaged: list[bytes] = []
        size = 0
        try:
            while position < failed:
                piece = (
                    self._window.read_at(position, min(FEED, failed - position))
                    if decoder.needs_input
                    else b""
                )
                decoder.decompress(piece, PIECE)
                position += len(piece)
            while size <= 4 * PIECE and not decoder.eof:
                piece = self._window.read_at(position, 1) if decoder.needs_input else b""
                position += len(piece)
                if decoded := decoder.decompress(piece, PIECE):
                    salvaged.append(decoded)
                    size += len(decoded)
                elif not piece and decoder.needs_input:
                    break
        except self._codec.errors:
            pass  # the error that brought us here; what was decoded before it stands in `salvaged`
        self._salvaged = [b"".join(salvaged)] if salvaged else []

    def resync(self, accepts: Callable[[bytes], bool]) -> bool:
        """Go to the next sound member after the broken one: one that starts with a record, or decodes whole.

        Its start may lie before the place where the decoder gave up (bytes were deleted), so the search
        starts right after the broken member's first byte. Returns whether there is one; `begin` enters it.
        """
        self._salvaged, self._cause = [], ""
        window, magic = self._window, self._codec.magic
        candidate = max(self.offset + 1, window.earliest)
        while True:
            head = window.read_at(candidate, TRIAL)
            if len(head) < len(magic):
                head += window.read_at(candidate + len(head), TRIAL)
                if len(head) < len(magic):
                    self.position = self.offset = max(candidate + len(head), window.size or 0)
                    return False
            found = head.find(magic)
            if found < 0:
                candidate += len(head) - len(magic) + 1
                continue
            candidate += found
            if self._sound(candidate, accepts):
                self.position = candidate
                return True
            self._failed_trials += 1
            candidate += 1

    def _sound(self, offset: int, accepts: Callable[[bytes], bool]) -> bool:
        decoder = self._codec.decoder()
        start = b""
        position = offset
        size = 0
        most = PIECE if self._failed_trials < MAX_LONG_TRIALS else TRIAL // 16
        try:
            while not decoder.eof and size <= most:
                piece = self._window.read_at(position, FEED) if decoder.needs_input else b""
                if (not piece and decoder.needs_input) or (not size and position - offset > TRIAL):
                    return False  # the end, or a head that goes on and on
                position += len(piece)
                decoded = decoder.decompress(piece, min(most, TRIAL))
                size += len(decoded)
                if len(start) < TRIAL:
                    start += decoded
                    if accepts(start):
                        return True
        except self._codec.errors:
            return False
        return decoder.eof and size > 0
