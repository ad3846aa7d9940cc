"""What the first look at a page says about each block's surroundings: evidence for the second look.

The first model judges blocks almost alone. Here its probabilities are put back on the page: over the
block's neighbours, its containers, the blocks of its shape and those under its heading; over the container
that alone would make the best extract; and over the run from the first to the last block that is surely
content. `CONTEXT` names the columns, which `ccrawl/native/features.h` lists and `context.c` computes.
"""

from __future__ import annotations

import ctypes

import numpy as np

from ccrawl.html.content.features import Evidence, Matrix
from ccrawl.html.content.walk import Floats, Walk
from ccrawl.native import addresses, checked, library

CONTEXT_SCALES: dict[str, str] = dict(item.split("=") for item in library.ccrawl_context().decode().split())
CONTEXT: tuple[str, ...] = tuple(CONTEXT_SCALES)


def gather_context(page: Walk, evidence: Evidence, first: Floats) -> Matrix:
    """`CONTEXT` for every block (features x blocks), from the first model's probabilities."""
    rows = np.empty((len(CONTEXT), page.blocks), np.float32)
    checked(
        library.ccrawl_gather_context(
            ctypes.byref(page.arrays),
            *addresses(evidence.text.rows, evidence.places, evidence.ranges, first, rows),
        )
    )
    return rows
