"""Records out of members: framing, damage and finding the way again.

Heads and lengths are checked against what follows them. A record is handed out when its whole block was there
and what follows is a line end, another head or the end; otherwise its bytes are searched for the next head,
so that a wrong length costs that record and not the ones it would have swallowed. Damage is reported through
a callback and never ends the reading.

This is the hot path of reading: one pass of `_framed` a record, and no copy of a block but the caller's own,
since it is handed out in the pieces that it was decoded in. benchmarks/read.py measures it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from ccrawl.archives.formats import BadHead, Format, Head
from ccrawl.archives.http import ResponseHead, parse_head
from ccrawl.archives.members import PIECE, Members, PlainMembers
from ccrawl.archives.stream import Stream

# What is kept of a block that is larger than the caller wants: enough for an HTTP head and for sniffing.
PREFIX = 64 << 10
# A lost record is searched for the heads that a wrong length swallowed. After this many losses of more than
# PIECE bytes in one file the search starts where the loss was noticed, so that a file made of heads which all
# claim megabytes costs time in proportion to its size.
MAX_LONG_LOSSES = 1000
_NEWLINES = (10, 13)
# An HTTP head that ends so many bytes before its piece is whole, and whether another follows can be seen.
_SURELY_WHOLE = 64


@dataclass(frozen=True, slots=True)
class Damage:
    """A stretch of a file that gave no record.

    offset: where it starts in the file (of a compressed file: the member it lies in)
    cause: cut, bad-gzip (-zstd ...), garbage, no-length, bad-length, bad-head, wrong-length, long-head
    length: bytes passed over: of the file, or decoded bytes where the member itself is sound
    source: name of the file
    """

    offset: int
    cause: str
    length: int
    source: str = ""


@dataclass(slots=True)
class Record:
    """One record: head, place, and its block, whole or the first PREFIX bytes of it.

    offset: byte offset in the file; None inside a member that holds more than this record
    length: compressed (or plain) bytes that it takes in the file, from its offset, None where offset is None
    size: bytes of the block that are held: from index `start` of the first of `pieces` on
    """

    head: Head
    offset: int | None
    length: int | None
    pieces: list[bytes]
    start: int
    size: int

    @property
    def whole(self) -> bool:
        return self.size == self.head.length

    @property
    def block(self) -> bytes:
        return self.after(0)

    def after(self, at: int) -> bytes:
        """What is held of the block from its byte `at` on, put together anew each time."""
        first, *rest = self.pieces
        start, end = self.start + at, self.start + self.size
        if not rest:
            return first[start:end]
        if start > len(first):
            return self.block[at:]
        views: list[bytes | memoryview] = [memoryview(first)[start:], *rest]
        if over := sum(map(len, self.pieces)) - end:
            views[-1] = memoryview(rest[-1])[:-over]
        return b"".join(views)

    def http(self) -> ResponseHead | None:
        """The head of the HTTP response that the block is; None where it is none."""
        first, start = self.pieces[0], self.start
        if len(self.pieces) == 1:
            return parse_head(first, start, start + self.size)
        head = parse_head(first, start, len(first))
        if head is None or start + head.end + _SURELY_WHOLE > len(first):
            return parse_head(self.block, 0, self.size)
        return head

    def field(self, name: bytes) -> str:
        """The field's value as text, "" where there is none. UTF-8 as WARC 1.0 has it, else Latin-1."""
        value = self.head.value(name)
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
    PREFIX bytes are held. feed(head), where given, returns a function that is handed all bytes of the block
    in order, or None. Damage goes to `damaged`.
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
        self._stream = Stream(members, lambda piece: format.starts(piece, 0))
        self._format = format
        self._keep = keep
        self._damaged = damaged
        self._feed = feed
        self._long_losses = 0

    def __iter__(self) -> Iterator[Record]:
        stream = self._stream
        while self._advance():
            start, member = stream.offset, stream.member
            try:
                record = self._framed(start, member)
            except _Lost as lost:
                self._lose(lost.cause, start, member)
            else:
                yield record

    def _advance(self) -> bool:
        """Stand on the first byte after line ends and member ends; False at the end of the file."""
        stream = self._stream
        while True:
            while stream.pos < len(stream.buffer):
                if stream.buffer[stream.pos] not in _NEWLINES:
                    stream.leave()
                    return True
                stream.pos += 1
            stream.leave()
            if stream.more():
                continue
            if stream.broken:
                self._leave_broken(stream.member)
            if not stream.enter():
                return False

    def _framed(self, start: int, member: int) -> Record:
        """The record at the stream's position. Raises _Lost when it isn't sound."""
        stream = self._stream
        head = self._head()
        begin = stream.offset
        if self._ends_before(begin + head.length):
            raise _Lost("cut")
        keep = self._keep(head)
        feed = self._feed(head) if self._feed else None
        held = head.length if head.length <= keep else min(head.length, PREFIX if keep else 0)
        index = stream.pos
        taken = stream.take(held)
        if taken is None:
            raise _Lost(stream.broken or "cut")
        record = Record(head, None, None, taken, index, held)
        if feed and held:
            feed(record.block)
        if held < head.length:
            self._pass_over(head.length - held, feed)
        self._check_end()
        if stream.plain:
            record.offset, record.length = start, stream.offset - start
        elif start == 0 and stream.over and stream.pos == len(stream.buffer):
            record.offset, record.length = member, stream.end_of_member - member
        return record

    def _head(self) -> Head:
        stream, format = self._stream, self._format
        try:
            while (read := format.read(stream.buffer, stream.pos)) is None:
                if stream.available >= format.max_head:
                    raise _Lost("long-head" if format.starts(stream.buffer, stream.pos) else "garbage")
                if not stream.need(stream.available + 1):
                    cause = "cut" if format.starts(stream.buffer, stream.pos) else "garbage"
                    raise _Lost(stream.broken or cause)
        except BadHead as bad:
            raise _Lost(bad.cause) from None
        head, stream.pos = read
        return head

    def _ends_before(self, offset: int) -> bool:
        """Whether a plain file of known size ends before `offset`: then nothing need be read to know it."""
        members = self._stream.members
        return isinstance(members, PlainMembers) and members.size is not None and members.size < offset

    def _pass_over(self, count: int, feed: Callable[[bytes], object] | None) -> None:
        """Leave `count` bytes of the block behind without holding them, unless they are in the buffer."""
        stream = self._stream
        if count <= stream.available:
            if feed:
                feed(stream.buffer[stream.pos : stream.pos + count])
            stream.pos += count
            return
        while count:
            if feed:
                if not stream.need(1):
                    break
                taken = min(count, stream.available)
                feed(stream.buffer[stream.pos : stream.pos + taken])
                stream.drop(taken)
            else:
                taken = stream.drop(count)
                if taken < count and not stream.need(1):
                    count -= taken
                    break
            count -= taken
        if count:
            raise _Lost(stream.broken or "cut")

    def _check_end(self) -> None:
        """Raise unless the block is followed by line ends, a head or the end of its member."""
        stream = self._stream
        wanted = self._format.newlines
        newlines = 0
        while True:
            if stream.pos == len(stream.buffer) and not stream.more():
                # A checksum that fails speaks against the record; one that is cut off says nothing.
                if stream.broken and (stream.broken != "cut" or newlines < wanted):
                    raise _Lost(stream.broken)
                return
            byte = stream.buffer[stream.pos]
            if byte == 10:
                newlines += 1
            elif byte != 13:
                break
            stream.pos += 1
        if newlines < wanted:
            stream.join()
            stream.need(self._format.peek)
            if not self._format.starts(stream.buffer, stream.pos):
                raise _Lost("wrong-length")

    def _lose(self, cause: str, start: int, member: int) -> None:
        """Count what started at `start` as damage and stand on the next head after it, if there is one."""
        stream = self._stream
        stream.join()
        if stream.offset - start > PIECE:
            self._long_losses += 1
        if self._long_losses <= MAX_LONG_LOSSES and stream.back_to(start):
            stream.pos += 1
        found = self._search()
        if not found and stream.broken:
            self._leave_broken(member)
        else:
            self._damaged(Damage(start if stream.plain else member, cause, stream.offset - start))

    def _search(self) -> bool:
        """Move to the next head in the member, or to the member's end."""
        stream, format = self._stream, self._format
        while True:
            found = format.find(stream.buffer, stream.pos)
            if found >= 0:
                stream.pos = stream.anchor = found
                return True
            # A head at the buffer's end may go on in the next piece.
            stream.pos = max(stream.pos, format.tail(stream.buffer))
            stream.anchor = max(stream.anchor, stream.pos - 1)
            if not stream.more():
                stream.pos = stream.anchor = len(stream.buffer)
                return False

    def _leave_broken(self, member: int) -> None:
        """Count the broken member as damage and go to the next sound one."""
        cause = self._stream.broken or "garbage"
        self._damaged(Damage(member, cause, self._stream.resync() - member))
