"""Records out of members: framing, damage and finding the way again.

Heads and lengths are checked against what follows them. A record is handed out when its whole block was there
and what follows is a line end, another head or the end; otherwise its bytes are searched for the next head, so
that a wrong length costs that record and not the ones it would have swallowed. Damage is reported through a
callback and never ends the reading.

This is the hot path of reading: one pass of `_record` per record, no copy of a block except the caller's own.
benchmarks/read.py measures it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from ccrawl.archives.formats import ARC, WARC, BadHead, Format, Head
from ccrawl.archives.members import PIECE, Broken, Members, PlainMembers

# What is kept of a block that is larger than the caller wants: enough for an HTTP head and for sniffing.
PREFIX = 64 << 10
# A lost record is searched for the heads that a wrong length swallowed. After this many losses of more than
# PIECE bytes in one file the search starts where the loss was noticed, so that a file made of heads which all
# claim megabytes costs time in proportion to its size.
MAX_LONG_LOSSES = 1000


@dataclass(frozen=True, slots=True)
class Damage:
    """A stretch of a file that gave no record.

    offset: where it starts in the file (of a compressed file: the member it lies in)
    cause: cut, bad-gzip (-zstd ...), garbage, no-length, bad-length, bad-head, wrong-length, long-head
    length: bytes passed over: of the file, or decoded bytes where the member itself is sound
    """

    offset: int
    cause: str
    length: int


@dataclass(slots=True)
class Record:
    """One record: head, place, and its block, whole or the first PREFIX bytes of it.

    offset: byte offset in the file; None inside a member that holds more than this record
    length: compressed (or plain) bytes that it takes in the file, from its offset, None where offset is None
    """

    head: Head
    offset: int | None
    length: int | None
    buffer: bytes
    start: int
    end: int

    @property
    def whole(self) -> bool:
        return self.end - self.start == self.head.length

    @property
    def block(self) -> bytes:
        return self.buffer[self.start : self.end]

    def field(self, name: bytes) -> str:
        """The field's value as text, "" where there is none. UTF-8 as WARC 1.0 has it, else Latin-1."""
        value = self.head.fields.get(name, b"")
        try:
            return value.decode()
        except UnicodeDecodeError:
            return value.decode("latin-1")


class _Lost(Exception):
    """The current record can't be handed out."""

    def __init__(self, cause: str) -> None:
        super().__init__(cause)
        self.cause = cause


