"""What a run has done so far: every shard's end goes into the ledger, failures.jsonl and the events."""

from __future__ import annotations

import time
from collections.abc import Mapping

from ccrawl.dataset.ledger import FailedShard, Failure, FailureLog, Ledger, ShardEntry
from ccrawl.run.attempts import Again, GivenUp
from ccrawl.run.board import Progress
from ccrawl.run.events import Listener, RunProgress, ShardDone, ShardFailed, ShardRetried
from ccrawl.run.task import ShardReport, ShardTask


class Record:
    """Takes what a runner tells of its shards."""

    def __init__(
        self,
        ledger: Ledger,
        failures: FailureLog,
        fingerprints: Mapping[int, str],
        listener: Listener,
    ) -> None:
        self.cpu_seconds = 0.0
        self._ledger = ledger
        self._failures = failures
        self._fingerprints = fingerprints
        self._listen = listener
        self._finished = Progress()
        self._done = 0
        self._started = time.monotonic()

    def done(self, task: ShardTask, report: ShardReport) -> None:
        """A shard whose file is in place."""
        self._failures.append(report.failures)
        self.cpu_seconds += report.cpu_seconds
        written = report.written
        file = written.path.relative_to(self._ledger.directory).as_posix()
        self._ledger.add(
            ShardEntry(
                number=task.number,
                source=task.source.name,
                source_bytes=task.source.size,
                source_fingerprint=self._fingerprints[task.number],
                file=file,
                file_bytes=written.bytes,
                sha256=written.sha256,
                counts=report.counts,
                failures=len(report.failures),
                seconds=round(report.seconds, 3),
                cpu_seconds=round(report.cpu_seconds, 3),
            )
        )
        counts = report.counts
        self._finished += Progress(
            records=counts.records,
            pages=counts.pages,
            rows=counts.rows,
            duplicates=counts.duplicates,
            failed=sum(counts.failed.values()),
            archive_bytes=counts.archive_bytes,
            html_bytes=counts.html_bytes,
        )
        self._done += 1
        self._listen(ShardDone(task.number, task.source.name, file, counts, report.seconds))

    def given_up(self, task: ShardTask, end: GivenUp) -> None:
        """A shard that failed. With `strict` its error is raised instead."""
        if task.options.strict:
            raise end.error
        message = str(end.error)
        self._failures.append(
            [
                Failure(
                    kind="shard", shard=task.number, source=task.source.name, cause=message, detail=end.detail
                )
            ]
        )
        self._ledger.add_failed(FailedShard(task.number, task.source.name, message))
        self._done += 1
        self._listen(ShardFailed(task.number, task.source.name, message))

    def again(self, again: Again) -> None:
        """A shard that is done again."""
        self._listen(ShardRetried(again.task.number, again.task.source.name, again.why))

    def progress(self, underway: Progress) -> None:
        """Tell how far the run is: what is finished, and what the shards under way have done."""
        progress = self._finished + underway
        self._listen(RunProgress(progress, self._done, time.monotonic() - self._started))
