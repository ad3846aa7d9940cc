"""robots.txt by RFC 9309: which URLs of an origin may be asked for.

Protego finds the rules that match; here is what to read and what its absence means.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from protego import Protego

from ccrawl.fetching.urls import WebUrl

PRODUCT = "ccrawl"
MAX_ROBOTS = 500 << 10  # bytes read, the least that section 2.5 asks for
MAX_DECODED = 8 * MAX_ROBOTS
MAX_REDIRECTS = 5  # section 2.3.1.2
MAX_DELAY = 30.0  # seconds of a Crawl-delay that are kept; it is no part of the RFC

_AGENT = re.compile(r"(?im)^([ \t]*user[ -]?agent[ \t]*[:\t ][ \t]*)([^\n#]*)")
_PRODUCT = re.compile(r"[A-Za-z_-]+|\*")


@dataclass(frozen=True, slots=True)
class Rules:
    """What an origin's robots.txt says to us.

    delay: seconds between two requests, 0 where it says nothing
    error, detail: why all is forbidden although no rule says so
    """

    parsed: Protego | None = None
    delay: float = 0.0
    error: str = ""
    detail: str = ""

    def refusal(self, url: WebUrl) -> tuple[str, str] | None:
        """(error of ERRORS, detail) when the URL may not be asked for."""
        if self.error:
            return self.error, self.detail
        if self.parsed is None or self.parsed.can_fetch(url.text, PRODUCT):
            return None
        return "robots", f"{url.origin}/robots.txt forbids it"


ALLOW_ALL = Rules()


def unavailable(detail: str) -> Rules:
    """A robots.txt that could not be read forbids all (section 2.3.1.4)."""
    return Rules(error="robots-unavailable", detail=f"robots.txt: {detail}")


def parse_robots(body: bytes) -> Rules:
    """The rules of a robots.txt, whatever it is: a page in its place has no line that is a rule."""
    text = body[:MAX_ROBOTS].decode("utf-8", "replace").removeprefix("\ufeff")
    if len(body) > MAX_ROBOTS:
        text = text[: text.rfind("\n") + 1]
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    # Protego adds each rule to every agent of its group: 20,000 agents before 20,000 rules would take
    # minutes. Groups are for us, for all or for others, which also leaves the matching of names to us.
    text = _AGENT.sub(lambda match: match[1] + _agent(match[2]), text)
    parsed = Protego.parse(text)
    delay = parsed.crawl_delay(PRODUCT)
    return Rules(parsed, min(delay, MAX_DELAY) if delay and math.isfinite(delay) else 0.0)


def _agent(value: str) -> str:
    token = _PRODUCT.match(value.strip())
    name = token[0].lower() if token else ""
    return name if name in ("*", PRODUCT) else "another"
