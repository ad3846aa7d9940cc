"""A shard tried in a process of its own, and what is made of the process's end.

Whoever schedules shards (here: a loop over processes, on a cluster: a task) starts an Attempt and acts on its
verdict: the shard is done, is to be tried again, or is given up. A page that ends its process costs itself,
after a second try; it never costs the shard.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerContext

from ccrawl.dataset.ledger import FAILURES
from ccrawl.errors import CcrawlError, OutputError, SourceError
from ccrawl.run.board import NO_PAGE, Board
from ccrawl.run.guard import cause_of_death
from ccrawl.run.processes import Worker, WorkerDied
from ccrawl.run.task import ShardReport, ShardTask, export_shard_process

_DEATHS = 3  # of one shard's process without a page to blame, before the shard is given up


@dataclass(frozen=True, slots=True)
class Again:
    """The shard is to be done again, as `task` says now."""

    task: ShardTask
    why: str


@dataclass(frozen=True, slots=True)
class GivenUp:
    """The shard can't be done; the run goes on. `detail` is for failures.jsonl."""

    error: CcrawlError
    detail: str = ""


Verdict = ShardReport | Again | GivenUp


@dataclass(slots=True)
class Tries:
    """What a shard's attempts have taught so far."""

    deaths: int = 0
    errors: int = 0
    suspects: set[int] = field(default_factory=set)
    ignored: dict[int, str] = field(default_factory=dict)


class Attempt:
    """One try of a shard, under way. `connection` turns readable when it is over."""

    def __init__(self, context: ForkServerContext, task: ShardTask) -> None:
        self.task = task
        self.board = Board(context)
        self._worker = Worker(context, export_shard_process, task, self.board)

    @property
    def connection(self) -> Connection:
        """Turns readable when the attempt is over."""
        return self._worker.connection

    def verdict(self, tries: Tries) -> Verdict:
        """What became of it; waits for its end. `tries` are the shard's, and learn from this one.

        Raises OutputError: where the disk is full or gone, no other shard would fare better.
        """
        task = self.task
        try:
            return self._worker.result()
        except WorkerDied as death:
            return self._after_death(tries, death.exit_code)
        except SourceError as error:
            tries.errors += 1
            if tries.errors > 1 or task.options.strict:
                return GivenUp(error)
            return Again(task, str(error))
        except OutputError:
            raise
        except CcrawlError as error:
            return GivenUp(error)
        except Exception as error:  # a bug, on this shard: the others go on, and failures.jsonl says where
            what = f"{task.source.name}: {type(error).__name__}: {error}"
            return GivenUp(
                SourceError(f"{what}; a bug of ccrawl's: please report it, with {FAILURES}"),
                detail="".join(getattr(error, "__notes__", ())),
            )

    def stop(self) -> None:
        """End it, whatever it was doing."""
        self._worker.stop()

    def _after_death(self, tries: Tries, exit_code: int | None) -> Again | GivenUp:
        """Its process died. Do the shard again with its pages fanned out: then a death costs one page."""
        page = self.board.current_page
        cause = cause_of_death(exit_code)
        tries.deaths += 1
        if page == NO_PAGE and tries.deaths >= _DEATHS:
            return GivenUp(
                SourceError(
                    f"{self.task.source.name}: its process ended {tries.deaths} times between pages "
                    f"({cause}); free memory, or use fewer --workers, and run the same command again"
                )
            )
        if page != NO_PAGE:
            if page in tries.suspects:
                tries.ignored[page] = cause
            tries.suspects.add(page)
        task = replace(
            self.task,
            converters=max(1, self.task.converters),
            suspects=frozenset(tries.suspects),
            ignored=dict(tries.ignored),
        )
        return Again(task, f"its process ended ({cause})" + (f" on page {page}" if page != NO_PAGE else ""))
