"""Labels in a column of their own: which facts are true."""

from __future__ import annotations

from typing import Any

LABELS = {"1": True, "+1": True, "true": True, "0": False, "-1": False, "false": False}


def read_label(word: str) -> bool | None:
    """Return whether a fact is true by its label, or None for what is no label."""
    return LABELS.get(word.strip().casefold())


def false_facts(source: object, column: str, word: str) -> str:
    """Say that a table holds false facts, and what to do."""
    return (
        f"{source}: the column '{column}' calls facts '{word}', which are false ones; keep the rows of true facts, or "
        "rename the column"
    )


def false_label(column: Any) -> str | None:
    """Return a label that calls facts false, if a column of text holds nothing but labels."""
    words = column.unique().to_pylist()
    if len(words) > 2 * len(LABELS) or any(word is None or read_label(word) is None for word in words):
        return None
    return next((word for word in words if read_label(word) is False), None)
