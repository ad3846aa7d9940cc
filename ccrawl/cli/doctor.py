"""`ccrawl doctor`: is this machine ready?"""

from __future__ import annotations

import dataclasses
import json
from typing import Annotated, Any

import typer

from ccrawl.doctor import Diagnosis, Package, examine
from ccrawl.extras import pip_command
from ccrawl.units import binary_size, count, duration, size

RUNS_BARE = True


def command(
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print all that was found as JSON.")] = False,
) -> int:
    """Say whether this machine is ready: packages, optional parts, memory, disk, a self-test.

    Makes a small archive in a temporary folder, exports and verifies it, and removes it.
    Exits with 1 when something that is needed is missing or the self-test fails.

    Example: ccrawl doctor
    """
    diagnosis = examine()
    print(json.dumps(_as_json(diagnosis), indent=1) if as_json else _as_text(diagnosis))
    return 0 if diagnosis.well else 1


def _as_json(diagnosis: Diagnosis) -> dict[str, Any]:
    parts = [
        {**dataclasses.asdict(part), "present": part.present, "remedy": part.remedy}
        for part in diagnosis.parts
    ]
    return {**dataclasses.asdict(diagnosis), "parts": parts, "well": diagnosis.well}


def _as_text(diagnosis: Diagnosis) -> str:
    lines = [("ccrawl", f"{diagnosis.version}, Python {diagnosis.python}, {diagnosis.system}")]
    unusable = [package for package in diagnosis.needed if not package.usable]
    packages = count(len(diagnosis.needed), "package")
    lines.append(("needed", packages if unusable else f"{packages}, all there"))
    lines += [("", _lack(package)) for package in unusable]
    if unusable:
        needed = (f"{package.name}>={package.least or 0}" for package in unusable)
        lines.append(("", pip_command(needed)))
    for part in diagnosis.parts:
        state = "there" if part.present else "not there; to get it:"
        lines.append(("optional", f"{part.name}, for {part.purpose}: {state}"))
        if part.remedy is not None:
            lines.append(("", part.remedy))
    lines.append(("cores", f"{diagnosis.cores}; a worker each, unless --workers says otherwise"))
    if diagnosis.memory is not None and diagnosis.memory_free is not None:
        lines.append(("memory", f"{size(diagnosis.memory_free)} free of {size(diagnosis.memory)}"))
        if diagnosis.cores * diagnosis.worker_memory > diagnosis.memory_free:
            each = binary_size(diagnosis.worker_memory)
            lines.append(("", f"less than {each} for each worker: see --workers and --worker-memory"))
    lines.append(("disk", f"{size(diagnosis.disk_free)} free in this folder"))
    lines.append(("", f"{size(diagnosis.scratch_free)} free in {diagnosis.scratch}, for temporary files"))
    test = diagnosis.self_test
    passed = "passed" if test.passed else "failed"
    lines.append(("self-test", f"{passed} in {duration(test.seconds)}: {test.detail}"))
    lines.append(("result", "ready" if diagnosis.well else "not ready"))
    return "\n".join(f"{name:<11} {text}" for name, text in lines)


def _lack(package: Package) -> str:
    """What is wrong with a package that is needed."""
    if package.version is None:
        return f"{package.name} is missing"
    return f"{package.name} is {package.version}, older than {package.least}"
