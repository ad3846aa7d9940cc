"""Imported by the fork server: what every worker needs, loaded once and shared by all of them.

Importing is not enough: tables and models are built when they are first used. So one small page is taken
through all steps but the writing, which starts threads. A worker's first page then costs what its second does
(without this, 0.2 s).
"""

from __future__ import annotations

import os
import sys

# One thread a worker: the workers are the parallelism, and a fork server must not have threads.
for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

from ccrawl.dataset.writer import table_of  # noqa: E402
from ccrawl.html.extractors import extract  # noqa: E402
from ccrawl.run import shard  # noqa: E402, F401
from ccrawl.text.language import detect  # noqa: E402
from ccrawl.text.simhash import simhash  # noqa: E402

_PAGE = (
    b"<!DOCTYPE html><title>t</title><nav><a href=/>n</a></nav><main><h1>h</h1>"
    b"<p>Enough words for a language to be told: this is the page that warms a worker up.</p>"
    b"<ul><li>one</ul><table><tr><td>c</table><pre>code</pre></main><footer>f</footer>"
)


class _NoPandas:
    """Finds no pandas."""

    @staticmethod
    def find_spec(name: str, _path: object = None, _target: object = None) -> None:
        if name.partition(".")[0] == "pandas":
            raise ModuleNotFoundError(name)


def _settle_pandas() -> None:
    """Let pyarrow find no pandas: rows never come from it, and its import takes longer than all the rest.

    pyarrow looks once, at the first array. Whoever imports pandas later still can.
    """
    sys.meta_path.insert(0, _NoPandas)
    try:
        table_of([])
    finally:
        sys.meta_path.remove(_NoPandas)


def _warm_up() -> None:
    extracted = extract(_PAGE, "http://warm.test/")
    detect(extracted.markdown)
    simhash(extracted.markdown)


_settle_pandas()
_warm_up()
