"""`--dedup-normalize FILE`: ordered rules that take out of a page what changes from capture to capture,
session ids, dates, counters, before it is hashed: captures that differ in nothing else are duplicates.

    # one rule a line: a pattern, then " => " and what stands in its place; without that, matches go
    (?i)[?&;](phpsessid|sid)=[0-9a-z]+
    <time datetime="[^"]*"> => <time>
    Page generated in [0-9.]+ (m?s) => in \\1

Patterns are RE2's, which takes time linear in the page for a match; a page of many matches that each look far
ahead is bounded by BUDGET. They match bytes: `.` is any byte but a line feed, whatever the page's encoding.
Rules have a name, made of what they say: digests under other rules are others, comments and order of files
don't matter.
"""

from __future__ import annotations

import functools
import hashlib
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ccrawl.errors import UsageError
from ccrawl.index.types import RULES_BYTES, Key, kind_of_rules, normalised_key

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

MAX_RULES = 200
MAX_LINE = 2000  # bytes
MAX_FILE = 1 << 20  # bytes, comments included
# Memory that RE2 may take for a rule, its program and the automaton that it builds from pages.
MAX_MEMORY = 8 << 20  # bytes
# Bytes that the rules may be tried on for one page. A search starts where the last match ended and may look
# at all that is left, so that a page made for it costs matches times length. Beyond the budget the rest of
# the page stays as it is, each time alike. A page of 100 KB may have 20,000 matches, one of 16 MiB 128.
BUDGET = 2 << 30

_ARROW = " => "
_DEFINITION = "ccrawl-rules/1"  # part of every name: another meaning of the same lines is another name
_REFERENCE = re.compile(r"\\([0-9\\])")


class Rule(NamedTuple):
    """A pattern, and what stands in place of its matches: \\0 to \\9 are groups, \\\\ is a backslash."""

    pattern: str
    replacement: str

    def __str__(self) -> str:
        return f"{self.pattern}{_ARROW}{self.replacement}" if self.replacement else self.pattern


class RuleSet:
    """Rules in order, compiled. Made by `read_rules` or, from its own `lines`, by `rules_from`."""

    def __init__(self, rules: Sequence[Rule], compiled: Sequence[Any]) -> None:
        self.lines = tuple(map(str, rules))
        text = "\n".join((_DEFINITION, *self.lines))
        self._id = hashlib.sha256(text.encode()).digest()[:RULES_BYTES]
        self.name = kind_of_rules(self._id)
        self._steps = [
            (expression, _expander(rule.replacement))
            for expression, rule in zip(compiled, rules, strict=True)
        ]

    def apply(self, html: bytes) -> bytes:
        """What the rules leave of a page, each applied once to what the one before has left."""
        budget = BUDGET
        for expression, expand in self._steps:
            pieces: list[bytes] = []
            end = 0  # of what is in `pieces`
            at = 0
            while at <= len(html):
                budget -= len(html) - at
                if budget < 0:
                    break
                match = expression.search(html, at)
                if match is None:
                    break
                start, stop = match.span()
                pieces += (html[end:start], expand(match))
                end = stop
                at = stop if stop > start else stop + 1  # an empty match would be found again
            if pieces:
                html = b"".join([*pieces, html[end:]])
        return html

    def key(self, html: bytes) -> Key | None:
        """What a page is compared by; None when the rules leave nothing of it."""
        left = self.apply(html)
        return normalised_key(self._id, hashlib.sha256(left).digest()) if left else None


def read_rules(path: Path) -> RuleSet:
    """The rules of a file. UsageError when it can't be read, and for the first bad line, by its number."""
    try:
        with path.open("rb") as file:
            content = file.read(MAX_FILE + 1)
    except OSError as error:
        raise UsageError(f"--dedup-normalize {path}: {error.strerror or error}") from error
    if len(content) > MAX_FILE:
        raise UsageError(
            f"--dedup-normalize {path}: larger than {MAX_FILE >> 20} MiB; that is no file of rules"
        )
    return _parsed(content, f"--dedup-normalize {path}")


@functools.lru_cache(maxsize=4)
def rules_from(lines: tuple[str, ...]) -> RuleSet:
    """The rules of `RuleSet.lines`: what a worker gets, and what a manifest holds."""
    return _parsed("\n".join(lines).encode(), "rules of --dedup-normalize")


def _parsed(content: bytes, where: str) -> RuleSet:
    rules = []
    compiled = []
    for number, line in enumerate(content.split(b"\n"), 1):
        try:
            rule = _rule(line)
            if rule is None:
                continue
            compiled.append(_compiled(rule))
        except ValueError as error:
            raise UsageError(f"{where}, line {number}: {error}") from error
        rules.append(rule)
        if len(rules) > MAX_RULES:
            raise UsageError(f"{where}, line {number}: more than {MAX_RULES} rules")
    if not rules:
        raise UsageError(f"{where}: holds no rule; write a pattern a line")
    return RuleSet(rules, compiled)


def _rule(line: bytes) -> Rule | None:
    """The rule of a line; None for a blank line or a comment."""
    if len(line) > MAX_LINE:
        raise ValueError(f"longer than {MAX_LINE} bytes")
    try:
        text = line.decode("ascii").strip()
    except UnicodeDecodeError as error:
        raise ValueError(
            f"byte {error.start + 1} is not ASCII; pages have many encodings, so write "
            r"the bytes that stand in yours: in UTF-8, \xC3\xA4 is ä"
        ) from error
    if not text or text.startswith("#"):
        return None
    # Blanks around make an arrow of a line's start and end, too.
    pattern, _, replacement = f" {text} ".partition(_ARROW)
    pattern = pattern.strip()
    if not pattern:
        raise ValueError("no pattern stands before =>")
    return Rule(pattern, replacement.strip())


def _compiled(rule: Rule) -> Any:
    try:
        import re2
    except ImportError as error:
        from ccrawl.index.open import missing

        raise missing("--dedup-normalize", "index") from error
    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1
    options.max_mem = MAX_MEMORY
    options.log_errors = False
    try:
        expression = re2.compile(rule.pattern.encode("ascii"), options)
    except re2.error as error:
        raise ValueError(f"{rule.pattern!r} is no pattern of RE2's ({_said(error)})") from error
    highest = max(
        (int(found[1]) for found in _REFERENCE.finditer(rule.replacement) if found[1] != "\\"), default=0
    )
    if highest > expression.groups:
        raise ValueError(
            f"\\{highest} stands for no group of {rule.pattern!r}, which has {expression.groups}"
        )
    stray = _REFERENCE.sub("", rule.replacement).find("\\")
    if stray >= 0:
        raise ValueError(r"a backslash in a replacement stands before a digit or another backslash")
    return expression


def _said(error: Exception) -> str:
    said = error.args[0] if error.args else error
    return said.decode("latin-1") if isinstance(said, bytes) else str(said)


def _expander(replacement: str) -> Callable[[Any], bytes]:
    """Makes what stands in place of a match."""
    if "\\" not in replacement:
        fixed = replacement.encode("ascii")
        return lambda match: fixed
    parts: list[bytes | int] = []
    for number, part in enumerate(
        _REFERENCE.split(replacement)
    ):  # text, what a backslash stands before, text ...
        parts.append(int(part) if number % 2 and part != "\\" else part.encode("ascii"))
    return lambda match: b"".join(
        part if isinstance(part, bytes) else match.group(part) or b"" for part in parts
    )
