"""How long a server asks to be left alone: Retry-After (RFC 9110, section 10.2.3)."""

from __future__ import annotations

from datetime import UTC
from email.utils import parsedate_to_datetime


def pause_of(value: str, now: float) -> float | None:
    """Seconds from `now` (Unix time) until a Retry-After, at least 0; None for what can't be read."""
    value = value.strip()
    if value.isascii() and value.isdigit():
        return float(value[:20])
    try:
        date = parsedate_to_datetime(value)
        # A date has whole seconds: it may be cut by almost one. Without a zone it is in UTC.
        until = (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp() + 1
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    return max(0.0, until - now)
