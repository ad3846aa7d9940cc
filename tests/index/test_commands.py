"""The commands that a server has to know, as the reference lists them."""

from __future__ import annotations

import re
import threading
from pathlib import Path

import redis

from ccrawl.index import Counts, Entry, kind_of_rules, normalised_key, open_index
from ccrawl.index.importer import import_sources
from ccrawl.index.types import Key

from .test_import import line, wacz

REFERENCE = Path(__file__).parents[2] / "docs/reference/index-format.md"
# What a test or the connection itself asks for.
_OTHERS = {"MONITOR", "PING", "CLIENT", "SELECT", "AUTH", "HELLO", "FLUSHDB"}


def documented() -> set[str]:
    """The commands that the reference names between `Commands:` and the next full stop."""
    listed = re.search(r"Commands: (.*?)\.\n", REFERENCE.read_text(encoding="utf-8"), re.DOTALL)
    assert listed
    return set(re.findall(r"`([A-Z]+)`", listed[1]))


def test_no_other_commands_are_sent_than_the_reference_lists(redis_url: str, tmp_path: Path) -> None:
    """Everything an index does, with MONITOR listening; scripts' own commands are heard, too."""
    heard: set[str] = set()
    patterns: set[str] = set()
    with redis.Redis.from_url(redis_url, socket_timeout=60) as client:
        client.script_flush()  # what another test has left with the server would not be sent again
    with redis.Redis.from_url(redis_url, socket_timeout=None) as client, client.monitor() as monitor:
        over = threading.Event()

        def listen() -> None:
            for said in monitor.listen():
                command, *arguments = str(said["command"]).split(" ")
                heard.add(command.upper())
                if "MATCH" in arguments:
                    patterns.add(arguments[arguments.index("MATCH") + 1])
                if "the end" in said["command"]:
                    over.set()
                    return

        listener = threading.Thread(target=listen, daemon=True)
        listener.start()
        plain: Key = b"\x04" + bytes(32)
        ruled = normalised_key(bytes(8), bytes(32))
        with open_index(redis_url) as index:
            for number, numbers in enumerate([(1, 2), (2, 3)]):
                source = wacz(
                    tmp_path / f"{number}.wacz",
                    [line(one) for one in numbers] + [line(9, mime="warc/revisit")],
                )
                import_sources(index, [str(source)], crawl=f"crawl-{number}")
            for run in ("one", "two", "three"):
                index.begin(run)
                view = index.view(run)
                view.find([plain, ruled])
                view.close()
                rows = [Entry(key, "20250304050607", "http://site.test/", 5000) for key in (plain, ruled)]
                index.stage(run, rows, Counts(2))
                index.cancel(run) if run == "three" else index.commit(run)
            index.begin("last")
            view = index.view("last")
            assert view.algorithms == ("sha256", kind_of_rules(bytes(8)))
            assert [one and one.crawl for one in view.find([plain, ruled])] == ["one", "one"]
            view.close()
            index.remove(["one", "crawl-0"], force=True)
            view = index.view("last")
            index.known_packages(["1.wacz"])
            assert index.verify() == []
            index.stats()
            index.crawls()
            index.compact()
            view.close()
        client.echo("the end")
        assert over.wait(60)
        listener.join()
    asked = heard - _OTHERS - {"ECHO"}
    assert asked == documented()
    assert patterns
    assert all(re.fullmatch(r"[^*?\[\\]+\*", pattern) for pattern in patterns)  # prefixes, for Kvrocks
