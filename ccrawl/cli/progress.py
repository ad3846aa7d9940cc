"""A run's events, shown: a bar on a terminal, plain lines in a pipe, JSON lines on request. All on stderr."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import sys
import time
from collections.abc import Iterator

from ccrawl.run.board import Progress
from ccrawl.run.events import (
    Event,
    Listener,
    Notice,
    RefetchProgress,
    RunProgress,
    RunStarted,
    ShardDone,
    ShardFailed,
    ShardRetried,
    ignore,
)
from ccrawl.units import count, duration, size

_LINE_EVERY = 10.0  # seconds between two plain lines
_JSON_EVERY = 1.0


@contextlib.contextmanager
def listener(*, as_json: bool, quiet: bool) -> Iterator[Listener]:
    """The listener that suits stderr and the flags."""
    if as_json:
        yield _JsonLines()
    elif quiet:
        yield ignore
    elif sys.stderr.isatty():
        with _Bar() as bar:
            yield bar
    else:
        yield _PlainLines()


class _JsonLines:
    def __init__(self) -> None:
        self._told = 0.0

    def __call__(self, event: Event) -> None:
        if isinstance(event, RunProgress | RefetchProgress):
            if time.monotonic() - self._told < _JSON_EVERY:
                return
            self._told = time.monotonic()
        fields = dataclasses.asdict(event)
        print(
            json.dumps({"event": type(event).__name__, **fields}, ensure_ascii=False),
            file=sys.stderr,
            flush=True,
        )


class _PlainLines:
    def __init__(self) -> None:
        self._plan: RunStarted | None = None
        self._told = time.monotonic()

    def __call__(self, event: Event) -> None:
        if isinstance(event, RunStarted):
            self._plan = event
            print(_plan(event), file=sys.stderr, flush=True)
        elif isinstance(event, RunProgress | RefetchProgress):
            if time.monotonic() - self._told >= _LINE_EVERY:
                self._told = time.monotonic()
                told = _state(event, self._plan) if isinstance(event, RunProgress) else _refetched(event)
                print(told, file=sys.stderr, flush=True)
        else:
            print(_news(event), file=sys.stderr, flush=True)


class _Bar:
    """A rich progress bar; the part that grows is archive bytes read, of all there are to read."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as RichProgress

        self._console = Console(stderr=True)
        self._bar = RichProgress(
            BarColumn(bar_width=24),
            TextColumn("{task.percentage:>3.0f}%"),
            TextColumn("{task.description}"),
            TimeRemainingColumn(compact=True),
            console=self._console,
            transient=True,
        )
        self._task = self._bar.add_task("starting", total=None)
        self._plan: RunStarted | None = None

    def __enter__(self) -> _Bar:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def __call__(self, event: Event) -> None:
        if isinstance(event, RunStarted):
            self._plan = event
            self._console.print(_plan(event), highlight=False, markup=False)
            self._bar.update(self._task, total=event.source_bytes)
        elif isinstance(event, RunProgress):
            self._bar.update(
                self._task,
                completed=event.progress.archive_bytes,
                description=_figures(event.progress, event.seconds),
            )
        elif isinstance(event, RefetchProgress):
            self._bar.update(
                self._task,
                total=event.targets or None,
                completed=event.fetched,
                description=_fetches(event),
            )
        elif not isinstance(event, ShardDone) or (self._plan and self._plan.shards > 1):
            self._console.print(_news(event), highlight=False, markup=False)


def _plan(event: RunStarted) -> str:
    left = event.shards - event.done_before
    text = f"{count(left, 'shard')} to do with {count(event.workers, 'worker')}"
    if event.source_bytes is not None:
        text += f", {size(event.source_bytes)}"
    if event.done_before:
        text += f"; {count(event.done_before, 'shard')} finished by an earlier run"
    return text


def _figures(progress: Progress, seconds: float) -> str:
    rate = progress.pages / seconds if seconds else 0.0
    text = (
        f"{progress.rows:,} rows, {rate:,.0f} pages/s, {size(progress.archive_bytes / max(seconds, 0.1))}/s"
    )
    if progress.duplicates:
        text += f", {progress.duplicates:,} duplicates"
    if progress.failed:
        text += f", {progress.failed:,} set aside"
    return text


def _state(event: RunProgress, plan: RunStarted | None) -> str:
    text = f"{duration(event.seconds)}: {_figures(event.progress, event.seconds)}"
    if plan is None:
        return text
    text += f", {event.shards_done:,} of {count(plan.shards - plan.done_before, 'shard')} done"
    done = event.progress.archive_bytes
    if plan.source_bytes and done:
        left = event.seconds * (plan.source_bytes - done) / done
        text += f", about {duration(left)} left" if left >= 1 else ""
    return text


def _refetched(event: RefetchProgress) -> str:
    return f"{duration(event.seconds)}: {_fetches(event)}"


def _fetches(event: RefetchProgress) -> str:
    rate = event.fetched / event.seconds if event.seconds else 0.0
    text = f"{event.fetched:,} of {count(event.targets, 'URL')} fetched, {rate:,.0f} a second"
    if event.failed:
        text += f", {event.failed:,} failed"
    if event.converted:
        text += f", {event.converted:,} converted"
    return text


def _news(event: Notice | ShardDone | ShardRetried | ShardFailed) -> str:
    if isinstance(event, Notice):
        return f"ccrawl: {event.text}"
    if isinstance(event, ShardDone):
        made = count(event.counts.rows, "row")
        return f"done: {event.source} -> {event.file}, {made} in {duration(event.seconds)}"
    if isinstance(event, ShardRetried):
        return f"again: {event.source}: {event.why}"
    return f"failed: {event.error}"
