"""Decoded bytes of a file across its members, in one buffer that a reader can look back in.

The stream keeps everything from `anchor` on, so that a record which turns out damaged can be searched again
from its start; `drop()` gives that up for records too large to hold. A block is taken in the pieces that it
was decoded in: a page is joined once, when it is wanted, and not before.
"""

from __future__ import annotations

from collections.abc import Callable

from ccrawl.archives.members import Broken, Members, PlainMembers


class Stream:
    """The bytes of `members`; `starts` tells whether bytes begin like a record.

    buffer, pos: decoded bytes and the index of the next one
    base: decoded offset of buffer[0], counted from the member's start (of a plain file: the file's)
    anchor: index of the first byte that is kept: in `behind`'s first piece, in the buffer without one
    behind: pieces before the buffer
    over: the member gives no more bytes
    broken: why it gives no more, None when it ended well
    member: offset in the file of the current member
    """

    def __init__(self, members: Members, starts: Callable[[bytes], bool]) -> None:
        self.members = members
        self.plain = isinstance(members, PlainMembers)
        self.buffer = b""
        self.pos = 0
        self.anchor = 0
        self.behind: list[bytes] = []
        self.base = 0
        self.over = True
        self.broken: str | None = None
        self.member = 0
        self._starts = starts
        self._pending: bytes | None = None  # first piece of the next member, when that was begun ahead
        self._next_member = 0

    @property
    def offset(self) -> int:
        """Decoded offset of the next byte."""
        return self.base + self.pos

    @property
    def available(self) -> int:
        return len(self.buffer) - self.pos

    @property
    def end_of_member(self) -> int:
        """File offset of the end of the current member, once it is over."""
        return self._next_member if self._pending is not None else self.members.position

    def more(self) -> bool:
        """Add the member's next piece to the buffer; False at its end."""
        if self.over:
            return False
        piece = self._pull()
        if piece:
            self._extend([piece])
        return bool(piece)

    def need(self, count: int) -> bool:
        """Have `count` bytes available, from the following members too where those go on with the record."""
        have = self.available
        if have >= count:
            return True
        parts: list[bytes] = []
        while have < count and (piece := self._pull() or self._continuation()):
            parts.append(piece)
            have += len(piece)
        if parts:
            self._extend(parts)
        return have >= count

    def take(self, count: int) -> list[bytes] | None:
        """The next `count` bytes: from `pos` on in the first of the pieces, and to before the new `pos` in
        the last. None, and nothing is taken, where the stream ends before.
        """
        start = self.offset
        have = self.available
        taken = [self.buffer]
        while have < count and (piece := self._pull() or self._continuation()):
            self.behind.append(self.buffer)
            self.base += len(self.buffer)
            self.buffer, self.pos = piece, 0
            taken.append(piece)
            count -= have
            have = len(piece)
        if have < count:
            self.join()
            self.pos = start - self.base
            return None
        self.pos += count
        return taken

    def join(self) -> None:
        """Have all that is kept in the buffer."""
        if self.behind:
            before = sum(map(len, self.behind))
            self.buffer = b"".join([*self.behind, self.buffer])
            self.base -= before
            self.pos += before
            self.behind = []

    def leave(self) -> None:
        """Keep nothing of what is before `pos`."""
        self.anchor = self.pos
        if self.behind:
            self.behind = []

    def _extend(self, parts: list[bytes]) -> None:
        self.join()
        kept = self.buffer[self.anchor :] if self.anchor < len(self.buffer) else b""
        self.buffer = b"".join([kept, *parts]) if kept or len(parts) > 1 else parts[0]
        self.base += self.anchor
        self.pos -= self.anchor
        self.anchor = 0

    def _pull(self) -> bytes:
        if self.over:
            return b""
        try:
            piece = self.members.more()
        except Broken as broken:
            self.broken = broken.cause
            piece = b""
        if not piece:
            self.over = True
        return piece

    def _continuation(self) -> bytes:
        """The first piece of the next member where that goes on with the current record, else b""."""
        if self.plain or self.broken or self._pending is not None:
            return b""
        ended = self.members.position
        try:
            piece = self.members.more() if self.members.begin() else b""
        except Broken as broken:
            self.broken = broken.cause
            return b""
        if not piece:
            return b""
        if self._starts(piece):
            self._pending, self._next_member = piece, ended
            return b""
        self.member = self.members.offset
        self.over = False
        return piece

    def enter(self) -> bool:
        """Go to the next member; False at the end of the file. A broken one is entered without bytes."""
        self.pos = self.base = 0
        self.leave()
        self.buffer, self._pending = self._pending or b"", None
        self.over = False
        if not self.buffer:
            try:
                if not self.members.begin():
                    self.over = True
                    return False
            except Broken as broken:
                self.broken = broken.cause
                self.over = True
        self.member = self.members.offset
        return True

    def drop(self, count: int) -> int:
        """Leave up to `count` bytes behind for good, seeking where the file allows; returns how many."""
        taken = min(count, self.available)
        self.pos += taken
        self.leave()
        if taken < count and self.plain:
            self.base += self.pos
            self.buffer, self.pos, self.anchor = b"", 0, 0
            skipped = self.members.skip(count - taken)
            self.base += skipped
            taken += skipped
        return taken

    def back_to(self, offset: int) -> bool:
        """Stand on a decoded offset again; False where its bytes are gone."""
        self.join()
        if self.base <= offset <= self.base + len(self.buffer):
            self.pos = self.anchor = offset - self.base
            return True
        if isinstance(self.members, PlainMembers) and offset >= self.members.earliest:
            self.members.position = offset
            self.buffer, self.pos, self.anchor, self.base, self.over = b"", 0, 0, offset, False
            return self.more()
        return False

    def resync(self) -> int:
        """Leave the broken member for the next sound one, which `enter` begins; returns where that starts."""
        self.members.resync(self._starts)
        self.broken = None
        self.buffer, self.pos, self.base, self.over = b"", 0, 0, True
        self.leave()
        self._pending = None
        return self.members.position
