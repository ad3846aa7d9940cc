"""Builds the package: setuptools, after the native part is compiled.

Where the machine has no C compiler, the build asks for one from PyPI; else nothing is downloaded.
"""

from __future__ import annotations

from typing import Any

from compiling import ZIG, compile_library, is_current, own_compiler
from setuptools import build_meta
from setuptools.build_meta import build_sdist, get_requires_for_build_sdist, prepare_metadata_for_build_wheel

__all__ = [
    "build_editable",
    "build_sdist",
    "build_wheel",
    "get_requires_for_build_editable",
    "get_requires_for_build_sdist",
    "get_requires_for_build_wheel",
    "prepare_metadata_for_build_editable",
    "prepare_metadata_for_build_wheel",
]

prepare_metadata_for_build_editable = build_meta.prepare_metadata_for_build_editable


def _compiler() -> list[str]:
    return [] if is_current() or own_compiler() is not None else [ZIG]


def _compile() -> None:
    if not is_current():
        compile_library()


def get_requires_for_build_wheel(config_settings: Any = None) -> list[str]:
    return [*build_meta.get_requires_for_build_wheel(config_settings), *_compiler()]


def get_requires_for_build_editable(config_settings: Any = None) -> list[str]:
    return [*build_meta.get_requires_for_build_editable(config_settings), *_compiler()]


def build_wheel(
    wheel_directory: str, config_settings: Any = None, metadata_directory: str | None = None
) -> str:
    _compile()
    return build_meta.build_wheel(wheel_directory, config_settings, metadata_directory)


def build_editable(
    wheel_directory: str, config_settings: Any = None, metadata_directory: str | None = None
) -> str:
    _compile()
    return build_meta.build_editable(wheel_directory, config_settings, metadata_directory)
