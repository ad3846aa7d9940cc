"""Packages that import a module when a name of it is first asked for: naming a source loads no decoder."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any


def names_of(package: str, places: Mapping[str, str]) -> Callable[[str], Any]:
    """The `__getattr__` of `package` (PEP 562).

    places: a name -> the module below the package that has it, and after a colon what it is called there
        when that differs
    """

    def find(name: str) -> Any:
        place = places.get(name)
        if place is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module, _, called = place.partition(":")
        return getattr(importlib.import_module(f"{package}.{module}"), called or name)

    return find
