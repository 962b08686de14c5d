"""The memory of this process, as Linux counts it."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

_PROCESS = Path("/proc/self")


def resident() -> float:
    """Return the megabytes that this process holds now."""
    return _status("VmRSS")


def own() -> float:
    """Return those that are in no file, which the system cannot let go of."""
    return _status("RssAnon")


def peak() -> float:
    """Return the most megabytes that this process has held, since ``forget_peak`` if it was called."""
    return _status("VmHWM")


def forget_peak() -> None:
    """Let ``peak`` begin anew; where that is not allowed, it stays the peak since the start, which is no less."""
    with suppress(OSError):
        (_PROCESS / "clear_refs").write_text("5")


def _status(field: str) -> float:
    line = next(line for line in (_PROCESS / "status").read_text().splitlines() if line.startswith(field))
    return int(line.split()[1]) * 1024 / 1e6
