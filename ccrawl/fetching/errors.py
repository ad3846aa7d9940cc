"""What went wrong with a fetch, as one of the classes of ERRORS."""

from __future__ import annotations

import errno
import ssl

import aiohttp

from ccrawl.archives.codings import UnsupportedCoding
from ccrawl.errors import PageTooLarge
from ccrawl.fetching.guard import RefusedAddress
from ccrawl.fetching.urls import BadUrl
from ccrawl.fetching.wire import HeadTooLarge

MAX_DETAIL = 300


class FetchError(Exception):
    """A fetch that failed; `error` is a class of ERRORS, the text says more.

    pause: seconds that the host asks to be left alone, None where it does not say
    """

    def __init__(self, error: str, detail: str, pause: float | None = None) -> None:
        super().__init__(detail)
        self.error = error
        self.pause = pause


def classify(error: Exception) -> tuple[str, str]:
    """(class of ERRORS, words for people: one line, at most MAX_DETAIL characters)"""
    name, detail = _classify(error)
    return name, " ".join(detail.split())[:MAX_DETAIL]


def _classify(error: Exception) -> tuple[str, str]:
    said = str(error) or type(error).__name__
    match error:
        case FetchError() | BadUrl():
            return error.error, said
        case PageTooLarge():
            return "too-large", said
        case UnsupportedCoding():
            return "coding", said
        case HeadTooLarge():
            return "protocol", said
        case aiohttp.ClientConnectorDNSError():
            return _of_the_cause(error.os_error, "dns")
        case aiohttp.ClientConnectorCertificateError():
            return "tls", str(error.certificate_error)
        case aiohttp.ClientSSLError() | ssl.SSLError():
            return "tls", said
        case aiohttp.ClientConnectorError():
            return _of_the_cause(error.os_error, "connect")
        case aiohttp.ConnectionTimeoutError():
            return "timeout", "no connection within the limit"
        case aiohttp.SocketTimeoutError():
            return "timeout", "silence for longer than the limit"
        case TimeoutError():
            return "timeout", "not done within the limit"
        case aiohttp.ServerDisconnectedError():
            return "disconnect", "the server closed the connection before its answer began"
        case aiohttp.ClientResponseError():
            return "protocol", error.message
        case aiohttp.ClientPayloadError():
            return "truncated", getattr(error.__cause__, "message", "") or said
        case aiohttp.InvalidURL():
            return "url", said
        case OSError():
            return "disconnect", error.strerror or said
        case aiohttp.ClientError():
            return "protocol", said
        case _:
            return "internal", f"{type(error).__name__}: {said}"


def _of_the_cause(cause: OSError, otherwise: str) -> tuple[str, str]:
    if isinstance(cause, RefusedAddress):
        return "address", str(cause)
    if cause.errno in (errno.EMFILE, errno.ENFILE):
        return "internal", "too many open files: ulimit -n, or fewer connections"
    return otherwise, cause.strerror or str(cause) or type(cause).__name__
