"""The command line: each command parses, calls the Python API and prints. Nothing is decided here."""

from __future__ import annotations

import contextlib
import importlib
import io
import os
import signal
import sys
from types import FrameType

import typer

from ccrawl.cli.help import PlainHelpGroup
from ccrawl.errors import CcrawlError

# name -> (module, one line of help). The module is imported when its command is used, so that
# `ccrawl --help` loads none of them.
COMMANDS = {
    "export": "Turn web archives into a Markdown dataset.",
    "refetch": "Fetch what every URL of archives, datasets or lists says now.",
    "convert-dataset": "Turn a dataset's HTML into Markdown.",
    "convert": "Turn one page into Markdown.",
    "check": "Read archives without converting: records, digests, damage.",
    "dedup": "Report exact and near duplicates of a dataset.",
    "index": "Keep the dedupe index: what earlier runs and crawls captured.",
    "card": "Write a dataset's card.",
    "verify": "Check a dataset against its manifest, and its archives.",
    "show": "Read rows of a dataset as a person.",
    "merge": "Join the outputs of several machines into one dataset.",
    "publish": "Put a dataset on a hub.",
    "doctor": "Say whether this machine is ready.",
    "config": "Show what options are set to, and where.",
}

EXIT_CODES = {
    0: "all done",
    1: "the run failed",
    2: "wrong usage",
    3: "finished, but some shards or pages failed, or an archive was damaged",
    130: "stopped by Ctrl-C (143: by SIGTERM); the same command goes on where it stopped",
}


class _Stopped(BaseException):
    """Ctrl-C or SIGTERM. Not KeyboardInterrupt, which typer would answer itself, without a word."""

    def __init__(self, signal_number: int) -> None:
        super().__init__(signal_number)
        self.exit_code = 128 + signal_number


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; returns the exit code. Errors are one line on stderr."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _stop)
    if sys.stdout is None:  # closed by the shell; its number must not become some other file's
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115, PTH123, for as long as the process lives
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a locale without Unicode must not end a command
            stream.reconfigure(errors="backslashreplace")
    try:
        result = _app(arguments if arguments is not None else sys.argv[1:])(
            arguments, prog_name="ccrawl", standalone_mode=False
        )
        sys.stdout.flush()  # here, where a full disk can still be told of
        return result if isinstance(result, int) else 0
    except CcrawlError as error:
        _complain(f"error: {error}")
        return error.exit_code
    except _Stopped as stopped:
        _complain("stopped; the same command again goes on where this one was stopped")
        return stopped.exit_code
    except BrokenPipeError:  # the reader of our output has gone, as `| head` does
        sys.stdout = None
        return 1
    except OSError as error:  # what no one nearer could name: a full disk behind stdout, no permission
        where = error.filename or "the output"
        _complain(f"error: {where}: {error.strerror or error}")
        sys.stdout = None
        return 1
    except UnicodeEncodeError as error:
        _complain(f"error: {error.object!r}: a name that is no UTF-8, which Parquet needs; rename it")
        return 1
    except MemoryError:
        _complain("error: out of memory; free some, or use fewer --workers, and run the same command again")
        return 1
    except Exception as error:
        show = getattr(error, "show", None)
        if show is None:
            raise
        _add_hint(error)
        show()  # typer's own usage errors
        return int(getattr(error, "exit_code", 2))


def _complain(message: str) -> None:
    if not message.isprintable():  # a name may hold line ends and what a terminal obeys
        message = "".join(
            character if character.isprintable() else character.encode("unicode_escape").decode()
            for character in message
        )
    with contextlib.suppress(OSError):  # stderr may be full or gone; the exit code says it too
        print(f"ccrawl: {message}", file=sys.stderr)


def _add_hint(error: Exception) -> None:
    from ccrawl.cli.settings import hinted

    if message := getattr(error, "message", None):
        error.message = hinted(message)  # type: ignore[attr-defined]


def _stop(number: int, _frame: FrameType | None) -> None:
    signal.signal(number, signal.SIG_DFL)  # a second one ends the process at once
    raise _Stopped(number)


def _app(arguments: list[str]) -> typer.Typer:
    """The application; only the command that is asked for is imported."""
    app = typer.Typer(
        name="ccrawl",
        cls=PlainHelpGroup,
        help=_root.__doc__,
        epilog="Example: ccrawl export crawl.warc.gz --out dataset",
        no_args_is_help=True,
        add_completion=True,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_root)
    asked = next((argument for argument in arguments if not argument.startswith("-")), None)
    for name, summary in COMMANDS.items():
        if name == asked:
            add_command(app, name)
        else:
            app.command(name, help=summary)(_not_loaded)
    return app


def add_command(app: typer.Typer, name: str) -> None:
    """Import a command's module and add it, with values from the environment and from files."""
    from ccrawl.cli.settings import ConfiguredCommand

    module = importlib.import_module(f"ccrawl.cli.{name.replace('-', '_')}")
    if hasattr(module, "app"):  # a command with commands of its own
        for inner in module.app.registered_commands:
            inner.cls = ConfiguredCommand
        app.add_typer(module.app, name=name, cls=PlainHelpGroup)
    else:
        bare = getattr(module, "RUNS_BARE", False)  # without arguments it works, not prints its help
        app.command(name, no_args_is_help=not bare, cls=ConfiguredCommand)(module.command)


def _not_loaded() -> None:
    """Stands for a command in the list of commands; never called."""


def _version(wanted: bool) -> None:
    if wanted:
        from ccrawl import __version__

        print(f"ccrawl {__version__}")
        raise typer.Exit


def _root(
    version: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, help="Print the version and exit."
    ),
) -> None:
    """Turn web archives into a Markdown Parquet dataset, and tell how much of it is the same page twice."""