class Framer:
    """Iterates the records of `members`.

    keep(head) says how many bytes of the block to hold in memory (0: only pass over it); of a longer block
    PREFIX bytes are held. feed(head), where given, returns a function that is handed all bytes of the block in
    order, or None. Damage goes to `damaged`.
    """

    def __init__(
        self,
        members: Members,
        format: Format,
        *,
        keep: Callable[[Head], int],
        damaged: Callable[[Damage], None],
        feed: Callable[[Head], Callable[[bytes], object] | None] | None = None,
    ) -> None:
        self._members = members
        self._format = format
        self._keep = keep
        self._damaged = damaged
        self._feed = feed
        self._buffer = b""
        self._pos = 0
        self._base = 0  # decoded offset in the member of the buffer's first byte
        self._pending: bytes | None = None  # first piece of a member that was begun ahead
        self._over = True  # the member gives no more bytes
        self._broken: str | None = None
        self._long_losses = 0
        self._previous = 0  # offset of the member that a pending one follows

    def __iter__(self) -> Iterator[Record]:
        while self._advance():
            record = self._record()
            if record is not None:
                yield record

    # Bytes.

    def _more(self) -> bool:
        """Append the member's next piece to the buffer; False at the member's end."""
        if self._over:
            return False
        try:
            piece = self._members.more()
        except Broken as broken:
            self._broken = broken.cause
            self._over = True
            return False
        if not piece:
            self._over = True
            return False
        if self._pos == len(self._buffer):
            self._base += self._pos
            self._buffer, self._pos = piece, 0
        else:
            self._base += self._pos
            self._buffer, self._pos = self._buffer[self._pos :] + piece, 0
        return True

    def _need(self, count: int) -> bool:
        """Have `count` bytes from the position on in the buffer, from following members if they go on there."""
        have = len(self._buffer) - self._pos
        if have >= count:
            return True
        if self._over and (self._broken or self._pending is not None):
            return False
        parts = [self._buffer[self._pos :]]
        while have < count:
            try:
                piece = b"" if self._over else self._members.more()
            except Broken as broken:
                self._broken = broken.cause
                piece = b""
            if not piece:
                self._over = True
                piece = self._continuation()
                if not piece:
                    break
            parts.append(piece)
            have += len(piece)
        self._base += self._pos
        self._buffer, self._pos = b"".join(parts), 0
        return have >= count

    def _continuation(self) -> bytes:
        """The first piece of the next member where that goes on with the current record, else b""."""
        if self._broken or self._pending is not None or isinstance(self._members, PlainMembers):
            return b""
        self._previous = self._members.offset
        try:
            piece = self._members.more() if self._members.begin() else b""
        except Broken:
            return b""  # found again, and counted, when the next member is begun
        if not piece or self._format.starts(piece, 0):
            self._pending = piece
            return b""
        self._over = False
        return piece

    def _advance(self) -> bool:
        """Stand on the first byte after line ends and member ends; False at the end of the file."""
        while True:
            if self._skip_newlines():
                return True
            if self._broken:
                self._damage(self._members.offset, self._broken)
                continue
            if not self._enter():
                return False

    def _skip_newlines(self) -> bool:
        while True:
            buffer, pos = self._buffer, self._pos
            while buffer[pos : pos + 1] in (b"\r", b"\n"):
                pos += 1
            self._pos = pos
            if pos < len(buffer):
                return True
            if not self._more():
                return False

    def _enter(self) -> bool:
        """Begin the next member."""
        if self._pending is not None:
            self._buffer, self._pending = self._pending, None
            self._pos = self._base = 0
            self._over = not self._buffer
            return bool(self._buffer)
        try:
            if not self._members.begin():
                return False
        except Broken as broken:
            self._broken = broken.cause
            self._buffer, self._pos, self._over = b"", 0, True
            return True
        self._buffer, self._pos, self._base = b"", 0, 0
        self._over = False
        return True

    # Records.

    def _record(self) -> Record | None:
        start = self._base + self._pos
        member = self._members.offset if self._pending is None else self._previous
        try:
            return self._framed(start, member)
        except _Lost as lost:
            self._lose(lost.cause, start, member)
            return None

    def _framed(self, start: int, member: int) -> Record:
        format = self._format
        end = format.head_end(self._buffer, self._pos)
        while end < 0:
            if len(self._buffer) - self._pos >= format.max_head:
                raise _Lost("long-head")
            if not self._need(len(self._buffer) - self._pos + 1):
                raise _Lost(self._broken or ("cut" if self._starts() else "garbage"))
            end = format.head_end(self._buffer, self._pos)
        if not format.starts(self._buffer, self._pos):
            raise _Lost("garbage")
        try:
            head = format.parse(self._buffer[self._pos : end])
        except BadHead as bad:
            raise _Lost(bad.cause) from None
        self._pos = end
        if self._beyond_end(head.length):
            raise _Lost("cut")
        keep = self._keep(head)
        feed = self._feed(head) if self._feed else None
        held = head.length if head.length <= keep else min(head.length, PREFIX if keep else 0)
        if not self._need(held):
            raise _Lost(self._broken or "cut")
        buffer, begin, base = self._buffer, self._pos, self._base
        self._pos += held
        if feed and held:
            feed(buffer[begin : begin + held])
        if held < head.length:
            self._pass_over(head.length - held, feed)
        try:
            self._check_end()
        except _Lost:
            # Put the block back before what was read after it, so that it can be searched for heads.
            if 0 <= self._base - base <= len(buffer):
                self._buffer = buffer[begin : self._base - base] + self._buffer
                self._pos, self._base = 0, base + begin
            raise
        if isinstance(self._members, PlainMembers):
            return Record(head, start, self._base + self._pos - start, buffer, begin, begin + held)
        if start == 0 and self._over and self._pos == len(self._buffer):
            end_of_member = self._members.offset if self._pending is not None else self._members.position
            return Record(head, member, end_of_member - member, buffer, begin, begin + held)
        return Record(head, None, None, buffer, begin, begin + held)

    def _beyond_end(self, length: int) -> bool:
        """Whether a plain file of known size ends before a block of `length` bytes does."""
        members = self._members
        if not isinstance(members, PlainMembers) or members.size is None:
            return False
        return self._base + self._pos + length > members.size

    def _starts(self) -> bool:
        self._need(self._format.peek)
        return self._format.starts(self._buffer, self._pos)

    def _pass_over(self, count: int, feed: Callable[[bytes], object] | None) -> None:
        """Leave `count` bytes of the block behind without holding them."""
        buffered = min(count, len(self._buffer) - self._pos)
        if feed:
            feed(self._buffer[self._pos : self._pos + buffered])
        self._pos += buffered
        count -= buffered
        if count and not feed and isinstance(self._members, PlainMembers):
            self._base += self._pos
            self._buffer, self._pos = b"", 0
            skipped = self._members.skip(count)
            self._base += skipped
            count -= skipped
        while count:
            self._base += self._pos
            self._buffer, self._pos = b"", 0
            if not self._need(1):
                raise _Lost(self._broken or "cut")
            taken = min(count, len(self._buffer))
            if feed:
                feed(self._buffer[:taken])
            self._pos = taken
            count -= taken

    def _check_end(self) -> None:
        """Raise unless the block is followed by line ends, a head or the end of its member."""
        newlines = 0
        while True:
            if self._pos == len(self._buffer) and not self._more():
                if self._broken and self._broken != "cut":
                    raise _Lost(self._broken)
                if self._broken and newlines < self._format.newlines:
                    raise _Lost(self._broken)
                return
            byte = self._buffer[self._pos]
            if byte == 10:
                newlines += 1
            elif byte != 13:
                break
            self._pos += 1
        if newlines < self._format.newlines and not self._starts():
            raise _Lost("wrong-length")

    # Damage.

    def _lose(self, cause: str, start: int, member: int) -> None:
        """Count what started at `start` as damage and stand on the next head after it, if there is one."""
        plain = isinstance(self._members, PlainMembers)
        if self._base + len(self._buffer) - start > PIECE:
            self._long_losses += 1
        if self._long_losses <= MAX_LONG_LOSSES:
            if self._base <= start + 1 <= self._base + len(self._buffer):
                self._pos = start + 1 - self._base
            elif isinstance(self._members, PlainMembers) and self._base > start + self._format.max_head:
                self._members.rewind(start + 1)
                self._buffer, self._pos, self._base, self._over = b"", 0, start + 1, False
        if not self._search() and self._broken:
            self._damage(member, self._broken)
        else:
            self._damaged(Damage(start if plain else member, cause, self._base + self._pos - start))

    def _search(self) -> bool:
        """Move to the next head in the member; at its end otherwise."""
        overlap = 8 if self._format.name == "warc" else 0
        while True:
            # A head needs its first line; look again from a little before the end when more has come.
            found = self._format.find(self._buffer, self._pos)
            if found >= 0:
                self._pos = found
                return True
            if overlap:
                self._pos = max(self._pos, len(self._buffer) - 32)
            else:
                self._pos = max(
                    self._pos, self._buffer.rfind(b"\n") + 1, len(self._buffer) - self._format.max_head
                )
            if not self._more():
                self._pos = len(self._buffer)
                return False

    def _damage(self, member: int, cause: str) -> None:
        """The member is broken: count it and go to the next sound one."""
        members = self._members
        found = members.resync(lambda piece: self._format.starts(piece, 0))
        self._damaged(Damage(member, cause, members.position - member))
        self._broken = None
        self._buffer, self._pos, self._base, self._over = b"", 0, 0, True
        self._pending = None
        if not found:
            self._pending = b""


def sniff_format(start: bytes) -> Format | None:
    """The format of an archive by its first decoded bytes, None where a head can't be seen there."""
    start = start.lstrip(b"\r\n\0").removeprefix(b"\xef\xbb\xbf")
    if start.startswith(b"WARC/") or WARC.find(start, 0) >= 0:
        return WARC
    if start.startswith(b"filedesc:") or ARC.find(start, 0) >= 0:
        return ARC
    return None
