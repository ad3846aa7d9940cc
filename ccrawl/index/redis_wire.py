"""Commands by the hundred over a connection of their own, packed and read in bulk.

The client's own ways cost 3 us for each argument that is packed and each answer that is read, more than all
that the server does for it (benchmarks/index.py, --redis). It still connects: URL, password, TLS, database.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import hiredis
from redis.exceptions import ConnectionError as Disconnected
from redis.exceptions import ResponseError

_READ = 1 << 16


@dataclass(frozen=True, slots=True)
class Fields:
    """Fields of hashes, packed: the same may be asked of several. They are ASCII, and of one length."""

    count: int
    packed: str


def between(width: int) -> str:
    """What stands before a field of a width in a command, and so between two of them."""
    return f"\r\n${width}\r\n"


def hmget(name: str, fields: Fields) -> str:
    """An HMGET of fields."""
    return f"{_head(fields.count + 2, 'HMGET', name)}{fields.packed}\r\n"


def hsetnx(name: str, fields: Sequence[str], values: Sequence[str]) -> list[str]:
    """An HSETNX for each field; they are ASCII, and of one length."""
    head = f"{_head(4, 'HSETNX', name)}{between(len(fields[0]))}"
    if "".join(values).isascii():
        lengths = list(map(len, values))
    else:
        lengths = [len(_encoded(value)) for value in values]
    return [
        f"{head}{field}\r\n${length}\r\n{value}\r\n"
        for field, length, value in zip(fields, lengths, values, strict=True)
    ]


class Wire:
    """A connection of a client's pool, made when it is first needed. Not for two threads at once."""

    def __init__(self, client: Any) -> None:
        self._pool = client.connection_pool
        self._connection: Any = None

    def ask(self, commands: Sequence[str]) -> list[Any]:
        """The answers to packed commands, sent in one go; text as bytes. They must bear being sent twice:
        where the connection was lost, it is made anew, once. ResponseError is the first error among them."""
        packed = _encoded("".join(commands))
        try:
            return self._asked(packed, len(commands))
        except Disconnected:
            return self._asked(packed, len(commands))

    def close(self) -> None:
        """Give the connection up."""
        if self._connection is not None:
            self._connection.disconnect()
            self._pool.release(self._connection)
            self._connection = None

    def _asked(self, packed: bytes, count: int) -> list[Any]:
        try:
            answers = self._exchange(packed, count)
        except OSError as error:
            self.close()
            raise Disconnected(str(error)) from error
        except BaseException:  # answers may be under way that nobody will read
            self.close()
            raise
        for answer in answers:
            if isinstance(answer, ResponseError):
                raise answer
        return answers

    def _exchange(self, packed: bytes, count: int) -> list[Any]:
        if self._connection is None:
            self._connection = self._pool.get_connection()
        socket = self._connection._sock  # the client has no public way to its bytes
        reader = hiredis.Reader(replyError=ResponseError)
        answers: list[Any] = []
        socket.sendall(packed)
        while len(answers) < count:
            received = socket.recv(_READ)
            if not received:
                raise Disconnected("the server closed the connection")
            reader.feed(received)
            while (answer := reader.gets()) is not False:
                answers.append(answer)
        return answers


def _head(arguments: int, command: str, name: str) -> str:
    return f"*{arguments}\r\n${len(command)}\r\n{command}\r\n${len(_encoded(name))}\r\n{name}"


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")
