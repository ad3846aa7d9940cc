"""What passes between the steps of a refetch: a target, the exchanges it took, and what came of it."""

from __future__ import annotations

from dataclasses import dataclass

from ccrawl import __version__
from ccrawl.errors import UsageError

MIB = 1 << 20

# Why a target has no whole answer: what `Fetched.error` may say, and what it means. The set is closed.
ERRORS = {
    "url": "not a URL that can be fetched: no host, a bad port or name, or too long",
    "scheme": "neither http nor https, at the start or behind a redirect",
    "address": "the host stands at an address that may not be fetched (private, loopback, metadata ...)",
    "dns": "the host name has no address, or its name server does not answer",
    "connect": "no connection: refused, unreachable, or reset before the request was sent",
    "tls": "the TLS handshake failed, or the certificate is not valid for the host",
    "timeout": "the limit on connecting, on silence or on the whole fetch was reached",
    "disconnect": "the server closed or reset the connection before its answer began",
    "protocol": "the answer is not HTTP, or its head or framing is too broken or too large to read",
    "truncated": "the body ended before the place where it said it would; what came of it is kept",
    "too-large": "the body, or what it decodes to, is larger than the limit",
    "coding": "the body is in a content coding that is not known",
    "redirects": "more redirects than the limit, or a loop of them",
    "robots": "robots.txt forbids the URL",
    "robots-unavailable": "robots.txt could not be read (5xx, no answer): all is forbidden for now",
    "rate-limited": "the host answers 429 or 503 for longer than there is patience",
    "dead": "the host was given up after failures in a row; this URL was not asked for",
    "internal": "a fault of this program, named in the detail",
}


@dataclass(frozen=True, slots=True)
class Archived:
    """What the archive or dataset knows of a URL; empty strings and None where it says nothing."""

    crawl_id: str = ""
    crawl_date: str = ""  # YYYY-MM-DD
    warc_record_id: str = ""
    payload_digest: str = ""  # algorithm:value
    simhash: int | None = None


@dataclass(frozen=True, slots=True)
class Target:
    """A URL to fetch and its place in the input, which is the place of its row."""

    position: int
    url: str
    archived: Archived = Archived()


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request and its answer, as they went over the wire but for the transfer coding."""

    url: str
    started_at: int  # Unix ms
    ip_address: str
    request_head: bytes  # request line and fields, with the empty line
    response_head: bytes  # status line and fields as received, with the empty line
    status: int
    headers: tuple[tuple[str, str], ...]  # of the answer, in order
    body: bytes  # content coding still on, transfer coding off; cut where the fetch was
    complete: bool  # the whole body came


@dataclass(frozen=True, slots=True)
class Fetched:
    """What came of a target: the last exchange decides, or `error` says why there is none."""

    target: Target
    exchanges: tuple[Exchange, ...]  # redirects first; empty when no server answered
    final_url: str
    ip_address: str
    fetched_at: int  # Unix ms, when the fetch began
    duration_ms: int
    ttfb_ms: int | None  # to the head of the last answer
    body: bytes  # of the last answer, content coding off; with an error empty, unless that is "truncated"
    error: str  # a class of ERRORS, "" when the answer came whole; an HTTP error status is no error
    detail: str = ""  # the error in words, for people

    @property
    def status(self) -> int | None:
        """The last answer's status, None when no server answered."""
        return self.exchanges[-1].status if self.exchanges else None


@dataclass(frozen=True, slots=True)
class FetchOptions:
    """How to fetch. Times are in seconds, sizes in bytes.

    connections: requests under way at a time, over all hosts
    per_host: requests under way at a time to one host
    rate: most requests a second to one host, 0 for as many as it answers
    connect_timeout: for the name, the connection and the TLS handshake
    idle_timeout: most silence; a body that comes in slower than MIN_PROGRESS in this time is silent, too
    total_timeout: for one target, all redirects included, waits for the host's turn not
    max_body: of a body, with and without its content coding
    max_redirects: to follow for one target
    max_wait: longest Retry-After that is waited for; a host that asks for more is given up
    attempts: requests for one URL when the host answers 429 or 503
    give_up: failed connections in a row after which a host is given up; see politeness.py for silent ones
    window: targets read ahead, so that many URLs of one slow host do not hold the others
    contact: an address or URL where the owner of a site reaches you, part of the User-Agent
    allow_private: fetch from addresses that are not public, too
    ignore_robots: do not ask for robots.txt
    """

    connections: int = 256
    per_host: int = 2
    rate: float = 2.0
    connect_timeout: float = 10.0
    idle_timeout: float = 15.0
    total_timeout: float = 60.0
    max_body: int = 16 * MIB
    max_redirects: int = 10
    max_wait: float = 60.0
    attempts: int = 4
    give_up: int = 4
    window: int = 20_000
    contact: str = ""
    allow_private: bool = False
    ignore_robots: bool = False

    @property
    def user_agent(self) -> str:
        """What servers are told who asks."""
        return f"ccrawl/{__version__} (+{self.contact})" if self.contact else f"ccrawl/{__version__}"

    def check(self) -> None:
        """Raise UsageError for options with which nothing could be fetched, or not by name."""
        for name in ("connections", "per_host", "max_body", "attempts", "give_up", "window"):
            if getattr(self, name) < 1:
                raise UsageError(f"{name} is {getattr(self, name)}, it has to be at least 1")
        for name in ("connect_timeout", "idle_timeout", "total_timeout"):
            if not getattr(self, name) > 0:
                raise UsageError(f"{name} is {getattr(self, name)}, it has to be above 0")
        if not self.rate >= 0 or self.max_redirects < 0 or not self.max_wait >= 0:
            raise UsageError("rate, max_redirects and max_wait are at least 0")
        if not self.contact and not self.allow_private:
            raise UsageError("live hosts are asked with a contact only: --contact MAIL-OR-URL says who asks")
        if self.contact and (
            not self.contact.isascii()
            or not self.contact.isprintable()
            or set("()\\") & set(self.contact)
            or not ("@" in self.contact or "://" in self.contact)
        ):
            raise UsageError(f"the contact {self.contact!r} is neither a mail address nor a URL")
