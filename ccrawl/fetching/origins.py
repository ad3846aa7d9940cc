"""The robots.txt of each origin: read once, when its first URL has its turn, and kept for the others."""

from __future__ import annotations

import time
from collections import OrderedDict

from ccrawl.archives.codings import decode_body
from ccrawl.errors import PageError
from ccrawl.fetching import robots
from ccrawl.fetching.errors import FetchError
from ccrawl.fetching.exchanging import Exchanger
from ccrawl.fetching.retry_after import pause_of
from ccrawl.fetching.types import Exchange
from ccrawl.fetching.urls import BadUrl, WebUrl, join, web_url
from ccrawl.fetching.wire import REDIRECTS, codings_of, field_of

KEPT = 20_000  # origins
# The host itself can't be reached: that is said of its URLs, and says nothing of its rules.
_UNREACHED = frozenset(["connect", "tls", "url", "address", "dns", "internal"])


class Origins:
    """What robots.txt says, origin by origin. `within`: seconds for one request."""

    def __init__(self, exchanger: Exchanger, within: float) -> None:
        self._exchanger = exchanger
        self._within = within
        self._rules: OrderedDict[str, robots.Rules] = OrderedDict()

    def knows(self, url: WebUrl) -> bool:
        """Whether the rules for a URL have been read."""
        return url.origin in self._rules

    def refusal(self, url: WebUrl) -> tuple[str, str] | None:
        """(error of ERRORS, detail) when the URL may not be asked for. Rules that were not read allow all."""
        return self._rules.get(url.origin, robots.ALLOW_ALL).refusal(url)

    async def read(self, url: WebUrl) -> float:
        """Read the rules for a URL; returns the seconds that they ask for between two requests.

        Raises FetchError when the origin can't be reached at all, or asks for a pause.
        """
        rules = await self._read(web_url(f"{url.origin}/robots.txt"))
        self._rules[url.origin] = rules
        if len(self._rules) > KEPT:
            self._rules.popitem(last=False)
        return rules.delay

    async def _read(self, at: WebUrl) -> robots.Rules:
        for hop in range(robots.MAX_REDIRECTS + 1):
            answer = await self._exchanger.ask(at, max_body=robots.MAX_ROBOTS, within=self._within)
            exchange = answer.exchange()
            self._exchanger.done(answer)
            if hop == 0 and answer.error in _UNREACHED:
                raise FetchError(answer.error, answer.detail)
            if exchange is None or answer.error not in ("", "too-large", "truncated"):
                return robots.unavailable(answer.detail)
            location = field_of(exchange, "location")
            if exchange.status not in REDIRECTS or not location:
                return _rules_of(exchange)
            try:
                at = join(at, location)
            except BadUrl:
                break
        return robots.ALLOW_ALL  # section 2.3.1.2: as if there were none


def _rules_of(exchange: Exchange) -> robots.Rules:
    if exchange.status == 429:
        pause = pause_of(field_of(exchange, "retry-after").decode("latin-1"), time.time())
        raise FetchError("rate-limited", "HTTP 429 for robots.txt", pause)
    if exchange.status >= 500:
        return robots.unavailable(f"HTTP {exchange.status}")
    if not 200 <= exchange.status < 300:
        return robots.ALLOW_ALL
    try:
        return robots.parse_robots(decode_body(exchange.body, codings_of(exchange), robots.MAX_DECODED))
    except PageError as error:
        return robots.unavailable(str(error))
