"""Writing a card: facts -> pictures and sections -> template -> README.md and assets/."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from ccrawl.dataset.card.dedup import DedupFacts, read_dedup
from ccrawl.dataset.card.estimate import Estimate, estimate
from ccrawl.dataset.card.facts import Facts, read_facts
from ccrawl.dataset.card.front_matter import front_matter
from ccrawl.dataset.card.options import CardOptions, as_comment, from_comment
from ccrawl.dataset.card.parts import Card
from ccrawl.dataset.card.pictures import Bar, across, upright
from ccrawl.dataset.card.sections import sections
from ccrawl.dataset.card.template import DEFAULT, card_is_of, fill, kept_texts, note
from ccrawl.dataset.files import write_atomically
from ccrawl.errors import OutputError, UsageError, reason

README = "README.md"
ASSETS = "assets"
_LANGUAGES_DRAWN = 10


@dataclass(frozen=True, slots=True)
class CardReport:
    """What was written, and the numbers in it. kept: names of a person's texts that were taken over."""

    path: Path
    pictures: tuple[Path, ...]
    kept: tuple[str, ...]
    facts: Facts
    dedup: DedupFacts | None
    estimates: tuple[Estimate, ...]


def card(
    directory: str | os.PathLike[str],
    *,
    options: CardOptions | None = None,
    out: str | os.PathLike[str] | None = None,
    overwrite: bool = False,
) -> CardReport:
    """Write the card of the dataset in `directory`: README.md and the pictures in assets/, there or in `out`.

    Every number is read from the manifest and the files. What a person wrote between the keep lines of a
    former card stays, and without `options` those of the former card hold (but for files they named). The
    same dataset and options give the same bytes.

    Raises OutputError when the dataset can't be read or contradicts its manifest, and when a README.md stands
    there that ccrawl did not write (`overwrite` replaces it); UsageError for wrong options.
    """
    folder = Path(directory)
    target = Path(out) if out is not None else folder
    if options is None:
        options = CardOptions() if overwrite else remembered_options(target)
    kept = {} if overwrite else _kept(target / README)
    template = _template(options.template)
    facts = read_facts(folder)
    dedup = read_dedup(options, facts)
    estimates = estimate(facts, options.estimate_total) if options.estimate_total is not None else ()
    drawn = pictures(facts, dedup)
    folder_name = folder.resolve().name
    name = options.name or (options.repo or folder_name).rpartition("/")[2]
    content = Card(facts, options, name, folder_name, dedup, estimates, frozenset(drawn))
    head = front_matter(facts, options, name, kept.get("yaml", "")) + note(
        facts.manifest.fingerprint, as_comment(options)
    )
    text = fill(template, {"front_matter": head, **sections(content)}, kept)
    try:
        (target / ASSETS).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"{target}: can't be written ({reason(error)})") from error
    paths = []
    for file, svg in drawn.items():
        paths.append(target / ASSETS / file)
        write_atomically(paths[-1], svg.encode())
    write_atomically(target / README, text.encode())
    taken_over = tuple(sorted(name for name, text in kept.items() if text.strip()))
    return CardReport(target / README, tuple(paths), taken_over, facts, dedup, estimates)


def remembered_options(directory: Path) -> CardOptions:
    """The options that the card in `directory` was made with, the defaults where there is no card of ours."""
    try:
        text = (directory / README).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return CardOptions()
    return from_comment(text) if card_is_of(text) is not None else CardOptions()


def pictures(facts: Facts, dedup: DedupFacts | None) -> dict[str, str]:
    """The pictures that the facts give, SVG by file name."""
    drawn = {}
    if facts.counts.records:
        drawn["funnel.svg"] = across("From records to rows", _funnel(facts))
    if facts.rows:
        drawn["languages.svg"] = across("Rows by language", _languages(facts))
        classes = [Bar(_bound(low), rows) for low, rows in facts.length_classes]
        drawn["lengths.svg"] = upright(
            "Rows by length of their Markdown", classes, "bytes of Markdown: from this length up to the next"
        )
    if dedup is not None and dedup.distances:
        bars = [Bar(str(bits), rows) for bits, rows in dedup.distances]
        drawn["distances.svg"] = upright(
            "Near duplicates by distance", bars, "bits of the fingerprint that differ from the document kept"
        )
    return drawn


def _funnel(facts: Facts) -> list[Bar]:
    counts = facts.counts
    stages = [
        ("records", counts.records),
        ("URLs" if facts.answers else "pages: HTML, status 200", counts.pages),
    ]
    left = counts.pages
    for label, dropped in [
        ("not a copy in their shard", counts.duplicates),
        ("converted without a fault", sum(counts.failed.values())),
        ("with text", counts.empty),
        ("in a wanted language", counts.other_language),
    ]:
        left -= dropped
        if dropped:
            stages.append((label, left))
    if stages[-1][1] != counts.rows or len(stages) == 2:
        stages.append(("rows", counts.rows))
    else:
        stages[-1] = (f"{stages[-1][0]}: rows", counts.rows)
    return [Bar(label, number, f"{number / counts.records:.1%}") for label, number in stages]


def _languages(facts: Facts) -> list[Bar]:
    bars = [
        Bar(language or "too little text", rows, f"{rows / facts.rows:.1%}", rest=not language)
        for language, rows in facts.languages[:_LANGUAGES_DRAWN]
    ]
    rest = facts.languages[_LANGUAGES_DRAWN:]
    if rest:
        rows = sum(number for _, number in rest)
        bars.append(Bar(f"{len(rest):,} more", rows, f"{rows / facts.rows:.1%}", rest=True))
    return bars


def _bound(low: int) -> str:
    """A power of two as people read it: 512, 2k, 64k, 1M."""
    for unit, factor in (("G", 1 << 30), ("M", 1 << 20), ("k", 1 << 10)):
        if low >= factor:
            return f"{low // factor}{unit}"
    return str(low)


def _kept(path: Path) -> dict[str, str]:
    try:
        return kept_texts(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except OutputError as error:
        raise OutputError(f"{path}: {error}") from error
    except (OSError, UnicodeDecodeError) as error:
        raise OutputError(f"{path}: can't be read ({reason(error)})") from error


def _template(path: Path | None) -> str:
    if path is None:
        return DEFAULT
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"--template {path}: can't be read ({reason(error)})") from error
