"""The page's own title, from the places that name it."""

from __future__ import annotations

import re
from collections.abc import Mapping

# What stands between a page's title and the name of its site.
_SEPARATOR = re.compile(r"\s+[|\-–—·•»«:/]+\s+|\s*[|»｜_]\s*|\s[‹›>]\s")


def clean(text: str | None) -> str:
    """`text` on one line."""
    return " ".join(text.split()) if text else ""


def choose(title: str, meta: Mapping[str, str], headings: list[str], headline: str = "") -> str:
    """The best title: what two places agree on, else `<title>` without the site's name, else what there is.

    `title` is `<title>`, `meta` the head's properties, `headings` the page's h1 texts, `headline` JSON-LD's.
    """
    title = clean(title)
    social = clean(meta.get("og:title") or meta.get("twitter:title"))
    site = clean(meta.get("og:site_name"))
    lowered = title.lower()
    for heading in [clean(headline), *map(clean, headings)]:
        # A heading that <title> repeats is the page's title, and what is left of <title> is the site's name.
        if heading and len(heading) > 3 and heading.lower() in lowered:
            return heading
    if social and social.lower() in lowered:
        return _without_site(social, site) if social == title else social
    if title:
        return _without_site(title, site)
    return social or clean(headline) or (clean(headings[0]) if headings else "")


def _without_site(title: str, site: str) -> str:
    """Without a leading or trailing part that is the site's name by `og:site_name`."""
    if not site:
        return title
    parts = [match.span() for match in _SEPARATOR.finditer(title)]
    if parts:
        name = site.lower()
        if title[parts[-1][1] :].lower() == name:
            return title[: parts[-1][0]]
        if title[: parts[0][0]].lower() == name:
            return title[parts[0][1] :]
    return title
