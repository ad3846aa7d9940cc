"""Every error that ccrawl raises on purpose.

    CcrawlError              what, where, what to do: one line
      UsageError             the call is wrong: exit 2
      SourceError            a source can't be read at all (missing, refused, not an archive)
        ArchiveError         an archive is damaged at an offset and reading can't go on
      PageError              one page can't be converted; the run goes on
        PageTooLarge         its decoded payload is above the limit
      OutputError            the dataset can't be written, or what is there contradicts the command

Raise at the place that knows the file and the offset; catch at the place that can go on
(record, page, shard, run). The command line prints `str(error)` and exits with `exit_code`.
"""

from __future__ import annotations

from collections.abc import Iterable


class CcrawlError(Exception):
    """The base of all errors that name a cause a user can act on."""

    exit_code = 1


class UsageError(CcrawlError):
    """Options or arguments that can't be carried out as given."""

    exit_code = 2


class SourceError(CcrawlError):
    """A source that can't be read: missing, refused, or not an archive."""


class ArchiveError(SourceError):
    """Damage in an archive that reading could not step over."""


class PageError(CcrawlError):
    """A page that can't be converted. `cause` is the counter it goes under."""

    cause = "error"


class PageTooLarge(PageError):
    """A page whose decoded payload is larger than the limit."""

    cause = "too-large"


class OutputError(CcrawlError):
    """A dataset that can't be written, or that contradicts the command."""


def reason(error: Exception) -> str:
    """What went wrong, one line without the system's number for it: `Connection refused`."""
    text = getattr(error, "strerror", None) or str(error)
    return text.splitlines()[0] if text else type(error).__name__


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """What ends a message about a word that is not known: `; did you mean export?`, or nothing."""
    from difflib import get_close_matches

    near = get_close_matches(word, sorted(known), n=1)
    return f"; did you mean {near[0]}?" if near else ""
