"""Where a refetch's URLs come from: archives, datasets and lists, each a shard or several.

archive   the URL of every page that an export would read, with what the archive knows of it
dataset   the url column of a Parquet file, with the columns that say what was archived
list      a URL a line, or a JSON object a line that has a "url"; blank lines and # comments are no URLs
"""

from __future__ import annotations

import codecs
import gzip
import io
import json
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from ccrawl.archives import Source, Tally, find_sources, read_captures
from ccrawl.archives.fields import target_url
from ccrawl.archives.sources import SUFFIXES
from ccrawl.dataset.files import write_atomically
from ccrawl.duplicates.sources import find_sources as find_parquet
from ccrawl.duplicates.sources import read_errors
from ccrawl.errors import SourceError, UsageError, reason
from ccrawl.fetching.columns import NUMBER, TEXT, rows_as
from ccrawl.fetching.types import Archived
from ccrawl.run.options import ExportOptions
from ccrawl.text.printable import printable
from ccrawl.text.simhash import DEFINITION

ARCHIVE, DATASET, LIST = "archive", "dataset", "list"

# Lines of a list that make a shard: what is fetched for one stays on the disk until its file is written.
PART_LINES = 50_000

_LIST_SUFFIXES = (".txt", ".jsonl", ".ndjson", ".urls", ".lst", ".csv")
_LONGEST_LINE = 1 << 20  # bytes
_START = 4096  # bytes of a file that tell what it is
_BATCH_ROWS = 4096
_CRAWL = re.compile(r"(?:^|/)crawl=([^/]+)/")
_STDIN = "-"
STDIN = "stdin.txt"


class Wanted(NamedTuple):
    """A URL to fetch, and what is known of it."""

    url: str
    archived: Archived


@dataclass(frozen=True, slots=True)
class Input:
    """One shard of a refetch. start, records: the part of a list, in bytes and lines; None for all of it."""

    kind: str
    source: Source
    start: int = 0
    records: int | None = None


@dataclass(slots=True)
class Read:
    """What reading an input met: records == URLs yielded + sum(skipped.values())."""

    records: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    archive: Tally | None = None


def find_inputs(arguments: Sequence[str], spool: Path, *, cache: str = "") -> list[Input]:
    """The shards that arguments stand for: lists first, then datasets, then archives, each kind sorted.

    `-` is a list on stdin, which is kept in the folder `spool` so that a run can go on with it. Raises
    UsageError when an argument names nothing, SourceError when a list can't be read.
    """
    kinds: dict[str, list[str]] = {LIST: [], DATASET: [], ARCHIVE: []}
    for argument in arguments:
        kinds[_kind(argument)].append(argument)
    inputs: dict[tuple[str, ...], Input] = {}
    for path in sorted(set(kinds[LIST])):
        for part in _parts(_spooled(spool) if path == _STDIN else path):
            inputs[LIST, path, str(part.start)] = part
    for found in find_parquet(kinds[DATASET]) if kinds[DATASET] else ():
        inputs[DATASET, found.name] = Input(DATASET, dataset_source(found.name))
    archives = find_sources(kinds[ARCHIVE], cache=cache) if kinds[ARCHIVE] else []
    return [*inputs.values(), *(Input(ARCHIVE, source) for source in archives)]


def _kind(argument: str) -> str:
    path = argument.removeprefix("file://").partition("?")[0].lower()
    bare = path.removesuffix(".gz")
    if argument == _STDIN or bare.endswith(_LIST_SUFFIXES):
        return LIST
    if path.endswith(".parquet"):
        return DATASET
    if path.endswith((*SUFFIXES, ".json", ".zip", "/")) or "://" in argument:
        return ARCHIVE
    local = Path(argument)
    if local.is_dir():
        return DATASET if any(local.rglob("*.parquet")) else ARCHIVE
    try:
        with local.open("rb") as file:
            start = file.read(_START)
    except OSError:
        return ARCHIVE  # a pattern, or what its reader will tell of
    if start.startswith(b"PAR1"):
        return DATASET
    return LIST if re.match(rb"(?:\xef\xbb\xbf)?\s*(?:#|https?://|\{)", start) else ARCHIVE


