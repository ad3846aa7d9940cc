"""`ccrawl.verify`: is the dataset what its manifest, its own columns and its archives say?

    verify(directory, sources=, ...) -> VerifyReport

files.py checks a shard's file, rows.py its rows, archive.py the archive behind them; repair.py exports
again what fails.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ccrawl.lazily import names_of

if TYPE_CHECKING:
    from ccrawl.dataset.verify.faults import FAULTS, Fault
    from ccrawl.dataset.verify.run import VerifyReport, verify

__all__ = ["FAULTS", "Fault", "VerifyReport", "verify"]

__getattr__ = names_of(
    __name__,
    {
        "FAULTS": "faults",
        "Fault": "faults",
        "VerifyReport": "run",
        "verify": "run",
    },
)
