"""`ccrawl.verify`: is the dataset what its manifest, its own columns and its archives say?

    verify(directory, sources=, ...) -> VerifyReport

files.py checks a shard's file, rows.py its rows, archive.py the archive behind them; repair.py exports
again what fails.
"""

from ccrawl.dataset.verify.faults import FAULTS, Fault
from ccrawl.dataset.verify.run import VerifyReport, verify

__all__ = ["FAULTS", "Fault", "VerifyReport", "verify"]