def _spooled(folder: Path) -> str:
    path = folder / STDIN
    folder.mkdir(parents=True, exist_ok=True)
    write_atomically(path, sys.stdin.buffer.read())
    return str(path)


def crawl_of_path(path: str) -> str:
    """The crawl whose Hive partition a file lies in, "" for none."""
    found = _CRAWL.search(path)
    return found[1] if found else ""


def dataset_source(name: str) -> Source:
    """A Parquet file as a shard, named by its crawl and number."""
    path = Path(name)
    crawl = crawl_of_path(name)
    return Source(
        name=f"crawl={crawl}/{path.name}" if crawl else path.name,
        path=name,
        size=path.stat().st_size if path.is_file() else None,
    )


def _parts(path: str) -> Iterator[Input]:
    """The shards of a list, cut at PART_LINES lines."""
    source = Source(Path(path).name, path, None)
    starts = []
    at = 0
    with _opened(path) as file:
        _check_text(path, file.peek(_START)[:_START])
        for number, (_, length) in enumerate(_lines(file)):
            if number % PART_LINES == 0:
                starts.append(at)
            at += length
    source = replace(source, size=Path(path).stat().st_size)
    if len(starts) <= 1:
        yield Input(LIST, source)
        return
    for part, start in enumerate(starts):
        yield Input(LIST, replace(source, name=f"{source.name}#{part}"), start, PART_LINES)


def _check_text(path: str, start: bytes) -> None:
    """Refuse what can't be a list in UTF-8 with a line for each URL: it would be read as other URLs."""
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) or b"\0" in start:
        raise SourceError(
            f"{path}: is no text in UTF-8 (UTF-16?); iconv -f UTF-16 -t UTF-8 makes it of a list in UTF-16"
        )
    if b"\r" in start.rstrip(b"\r") and b"\n" not in start:
        raise SourceError(f"{path}: its lines end with CR alone; tr '\\r' '\\n' makes lines of them")


class _opened:
    """A list as bytes, decompressed; its faults are told with its name."""

    def __init__(self, path: str) -> None:
        self._path = path

    def __enter__(self) -> io.BufferedReader:
        try:
            if self._path.lower().endswith(".gz"):
                self._file: io.BufferedReader = io.BufferedReader(gzip.GzipFile(self._path))
            else:
                self._file = Path(self._path).open("rb")
        except OSError as error:
            raise UsageError(f"{self._path}: can't be read ({error.strerror or error})") from error
        return self._file

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        self._file.close()
        if isinstance(error, OSError | EOFError):
            raise SourceError(f"{self._path}: can't be read ({error})") from error


def _lines(file: BinaryIO) -> Iterator[tuple[bytes, int]]:
    """Each line and its length in bytes; of one that is longer than _LONGEST_LINE only so much is read."""
    while line := file.readline(_LONGEST_LINE + 1):
        length = len(line)
        while not line.endswith(b"\n") and (rest := file.readline(_LONGEST_LINE)):
            line, length = line[:_LONGEST_LINE] + rest[-1:], length + len(rest)
        yield line, length


def read_wanted(one: Input, options: ExportOptions, read: Read) -> Iterator[Wanted]:
    """The URLs of an input, in its order, repeated ones too; what is no URL is counted in `read`.

    `options` say which of an archive's records are pages, and how many URLs of each shard are wanted. Raises
    SourceError when the input can't be read, ArchiveError at damage with `options.strict`.
    """
    if one.kind == ARCHIVE:
        return _of_archive(one, options, read)
    found = _of_dataset(one, read) if one.kind == DATASET else _of_list(one, read)
    return islice(found, options.limit)


def _of_archive(one: Input, options: ExportOptions, read: Read) -> Iterator[Wanted]:
    read.archive = tally = Tally()
    for capture in read_captures(one.source, options=options.for_reading(), tally=tally):
        archived = Archived(
            crawl_id=options.crawl,
            crawl_date=capture.date.strftime("%Y-%m-%d") if capture.date else "",
            warc_record_id=printable(capture.record_id),
            payload_digest=str(capture.payload_digest or capture.compute_digest()),
        )
        yield from _counted(_wanted(capture.url, archived), read)


