"""Which bodies the dedupe index knows already, as the WARC files of a refetch name them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ccrawl.archives import digest_of
from ccrawl.archives.digests import SIZES
from ccrawl.fetching.warc import earlier_in_index
from ccrawl.fetching.warc_records import Earlier
from ccrawl.run.indexed import IndexUse

if TYPE_CHECKING:
    from ccrawl.index import Original, Package


class Originals:
    """Looks bodies up in a run's index. IndexFailure when it can't be asked."""

    def __init__(self, use: IndexUse) -> None:
        self._use = use
        self._view = use.lookup().view
        # SHA-256 first: under it a replay tool finds the original by the digest that the WARC files have.
        names = sorted(self._view.algorithms, key=lambda name: name != "sha256")
        self._algorithms = [name for name in names if name in SIZES]
        self._packages: dict[str, tuple[Package, ...]] | None = None

    def find(self, bodies: Sequence[bytes]) -> list[Earlier | None]:
        """The first copy of each body, None where the index knows none or the body is empty."""
        from ccrawl.index import key_of

        found: list[Earlier | None] = [None] * len(bodies)
        for name in self._algorithms:
            left = [at for at, body in enumerate(bodies) if body and found[at] is None]
            digests = [digest_of(bodies[at], name) for at in left]
            originals = self._view.find([key_of(digest) for digest in digests])
            for at, digest, original in zip(left, digests, originals, strict=True):
                if original:
                    found[at] = earlier_in_index(original, digest, self._package(original))
        return found

    def _package(self, original: Original) -> Package | None:
        """The file that holds the original, where the index says so."""
        if self._packages is None:
            from ccrawl.index import open_index

            with open_index(self._use.url, create=False) as index:
                self._packages = {crawl.id: crawl.packages for crawl in index.crawls()}
        packages = self._packages.get(original.crawl, ())
        return packages[original.package] if 0 <= original.package < len(packages) else None
