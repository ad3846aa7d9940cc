"""Reaching the server: a client by URL, its password, its errors in our words."""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Callable
from typing import Any, Concatenate, ParamSpec, TypeVar
from urllib.parse import urlsplit

import redis
from redis.connection import SSLConnection
from redis.exceptions import (
    AuthenticationError,
    AuthorizationError,
    BusyLoadingError,
    ConnectionError,
    RedisError,
    TimeoutError,
)

from ccrawl.errors import UsageError
from ccrawl.index.types import IndexFailure

P = ParamSpec("P")
T = TypeVar("T")

# The environment variable that a password may come from.
PASSWORD = "CCRAWL_REDIS_PASSWORD"  # noqa: S105
# Seconds to an answer. The client's own 5 are less than a server takes to delete a hash of ten million
# fields, or to get to us when others ask for such things.
_TIMEOUT = 120.0
# Seconds to the end of a TLS handshake.
_HANDSHAKE = 10.0
_DATABASE = re.compile(r"(/[0-9]*)?")


def reported(
    method: Callable[Concatenate[Any, P], T],
) -> Callable[Concatenate[Any, P], T]:
    """Errors of the client as IndexFailure, with the server's name and without its password."""

    @functools.wraps(method)
    def call(self: Any, /, *args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return method(self, *args, **kwargs)
        except (RedisError, OSError) as error:
            raise IndexFailure(f"{self.location}: {_explained(error)}") from error
        except UnicodeEncodeError as error:  # a key is made of it, and the client packs UTF-8 alone
            raise IndexFailure(
                f"{self.location}: {error.object!r} stands there, no UTF-8; take it out with redis-cli"
            ) from error

    return call


def _explained(error: Exception) -> str:
    """What went wrong and what to do, without error numbers."""
    said = str(error).strip().rstrip(".")
    if isinstance(error, AuthenticationError | AuthorizationError):
        return f"the server refuses the password ({said}); give it in the URL, or in {PASSWORD}"
    if isinstance(error, BusyLoadingError):
        return "the server is still loading its data; try again in a while"
    if isinstance(error, ConnectionError | TimeoutError | OSError):
        # The system's own words where they are known: "connection refused", "name or service not known".
        cause = error if isinstance(error, OSError) else error.__cause__ or error.__context__
        words = (cause.strerror if isinstance(cause, OSError) else None) or said
        return f"the server can't be reached ({words}); check host, port and scheme, and that it runs"
    return f"the server says: {said}"


def without_password(url: str) -> str:
    """A Redis URL without user name and password."""
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()


def connect(url: str) -> redis.Redis:
    """A client of the server; nothing is sent yet. UsageError for a URL that can't be read.

    A password need not stand in the URL, where every process of the machine can read it: PASSWORD is used.
    """
    parts = urlsplit(url)
    password = os.environ.get(PASSWORD) if parts.password is None else None
    if not _DATABASE.fullmatch(parts.path):  # the client would take database 0
        raise UsageError(
            f"{without_password(url)}: not a Redis URL (a database's number stands behind the host, as in /0)"
        )
    try:
        client = redis.Redis.from_url(
            url,
            decode_responses=True,
            encoding_errors="surrogateescape",
            socket_connect_timeout=10,
            socket_timeout=_TIMEOUT,
            socket_keepalive=True,
            protocol=2,  # what every server speaks; nothing here needs more
            **({"password": password} if password else {}),
        )
    except ValueError as error:
        raise UsageError(f"{without_password(url)}: not a Redis URL ({error})") from error
    if client.connection_pool.connection_class is SSLConnection:
        client.connection_pool.connection_class = _Tls
    return client


class _Tls(SSLConnection):
    """A server that speaks no TLS takes the handshake for the start of a command, and waits for the rest: it
    is given less time than an answer."""

    def _connect(self) -> Any:
        answers = self.socket_timeout
        self.socket_timeout = min(answers or _HANDSHAKE, _HANDSHAKE)
        try:
            connected = super()._connect()  # type: ignore[no-untyped-call]
        finally:
            self.socket_timeout = answers
        connected.settimeout(answers)
        return connected
