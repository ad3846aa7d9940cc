"""ccrawl turns web archives into a Markdown dataset, and tells how much of it is the same page twice.

Every command of the command line is a function here first. Importing this package is cheap: each
function loads what it needs when it is called.

    export          web archives -> Markdown dataset
    refetch         archives, datasets or lists of URLs -> dataset of what they answer today
    convert_dataset dataset with an html column -> Markdown dataset
    dedup           dataset -> exact and near duplicates
    card            dataset -> its card, README.md and pictures
    verify          dataset -> what is wrong with it
    merge           outputs of several machines -> one dataset
    publish         dataset -> a hub
    read_captures   web archive -> captures, one at a time
    check           web archives -> records, digests and damage
    markdown        one page's HTML -> Markdown
    simhash         Markdown -> 64-bit fingerprint
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ccrawl.lazily import names_of

if TYPE_CHECKING:
    from ccrawl.archives import Capture, CaptureOptions, Source, Tally
    from ccrawl.archives.check import check_sources as check
    from ccrawl.dataset.card import card
    from ccrawl.dataset.merge import merge
    from ccrawl.dataset.publish import publish
    from ccrawl.dataset.verify import verify
    from ccrawl.duplicates import dedup
    from ccrawl.fetching.convert import ConvertDatasetReport
    from ccrawl.fetching.options import RefetchOptions
    from ccrawl.fetching.run import RefetchReport
    from ccrawl.html.options import ExtractOptions
    from ccrawl.run.events import Listener
    from ccrawl.run.export import ExportReport
    from ccrawl.run.options import ExportOptions
    from ccrawl.spark import Runner

__version__ = "0.1.0"

__all__ = [
    "__version__",
    "card",
    "check",
    "convert_dataset",
    "dedup",
    "export",
    "markdown",
    "merge",
    "publish",
    "read_captures",
    "refetch",
    "simhash",
    "verify",
]


__getattr__ = names_of(
    __name__,
    {
        "card": "dataset.card",
        "check": "archives.check:check_sources",
        "dedup": "duplicates",
        "merge": "dataset.merge",
        "publish": "dataset.publish",
        "verify": "dataset.verify",
    },
)


def export(
    sources: str | os.PathLike[str] | Sequence[str | os.PathLike[str] | Source],
    out: str | os.PathLike[str],
    *,
    options: ExportOptions | None = None,
    workers: int | None = None,
    overwrite: bool = False,
    dedup_index: str | None = None,
    commit: bool = True,
    duplicates: str | os.PathLike[str] | None = None,
    profile: str | os.PathLike[str] | None = None,
    card: bool = True,
    runner: Runner = "local",
    spark_master: str | None = None,
    listener: Listener | None = None,
) -> ExportReport:
    """Turn web archives into a Markdown dataset in the folder `out`.

    `sources` are paths, folders, globs or URLs; each file found is a shard, numbered in sorted order. They
    may also be Source objects, as `archives.crawl_sources` and `archives.location_sources` make them.
    `workers` processes (default: the cores this process may use) convert; the bytes written do not depend on
    their number. What an earlier run has finished is left alone, unless `overwrite`.

    `dedup_index` is a folder or a redis:// URL: what runs committed there have captured is dropped, and this
    run is committed when all its shards are done, unless not `commit`. `duplicates` is a Parquet file to
    write the list of dropped captures to, `profile` a file for a sampled profile of the workers: .html, .json
    (for speedscope) or .txt. The dataset's card is written at the end, unless not `card`.

    With `runner` "spark" each shard is a task of the running Spark session, or of one that is started where
    `spark_master` (or Spark's configuration) says; `out` and local sources must be there under the same name
    on all machines. The bytes are those of a local run.

    Worker processes import the caller's main module, as multiprocessing does: a script calls this
    under `if __name__ == "__main__":`.

    Raises UsageError (the call, a source that is not there) and OutputError (the folder, the disk). Shards
    and pages that failed are in the report; with `options.strict` the first failure raises.
    """
    from ccrawl.archives.sources import Source, find_sources
    from ccrawl.dataset.layout import check_crawl_id
    from ccrawl.html.extractors import get_extractor
    from ccrawl.run.closing import write_card
    from ccrawl.run.events import ignore
    from ccrawl.run.export import run_export
    from ccrawl.run.options import ExportOptions, normal_languages
    from ccrawl.spark import spark_of

    options = options or ExportOptions()
    options = dataclasses.replace(options, languages=normal_languages(options.languages))
    spark = spark_of(runner, spark_master, workers=workers, dedup_index=dedup_index)
    check_crawl_id(options.crawl)
    get_extractor(options.extractor)
    given = [sources] if isinstance(sources, str | os.PathLike) else list(sources)
    paths = [os.fspath(source) for source in given if not isinstance(source, Source)]
    found = [source for source in given if isinstance(source, Source)]
    report = run_export(
        found + (find_sources(paths) if paths or not found else []),
        Path(out),
        options,
        workers=workers or _cores(),
        spark=spark,
        overwrite=overwrite,
        index=dedup_index,
        commit=commit,
        duplicates=Path(duplicates) if duplicates is not None else None,
        profile=Path(profile) if profile is not None else None,
        listener=listener or ignore,
    )
    if card:
        write_card(Path(out), listener or ignore, here=spark is not None)
    return report


def refetch(
    sources: str | os.PathLike[str] | Sequence[str | os.PathLike[str] | Source],
    out: str | os.PathLike[str],
    *,
    options: RefetchOptions | None = None,
    workers: int | None = None,
    overwrite: bool = False,
    dedup_index: str | None = None,
    commit: bool = True,
    cache: str | os.PathLike[str] | None = None,
    warc: str | os.PathLike[str] | None = None,
    wacz: str | os.PathLike[str] | None = None,
    card: bool = True,
    listener: Listener | None = None,
) -> RefetchReport:
    """Fetch every URL of `sources` and write what came, a row for each, to a dataset in the folder `out`.

    `sources` are archives as `export` takes them, datasets (folders, Parquet files), lists of URLs (text, a
    URL or a JSON object a line) or "-" for a list on stdin; each file is a shard, but for lists, which are
    cut into shards of 50,000 lines. A URL that comes again has no second row. Rows stand in the order of the
    input. `workers` processes (default: one less than the cores) convert beside the fetch. What an earlier
    run has fetched is not fetched again, even when it was killed, unless `overwrite`.

    `cache` is a folder that keeps remote archives. `warc` is a folder for WARC files of all that went over
    the wire, `wacz` a file that packs them.
    `dedup_index`, `commit` and `card` are as in `export`.

    Raises UsageError (the call, a source that is not there, no contact for live hosts), SourceError (a list)
    and OutputError (the folder, the disk). A fetch that failed is a row. Shards and pages that failed are in
    the report; with `options.pages.strict` the first failed shard raises.
    """
    from ccrawl.archives import Source
    from ccrawl.dataset.layout import check_crawl_id
    from ccrawl.fetching.options import RefetchOptions
    from ccrawl.fetching.targets import ARCHIVE, Input, find_inputs
    from ccrawl.fetching.work import FOLDER
    from ccrawl.html.extractors import get_extractor
    from ccrawl.index.open import missing
    from ccrawl.run.closing import write_card
    from ccrawl.run.events import ignore

    try:
        from ccrawl.fetching.run import run_refetch
    except ImportError as error:
        raise missing("a refetch", "refetch") from error

    options = options or RefetchOptions()
    options.check()
    check_crawl_id(options.pages.crawl)
    get_extractor(options.pages.extractor)
    given = [sources] if isinstance(sources, str | os.PathLike) else list(sources)
    paths = [os.fspath(source) for source in given if not isinstance(source, Source)]
    found = [Input(ARCHIVE, source) for source in given if isinstance(source, Source)]
    report = run_refetch(
        found
        + (
            find_inputs(paths, Path(out) / FOLDER, cache=os.fspath(cache or "")) if paths or not found else []
        ),
        Path(out),
        options,
        workers=workers or max(1, _cores() - 1),
        overwrite=overwrite,
        index=dedup_index,
        commit=commit,
        warc=Path(warc) if warc is not None else None,
        wacz=Path(wacz) if wacz is not None else None,
        listener=listener or ignore,
    )
    if card:
        write_card(Path(out), listener or ignore)
    return report


def convert_dataset(
    sources: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    out: str | os.PathLike[str],
    *,
    options: ExportOptions | None = None,
    keep_html: bool = False,
    workers: int | None = None,
    overwrite: bool = False,
    card: bool = True,
    listener: Listener | None = None,
) -> ConvertDatasetReport:
    """Convert the HTML of datasets to Markdown, into a dataset of a refetch's layout in the folder `out`.

    `sources` are Parquet files, folders, globs or URLs with the columns url and html (bytes, or text that was
    decoded before); `refetch` with `fetch_only` writes such. Each file is a shard. Other columns of the
    layout are taken over, and the rest left out; html is left out unless `keep_html`. Of `options` those
    count that say how pages are converted. What an earlier run has finished is left alone, unless
    `overwrite`.

    Raises UsageError and OutputError; a file that can't be read, and pages that can't be converted, are in
    the report. With `options.strict` the first failed shard raises.
    """
    from ccrawl.fetching.convert import run_convert
    from ccrawl.html.extractors import get_extractor
    from ccrawl.run.closing import write_card
    from ccrawl.run.events import ignore
    from ccrawl.run.options import ExportOptions

    options = options or ExportOptions()
    get_extractor(options.extractor)
    given = [sources] if isinstance(sources, str | os.PathLike) else list(sources)
    report = run_convert(
        [os.fspath(source) for source in given],
        Path(out),
        options,
        workers=workers or _cores(),
        keep_html=keep_html,
        overwrite=overwrite,
        listener=listener or ignore,
    )
    if card:
        write_card(Path(out), listener or ignore)
    return report


def read_captures(
    source: Source | str | os.PathLike[str],
    *,
    options: CaptureOptions | None = None,
    tally: Tally | None = None,
) -> Iterator[Capture]:
    """The pages of one archive, in record order, each with its headers, body and offset.

    Damage is stepped over and noted in `tally`, as are records that are no pages. Raises SourceError when the
    archive can't be read at all.
    """
    from ccrawl import archives

    path = source if isinstance(source, archives.Source | str) else os.fspath(source)
    return archives.read_captures(path, options=options or archives.CaptureOptions(), tally=tally)


def markdown(
    html: bytes,
    url: str | None = None,
    *,
    content_type: str | None = None,
    extractor: str = "main",
    options: ExtractOptions | None = None,
) -> str:
    """The Markdown of one page; empty when it has no text.

    `html` is the page's bytes as the server sent them, content codings removed; `content_type` the HTTP
    header's value where known; links are resolved against `url`. Raises UsageError for an unknown extractor.
    """
    from ccrawl.html.extractors import extract

    return extract(html, url, content_type=content_type, extractor=extractor, options=options).markdown


def simhash(markdown: str) -> int:
    """The 64-bit fingerprint of a Markdown text, definition `words3-xxh3-64/1`; 0 when it has no words."""
    from ccrawl.text.simhash import simhash as fingerprint

    return fingerprint(markdown)


def _cores() -> int:
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on this system
        return os.cpu_count() or 1
