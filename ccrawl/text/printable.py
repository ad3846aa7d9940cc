"""Texts that come straight from an archive or a server, fit for a column."""

from __future__ import annotations

import re

# What Arrow's consumers, databases and YAML refuse; the renderer keeps it out of the Markdown.
_CONTROL = re.compile("[\x00-\x1f\x7f\ud800-\udfff\ufffe\uffff]")


def printable(text: str) -> str:
    """`text` without control characters, lone surrogates and noncharacters."""
    return text if text.isprintable() else _CONTROL.sub("", text)