def _of_list(one: Input, read: Read) -> Iterator[Wanted]:
    with _opened(one.source.path) as file:
        file.seek(one.start)
        for line, length in islice(_lines(file), one.records):
            if length > _LONGEST_LINE:
                read.records += 1
                read.skipped["too-long"] += 1
                continue
            text = line.decode("utf-8-sig", "replace").strip()
            if not text or text.startswith("#"):
                continue
            read.records += 1
            yield from _counted(_of_object(text) if text.startswith("{") else _wanted(text, Archived()), read)


def _wanted(url: str, archived: Archived) -> Wanted | str:
    """What is to be fetched, or the cause why nothing is: without its NUL a URL would be another one."""
    return "has-nul" if "\0" in url else Wanted(printable(target_url(url)), archived)


def _counted(wanted: Wanted | str, read: Read) -> Iterator[Wanted]:
    if isinstance(wanted, str):
        read.skipped[wanted] += 1
    else:
        yield wanted


def _of_object(text: str) -> Wanted | str:
    """The URL of a JSON line with what else it says of the capture, or the cause why there is none."""
    try:
        values = json.loads(text)
    except (ValueError, RecursionError):
        return "bad-json"
    url = values.get("url")
    if not isinstance(url, str) or not url.strip():
        return "no-url"
    told = {
        name: printable(value)
        for name in ("crawl_id", "crawl_date", "warc_record_id", "payload_digest")
        if isinstance(value := values.get(name), str)
    }
    simhash = values.get("simhash")
    known = simhash if type(simhash) is int and 0 < simhash < 1 << 64 else None
    return _wanted(url, Archived(**told, simhash=known))


def _of_dataset(one: Input, read: Read) -> Iterator[Wanted]:
    (found,) = find_parquet([one.source.path])
    crawl = crawl_of_path(one.source.path)
    try:
        with found.open() as opened, pq.ParquetFile(opened) as file:
            if "url" not in file.schema_arrow.names:
                raise SourceError(f"{one.source.path}: has no column url")
            definition = (file.metadata.metadata or {}).get(b"ccrawl.simhash", b"").decode("utf-8", "replace")
            types = {name: kind for name, kind in _KNOWN.items() if name in file.schema_arrow.names}
            if definition != DEFINITION:  # a fingerprint of another definition says nothing
                types.pop("simhash", None)
            for batch in file.iter_batches(_BATCH_ROWS, columns=list(types)):
                for values in rows_as(batch, types, one.source.path):
                    read.records += 1
                    url = values["url"]
                    yield from _counted(_wanted(url, _archived(values, crawl)) if url else "no-url", read)
    except read_errors() as error:
        raise SourceError(f"{one.source.path}: can't be read ({reason(error)})") from error


_KNOWN = {
    **dict.fromkeys(("url", "crawl_id", "crawl_date", "warc_record_id", "payload_digest", "digest"), TEXT),
    "simhash": NUMBER,
}


def _archived(values: dict[str, Any], crawl: str) -> Archived:
    """What a row says of its capture."""
    digest = values.get("payload_digest") or ""
    if not digest and values.get("digest"):  # a refetch's, without its algorithm
        digest = f"sha1:{values['digest']}"
    return Archived(
        crawl_id=values.get("crawl_id") or crawl,
        crawl_date=values.get("crawl_date") or "",
        warc_record_id=values.get("warc_record_id") or "",
        payload_digest=digest,
        simhash=values.get("simhash") or None,
    )


def targets_schema() -> pa.Schema:
    """The columns of a shard's list of targets, as `plan` writes it."""
    return pa.schema(
        [
            ("url", pa.string()),
            ("crawl_id", pa.string()),
            ("crawl_date", pa.string()),
            ("warc_record_id", pa.string()),
            ("payload_digest", pa.string()),
            ("simhash", pa.uint64()),
        ]
    )
