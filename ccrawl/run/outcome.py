"""A page on its way through conversion, and what became of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

from ccrawl.errors import PageError

if TYPE_CHECKING:
    from ccrawl.archives import Capture

EMPTY = "empty"
OTHER_LANGUAGE = "other-language"


class Page(NamedTuple):
    """A capture on its way through conversion. `number` counts a shard's pages from 0."""

    number: int
    capture: Capture


Made = TypeVar("Made")


class Outcome(NamedTuple, Generic[Made]):
    """What became of a page: a row, or else the cause. `failed` tells a fault from a page without text."""

    number: int
    row: Made | None
    cause: str = ""
    detail: str = ""
    failed: bool = False


def attempt(number: int, work: Callable[[], Outcome[Made]]) -> Outcome[Made]:
    """The outcome of `work` on page `number`, a failed one for what it raises."""
    try:
        return work()
    except PageError as error:
        return Outcome(number, None, error.cause, str(error), failed=True)
    except MemoryError:
        return Outcome(number, None, "memory", "the page needs more than --worker-memory", failed=True)
    except Exception as error:  # a bug of ours or a library's on this page: set aside, the run goes on
        return Outcome(number, None, "error", f"{type(error).__name__}: {error}"[:500], failed=True)
