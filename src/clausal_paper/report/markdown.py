"""Tables and remarks in Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

MISSING = "–"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Return the lines of a table, and an empty one after it."""
    return [_line(head), _line(["---"] * len(head)), *map(_line, rows), ""]


def notes(path: Path) -> list[str]:
    """Return a file of remarks, and an empty line after it; nothing where there is none."""
    return [path.read_text(encoding="utf-8").strip(), ""] if path.exists() else []


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
