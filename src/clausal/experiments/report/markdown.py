"""Tables in Markdown, and numbers in their cells."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

MISSING = "–"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Return the lines of a table, and an empty one after it."""
    return [_line(head), _line(["---"] * len(head)), *map(_line, rows), ""]


def number(value: float | None, decimals: int) -> str:
    """Return a number, or a dash where there is none."""
    return MISSING if value is None else f"{value:.{decimals}f}"


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
