"""What a refetch keeps beside the dataset while it is under way: a folder of few files a shard.

    refetch/NNNNNN.targets.arrow   the plan, with NNNNNN.targets.json about it
    refetch/NNNNNN.fetched         the journal of fetches
    refetch/NNNNNN.converted       the journal of conversions
    refetch/NNNNNN.archived.arrow  fingerprints of the archived pages
    refetch/NNNNNN.urls            64 bits a URL, by which other shards know what this one has

All but the last go when the shard's Parquet file is in place.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ccrawl.fetching.plan import remove_plan

FOLDER = "refetch"


def all_keys(directory: Path) -> list[Path]:
    """The files of keys that the shards of a dataset have left."""
    return sorted((directory / FOLDER).glob("*.urls"))


@dataclass(frozen=True, slots=True)
class Work:
    """The files of one shard. directory: the dataset's folder."""

    directory: Path
    number: int

    @property
    def plan(self) -> Path:
        return self._path("targets.arrow")

    @property
    def fetched(self) -> Path:
        return self._path("fetched")

    @property
    def converted(self) -> Path:
        return self._path("converted")

    @property
    def compared(self) -> Path:
        return self._path("archived.arrow")

    @property
    def keys(self) -> Path:
        return self._path("urls")

    def remove(self) -> None:
        """Take away all but the keys."""
        for path in (self.fetched, self.converted, self.compared):
            path.unlink(missing_ok=True)
        remove_plan(self.plan)

    def _path(self, kind: str) -> Path:
        return self.directory / FOLDER / f"{self.number:06d}.{kind}"
