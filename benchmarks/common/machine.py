"""Where and when figures were measured: what a stored result says beside its numbers."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

_PACKAGES = ("clausal", "torch", "numpy", "numba", "pyarrow", "triton")


def describe_machine() -> dict[str, Any]:
    """Return processor, memory, versions, date and how busy the machine was before the start."""
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "memory_gb": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9, 1),
        "system": platform.platform(terse=True),
        "python": platform.python_version(),
        "versions": dict(_installed()),
        "date": datetime.now(UTC).date().isoformat(),
        "load": round(os.getloadavg()[0], 2),
    }


def in_words(machine: dict[str, Any]) -> str:
    """Say it in one line."""
    versions = ", ".join(f"{package} {number}" for package, number in machine["versions"].items())
    return (
        f"{machine['cores']} cores ({machine['processor']}), {machine['memory_gb']:g} GB, Python {machine['python']}, "
        f"{versions}; load {machine['load']} before the start, {machine['date']}"
    )


def _installed() -> Iterator[tuple[str, str]]:
    for package in _PACKAGES:
        with suppress(PackageNotFoundError):
            yield package, version(package)


def _processor() -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.machine())
