"""The reference page of the Python API, from signatures, docstrings and the comments behind fields."""

from __future__ import annotations

import dataclasses
import inspect
import re
from collections.abc import Callable
from typing import Any

WIDTH = 88  # of a signature, before it is broken into lines

INTRODUCTION = """\
# Python API

`import ccrawl` gives the functions; each command of the command line calls one of them. Importing is cheap:
what a function needs is loaded when it is called. Options are frozen dataclasses with the same defaults as
the command line; the line below a class says where to import it from. All is typed (`py.typed`).

Errors are `ccrawl.errors.CcrawlError` or one of its kinds below; its text is one line that says what, where
and what to do.
"""


def page() -> str:
    """The page, Markdown."""
    import ccrawl
    from ccrawl import errors

    parts = [INTRODUCTION, "## Functions"]
    for name in ccrawl.__all__:
        if callable(getattr(ccrawl, name)):
            parts += [
                f"### ccrawl.{name}",
                _signature(name, getattr(ccrawl, name)),
                *_text(getattr(ccrawl, name)),
            ]
    parts += ["## Options and reports"]
    for kind in classes():
        parts += [f"### {kind.__name__}", f"`from {public_module(kind)} import {kind.__name__}`"]
        parts += [*_text(kind), *_fields(kind), *_properties(kind)]
    parts += ["## Errors", "All in `ccrawl.errors`.", _fence("text", _error_tree(errors))]
    return "\n\n".join(part.strip("\n") for part in parts if part) + "\n"


def classes() -> list[type]:
    """The dataclasses that the functions take and return, in the order of the work."""
    from ccrawl.archives import Capture, CaptureOptions, Damage, Source, Tally
    from ccrawl.archives.check import FileCheck
    from ccrawl.dataset.card import CardOptions, CardReport
    from ccrawl.dataset.ledger import Counts, FailedShard
    from ccrawl.dataset.merge import MergeReport
    from ccrawl.dataset.publish import PublishReport
    from ccrawl.dataset.verify import Fault, VerifyReport
    from ccrawl.duplicates import DedupOptions, DedupReport
    from ccrawl.fetching.convert import ConvertDatasetReport
    from ccrawl.fetching.hosts import SlowHost
    from ccrawl.fetching.options import RefetchOptions
    from ccrawl.fetching.run import RefetchReport
    from ccrawl.fetching.types import FetchOptions
    from ccrawl.fetching.wacz import WaczReport
    from ccrawl.html.options import ExtractOptions, RenderOptions
    from ccrawl.run.export import ExportReport
    from ccrawl.run.indexed import IndexReport
    from ccrawl.run.options import ExportOptions

    return [
        *(ExportOptions, ExtractOptions, RenderOptions, ExportReport, Counts, FailedShard, IndexReport),
        *(RefetchOptions, FetchOptions, RefetchReport, SlowHost, WaczReport, ConvertDatasetReport),
        *(CaptureOptions, Capture, Tally, Damage, Source, FileCheck),
        *(DedupOptions, DedupReport),
        *(CardOptions, CardReport, VerifyReport, Fault, MergeReport, PublishReport),
    ]


def public_module(kind: type) -> str:
    """The package that offers a class, where one does, else its own module."""
    package = kind.__module__.rpartition(".")[0]
    offered = getattr(__import__(package, fromlist=["_"]), kind.__name__, None)
    return package if offered is kind else kind.__module__


def _signature(name: str, function: Callable[..., Any]) -> str:
    signature = inspect.signature(function)
    words = []
    for parameter in signature.parameters.values():
        if parameter.kind is parameter.KEYWORD_ONLY and "*" not in words:
            words.append("*")
        default = "" if parameter.default is parameter.empty else f" = {_default(parameter.default)}"
        words.append(f"{parameter.name}: {parameter.annotation}{default}")
    returns = f" -> {signature.return_annotation}"
    line = f"{name}({', '.join(words)}){returns}"
    if len(line) > WIDTH:
        line = "\n".join([f"{name}(", *(f"    {word}," for word in words), f"){returns}"])
    return _fence("python", line)


def _default(value: object) -> str:
    if dataclasses.is_dataclass(value):
        return f"{type(value).__name__}()"
    return value.__name__ if inspect.isfunction(value) else repr(value)


def _text(of: Any) -> list[str]:
    """A docstring: paragraphs as they are; those that are laid out by hand in a fence."""
    paragraphs = (inspect.getdoc(of) or "").split("\n\n")
    return [_fence("text", text) if _laid_out(text) else text for text in paragraphs]


def _laid_out(paragraph: str) -> bool:
    """Whether line breaks mean something: columns, indents, or a `name: meaning` a line."""
    lines = [line for line in paragraph.splitlines() if not line.startswith(" ")]
    return bool(re.search(r"^ |\S {2,}\S", paragraph, re.MULTILINE)) or all(
        re.match(r"\w+(, \w+)*: ", line) for line in lines
    )


def _fields(kind: type) -> list[str]:
    source = inspect.getsource(kind).replace(kind.__doc__ or "", "")
    rows = []
    for field in dataclasses.fields(kind):
        if field.name.startswith("_"):
            continue
        found = re.search(rf"^    {field.name}: [^#\n]*#\s*(.+)$", source, re.MULTILINE)
        cells = [f"`{field.name}`", _cell(str(field.type)), _field_default(field), found[1] if found else ""]
        rows.append(f"| {' | '.join(cells)} |")
    return ["\n".join(["| field | type | default | |", "|---|---|---|---|", *rows])]


def _cell(text: str) -> str:
    return f"`{text}`".replace("|", "\\|")


def _field_default(field: dataclasses.Field[Any]) -> str:
    if field.default is not dataclasses.MISSING:
        return _cell(_default(field.default))
    if field.default_factory is not dataclasses.MISSING:
        return _cell(f"{getattr(field.default_factory, '__name__', 'made')}()")
    return ""


def _properties(kind: type) -> list[str]:
    """Properties and methods that the class offers beside its fields."""
    lines = []
    for name, member in vars(kind).items():
        function = member.fget if isinstance(member, property) else getattr(member, "__func__", member)
        if name.startswith("_") or not inspect.isfunction(function):
            continue
        call = "" if isinstance(member, property) else "()"
        summary = (inspect.getdoc(function) or "").partition("\n\n")[0].replace("\n", " ")
        returned = inspect.signature(function).return_annotation
        lines.append(f"- `{name}{call}`: `{returned}`. {summary}".rstrip())
    return ["\n".join(lines)] if lines else []


def _error_tree(errors: Any) -> str:
    return inspect.cleandoc(errors.__doc__).split("\n\n")[1]


def _fence(language: str, text: str) -> str:
    return f"```{language}\n{text}\n```"
