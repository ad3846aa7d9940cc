"""What a user asks of a refetch, as one frozen object that travels from the command to the worker."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ccrawl.dataset.schema import REFETCH
from ccrawl.errors import UsageError
from ccrawl.fetching.types import FetchOptions
from ccrawl.html.extractors import get_extractor
from ccrawl.run.options import ExportOptions

# Of an export's options, those that a refetch has no use for: it keeps a row for every URL.
_UNUSED = ("languages", "min_language_confidence")
# Of a fetch's options, those that decide what the rows say; the others say how patiently it is asked.
_DECIDING = ("max_body", "max_redirects", "ignore_robots")


@dataclass(frozen=True, slots=True)
class RefetchOptions:
    """Options of `ccrawl.refetch`. The defaults stand here, in FetchOptions and in ExportOptions.

    fetch: how to fetch
    pages: how archives are read and pages converted, as in an export; languages can't be chosen
    fetch_only: keep each page's HTML and convert none
    compare: convert the pages of archives too, so that simhash_distance is known
    warc: keep what WARC files need; where they go is the run's business, not the dataset's
    """

    fetch: FetchOptions = field(default_factory=FetchOptions)
    pages: ExportOptions = field(default_factory=ExportOptions)
    fetch_only: bool = False
    compare: bool = True
    warc: bool = False

    def check(self) -> None:
        """Raise UsageError for options that can't be carried out together."""
        if self.pages.languages:
            raise UsageError("a refetch keeps a row for every URL: languages can't be chosen")
        if get_extractor(self.pages.extractor).reads_text:
            raise UsageError(f"{self.pages.extractor} reads the text of archives, not what servers answer")
        self.fetch.check()

    def for_manifest(self) -> dict[str, Any]:
        """The options that decide what the dataset holds, as JSON values."""
        pages = self.pages.for_manifest()
        for name in _UNUSED:
            del pages[name]
        return {
            "layout": REFETCH.name,
            **pages,
            "fetch": {name: getattr(self.fetch, name) for name in _DECIDING},
            "fetch_only": self.fetch_only,
            "compare": self.comparing,
            "warc": self.warc,
        }

    @property
    def comparing(self) -> bool:
        """Whether archived pages are converted; without today's text there is nothing to compare."""
        return self.compare and not self.fetch_only
