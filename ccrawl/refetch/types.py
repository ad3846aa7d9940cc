"""What passes between the steps of a refetch: a target, the exchanges it took, and what came of it."""

from __future__ import annotations

from dataclasses import dataclass


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
    body: bytes  # of the last answer, content coding off; empty with an error
    error: str  # a class of ERRORS, "" when the answer came whole; an HTTP error status is no error
    detail: str = ""  # the error in words, for people

    @property
    def status(self) -> int | None:
        """The last answer's status, None when no server answered."""
        return self.exchanges[-1].status if self.exchanges else None
