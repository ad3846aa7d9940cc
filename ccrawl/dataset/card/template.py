"""A card's shape: sections put into a template, and what a person wrote put back in its place."""

from __future__ import annotations

import re
from collections.abc import Mapping

from ccrawl.errors import OutputError, UsageError

# Directly after the front matter; also how a card of ours is told from a README that someone wrote.
NOTE = (
    "<!-- Written by ccrawl card. "
    "What you write between a keep line and its end stays when the card is made again. -->"
)

_OF = re.compile(r"^<!-- ccrawl:files ([0-9a-f]{32}) -->$", re.MULTILINE)

DEFAULT = """\
{{ front_matter }}
# {{ name }}

{{ description }}

{{ keep about }}
{{ glance }}
{{ columns }}
{{ example }}
{{ load }}
{{ layout }}
{{ made }}
{{ funnel }}
{{ answers }}
{{ duplicates }}
{{ bytes }}
{{ languages }}
{{ lengths }}
{{ hosts }}
{{ dates }}
{{ estimate }}
{{ limits }}
{{ keep limits }}
{{ terms }}
{{ keep terms }}
{{ citation }}
"""

_PLACE = re.compile(r"\{\{ *(keep +)?([a-z_]+) *\}\}")
_KEPT = re.compile(
    r"^(?:<!-- ccrawl:keep ([a-z_]+) -->|# ccrawl:keep (yaml))\n"
    r"(.*?)^(?:<!-- /ccrawl:keep -->|# /ccrawl:keep)$",
    re.MULTILINE | re.DOTALL,
)
_ADDED = "added"  # where kept text goes whose place the template no longer has


def note(fingerprint: str, options: str = "") -> str:
    """What stands after the front matter. The fingerprint says which files the card's numbers are of.

    `options` is a comment line that says with which options it was made.
    """
    return f"{NOTE}\n<!-- ccrawl:files {fingerprint} -->\n{options}"


def card_is_of(card: str) -> str | None:
    """The fingerprint of the files that a card is about; None for a text that is no card of ours."""
    match = _OF.search(card)
    return match[1] if match and NOTE.split(".")[0] in card else None


def kept_texts(card: str) -> dict[str, str]:
    """What stands between the keep lines of a card, by name.

    Raises OutputError for a text that is no card of ours, or whose keep lines are broken: it would be lost.
    """
    if NOTE.split(".")[0] not in card:
        raise OutputError(
            "not written by ccrawl card, so it is left alone; move its text away, "
            "or --overwrite, and put what shall stay between the keep lines of the new card"
        )
    card = card.replace("\r\n", "\n")
    texts: dict[str, str] = {}
    for match in _KEPT.finditer(card):
        name = match[1] or match[2]
        texts[name] = texts.get(name, "") + match[3]
    opened = len(re.findall(r"^(?:<!--|#) ccrawl:keep ", card, re.MULTILINE))
    if opened != len(_KEPT.findall(card)):
        raise OutputError(
            "a keep line has no end: write <!-- /ccrawl:keep --> on a line of its own after its text"
        )
    return texts


def fill(template: str, sections: Mapping[str, str], kept: Mapping[str, str]) -> str:
    """The template with sections and kept texts in their places. A section without text takes no room.

    Raises UsageError for a place that is not known, and for a template without front matter at its head.
    """
    template = template.replace("\r\n", "\n")
    if not re.match(r"\{\{ *front_matter *\}\}\n", template):
        raise UsageError("--template: its first line must be {{ front_matter }}, which hubs read")
    used = {"yaml"}  # is in the front matter

    def place(match: re.Match[str]) -> str:
        keep, name = match.groups()
        if keep:
            used.add(name)
            return f"<!-- ccrawl:keep {name} -->\n{kept.get(name, '')}<!-- /ccrawl:keep -->\n"
        if name not in sections:
            known = ", ".join(sections)
            raise UsageError(f"--template: no section {name!r}; there are {known}, and keep NAME")
        return sections[name]

    # One pass: what a section says is never searched for places.
    lines = []
    for line in template.splitlines(keepends=True):
        filled = _PLACE.sub(place, line)
        lines.append("" if not filled.strip() and line.strip() else filled)
    homeless = "".join(text for name, text in kept.items() if name not in used and text.strip())
    if homeless:
        lines.append(f"\n<!-- ccrawl:keep {_ADDED} -->\n{homeless}<!-- /ccrawl:keep -->\n")
    return "".join(lines)
