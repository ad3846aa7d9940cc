"""446 archives of 60 public projects: every one read, and counted against independent readers."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from fastwarc.warc import ArchiveIterator as FastIterator
from warcio.archiveiterator import ArchiveIterator as WarcioIterator

from ccrawl.archives import Damage, Tally, find_sources, read_captures
from ccrawl.archives.reader import read_records
from ccrawl.errors import PageError, SourceError

from . import reference

ARCHIVES = Path(__file__).resolve().parents[2] / ".." / "shared" / "data" / "archives"
FILES = sorted(path for path in ARCHIVES.glob("*") if path.suffix != ".tsv") if ARCHIVES.is_dir() else []
# Three records of gigabytes in bzip2: sound, but minutes of work for the reference reader.
SLOW = {"slyrz__warc__bench.warc.bz2"}
pytestmark = [
    pytest.mark.shared,
    pytest.mark.skipif(not FILES, reason="no shared data beside the checkout"),
]


def _ours(path: Path) -> tuple[list[reference.Block], list[Damage]]:
    found: list[reference.Block] = []
    damage: list[Damage] = []
    for source in find_sources([str(path)]):
        for _, record in read_records(source, keep=lambda _: 1 << 30, damaged=damage.append):
            found.append(reference.Block(record.head.type, record.block))
    return found, damage


def _expected(path: Path) -> tuple[list[reference.Block], bool]:
    """What the reference reader finds, and whether it found the file sound."""
    found: list[reference.Block] = []
    try:
        for data in reference.files(path.read_bytes()):
            found += reference.records(data)
    except reference.Unsound as unsound:
        return found + unsound.found, False
    except Exception:  # a decompressor's own error: the file is damaged
        return found, False
    return found, bool(found)


@pytest.mark.parametrize(
    "path", [path for path in FILES if path.name not in SLOW], ids=lambda path: path.name
)
def test_every_record_of_the_reference_reader_is_read(path: Path) -> None:
    expected, sound = _expected(path)
    try:
        found, damage = _ours(path)
    except SourceError:
        assert not sound
        return
    blocks = [one.block for one in found]
    wanted = [one.block for one in expected]
    if sound:
        assert blocks == wanted
        assert not damage
    else:
        assert damage
        # Nothing that was sound before the damage is lost. (A checksum that fails speaks against its record.)
        missing = Counter(wanted) - Counter(blocks)
        assert missing.total() <= sum(one.cause.startswith("bad-") for one in damage)


def _fastwarc(path: Path) -> int:
    with path.open("rb") as file:
        return sum(1 for _ in FastIterator(file, parse_http=False))


def _warcio(path: Path) -> int:
    with path.open("rb") as file:
        return sum(1 for _ in WarcioIterator(file, arc2warc=False))


@pytest.mark.parametrize(("count", "at_least"), [(_fastwarc, 180), (_warcio, 180)])
def test_other_readers_count_the_same_where_they_read_to_the_end(
    count: Callable[[Path], int], at_least: int
) -> None:
    agreed = 0
    differ = []
    for path in FILES:
        if not path.name.endswith((".warc", ".warc.gz", ".arc", ".arc.gz")) or path.name in SLOW:
            continue
        try:
            found, damage = _ours(path)
            theirs = count(path)
        except Exception:  # they give up: nothing to compare
            continue
        if not damage:
            agreed += theirs == len(found)
            differ += [path.name] if theirs > len(found) else []
    assert agreed >= at_least
    assert not differ  # nobody finds more records in a file that we call sound


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_every_file_is_accounted_for(path: Path) -> None:
    tally = Tally()
    captures = 0
    with contextlib.suppress(SourceError):
        for capture in read_captures(path, tally=tally):
            captures += 1
            with contextlib.suppress(PageError):
                capture.payload()
    assert tally.records == captures + tally.skipped.total()
    assert all(damage.source for damage in tally.damage)
