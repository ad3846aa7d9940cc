"""What can be wrong with a dataset, and how it is told."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

# code -> what it means, as the command line and the documentation say it.
FAULTS = {
    "manifest": "the manifest's numbers contradict each other",
    "shard-failed": "the manifest says that this shard could not be exported",
    "shard-missing": "a number in the row of shards is not in the manifest",
    "file-missing": "a shard's file is not there",
    "file-extra": "a Parquet file that the manifest does not know",
    "leftover": "a temporary file of a run that was killed",
    "size": "the file has another size than the manifest says",
    "sha256": "the file has other bytes than the manifest says",
    "unreadable": "the file is no Parquet file, or a damaged one",
    "schema": "columns, types or order are not those of the layout",
    "footer": "the file's own metadata contradicts the manifest",
    "rows": "the file holds another number of rows than the manifest says",
    "counts": "languages or bytes of the rows add up to other sums than the manifest says",
    "null": "a value is missing in a column that has no missing values",
    "utf-8": "text that is not valid UTF-8",
    "doc-id": "doc_id is not the hash of url",
    "host": "host is not the host of url",
    "date": "crawl_date is neither empty nor YYYY-MM-DD",
    "markdown-length": "markdown_length is not the length of markdown, or markdown is empty",
    "html-length": "html_length is below 0",
    "language": "language or language_confidence out of range",
    "simhash": "simhash is not the fingerprint of markdown",
    "simhash-definition": "the file's fingerprints follow another definition; they were not checked",
    "digest": "payload_digest is no digest",
    "provenance": "extractor or warc_filename is not what the file's metadata says",
    "repeated-url": "a URL has a second row",
    "repeated-digest": "a body has a second row, though copies were dropped",
    "answer": "status, error, times or what became of the page contradict each other",
    "order": "rows are not in the order of their records",
    "card": "README.md is a card of other files than these; ccrawl card makes it again",
    "source-missing": "the archive of this shard was not among the sources given",
    "source-unreadable": "the archive of this shard can't be read",
    "source-counts": "the archive holds another number of records or pages than the manifest says",
    "source-record": "a row's record is not in its archive, or not at its offset",
    "source-value": "a row's URL, date or length is not what its record says",
    "source-digest": "a row's payload digest is not its record's",
}

# Faults that another export of the shard mends.
MENDED_BY_EXPORT = frozenset(FAULTS) - {
    "manifest",
    "shard-missing",
    "card",
    *("repeated-url", "repeated-digest", "answer"),
    "source-missing",
    "source-unreadable",
}


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault of one file.

    where: a file's path in the dataset, or a shard's source
    shard: the file in the manifest whose shard has the fault, "" for faults of no shard
    rows: how many rows have it, 0 for a fault of the file as a whole; first_row is the first of them, from 0
    """

    code: str
    where: str
    detail: str
    shard: str = ""
    rows: int = 0
    first_row: int | None = None


class Faults:
    """Collects the faults of one shard; of many rows with one fault it keeps the first and the number."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._whole: list[Fault] = []
        self._rows: dict[str, tuple[int, str, int]] = {}  # code -> first row, its detail, rows

    def add(self, code: str, detail: str) -> None:
        """A fault of the file as a whole."""
        assert code in FAULTS, code
        self._whole.append(Fault(code, self._file, detail, shard=self._file))

    def add_row(self, code: str, row: int, detail: str) -> None:
        """A fault of row `row`."""
        assert code in FAULTS, code
        first, first_detail, rows = self._rows.get(code, (row, detail, 0))
        self._rows[code] = (first, first_detail, rows + 1)

    def __iter__(self) -> Iterator[Fault]:
        yield from self._whole
        for code, (first, detail, rows) in self._rows.items():
            yield Fault(code, self._file, detail, shard=self._file, rows=rows, first_row=first)
