"""Imported by the fork server: what every worker needs, loaded once and shared by all of them."""

from __future__ import annotations

import os

# One thread a worker: the workers are the parallelism, and a fork server must not have threads.
for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

import ccrawl.run.shard  # noqa: E402
import ccrawl.text.language  # noqa: E402

ccrawl.text.language.load()
