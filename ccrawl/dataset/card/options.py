"""What a person decides about a card."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path

from ccrawl.errors import UsageError

# Licences that dataset hubs know by these names, those that make sense for data.
_LICENSES = """
    apache-2.0 mit bsd bsd-2-clause bsd-3-clause c-uda cc cc0-1.0 cc-by-2.0 cc-by-2.5 cc-by-3.0 cc-by-4.0
    cc-by-sa-3.0 cc-by-sa-4.0 cc-by-nc-2.0 cc-by-nc-3.0 cc-by-nc-4.0 cc-by-nd-4.0 cc-by-nc-nd-3.0
    cc-by-nc-nd-4.0 cc-by-nc-sa-2.0 cc-by-nc-sa-3.0 cc-by-nc-sa-4.0 cdla-sharing-1.0 cdla-permissive-1.0
    cdla-permissive-2.0 etalab-2.0 eupl-1.1 eupl-1.2 agpl-3.0 gfdl gpl gpl-2.0 gpl-3.0 lgpl lgpl-2.1
    lgpl-3.0 mpl-2.0 odc-by odbl openrail osl-3.0 pddl postgresql unlicense wtfpl zlib unknown other
"""
OTHER_LICENSE = "terms-of-the-sources"
LICENSES = frozenset(_LICENSES.split())
_REPO = re.compile(r"[A-Za-z0-9][\w.-]{0,95}/[A-Za-z0-9][\w.-]{0,95}", re.ASCII)


@dataclass(frozen=True, slots=True)
class CardOptions:
    """Options of `ccrawl.card`. The defaults stand here and nowhere else.

    name: the dataset's name for people; None takes the folder's, or the repository's
    repo: org/name on a hub; the card then loads from there
    license, license_name, license_link: as the hub knows them; pages keep the terms of their sites
    contact: where removal requests go
    dedup_report, clusters: what `ccrawl dedup --json` printed and `--clusters` wrote
    estimate_total: shards of the whole crawl; scales the numbers, marked as an estimate
    template: a file with {{ section }} lines; None takes the template of ccrawl
    """

    name: str | None = None
    repo: str | None = None
    description: str = ""
    license: str = "other"
    license_name: str = ""  # of `other`; for that alone, and never empty then
    license_link: str = ""
    contact: str = ""
    dedup_report: Path | None = None
    clusters: Path | None = None
    estimate_total: int | None = None
    template: Path | None = None

    def __post_init__(self) -> None:
        if self.license not in LICENSES:
            raise UsageError(
                f"--license {self.license}: hubs know no licence of this name; "
                "use one such as cc0-1.0, odc-by or cc-by-4.0, or other with --license-name"
            )
        # A known licence has its own name, and hubs ask one of any other.
        name = self.license_name or OTHER_LICENSE if self.license == "other" else ""
        object.__setattr__(self, "license_name", name)
        check_repo(self.repo)


# Those that a card is made with again when nobody says otherwise. The others name files of the moment.
_REMEMBERED = ("name", "repo", "description", "license", "license_name", "license_link", "contact")
_COMMENT = re.compile(r"^<!-- ccrawl:options (\{.*\}) -->$", re.MULTILINE)


def as_comment(options: CardOptions) -> str:
    """The options as a line of the card itself, "" when all are the defaults."""
    defaults = CardOptions()
    values = {
        name: getattr(options, name)
        for name in _REMEMBERED
        if getattr(options, name) != getattr(defaults, name)
    }
    if options.license != "other":
        values.pop("license_name", None)  # follows from the licence
    if not values:
        return ""
    text = json.dumps(values)
    for character in "<>-":  # what could end the comment
        text = text.replace(character, f"\\u{ord(character):04x}")
    return f"<!-- ccrawl:options {text} -->\n"


def from_comment(card: str) -> CardOptions:
    """The options that a card remembers; the defaults where it has none, or none that can be."""
    match = _COMMENT.search(card)
    try:
        values = json.loads(match[1]) if match else {}
        return CardOptions(
            **{name: values[name] for name in _REMEMBERED if isinstance(values.get(name), str)}
        )
    except (ValueError, RecursionError, UsageError):
        return CardOptions()


def check_repo(repo: str | None) -> None:
    """UsageError for what can't be a repository's name."""
    if repo is not None and (not _REPO.fullmatch(repo) or ".." in repo or "--" in repo):
        raise UsageError(f"{repo!r} is no repository; write it as organisation/name")
