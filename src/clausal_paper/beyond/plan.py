"""Which rows of a table beyond the paper to train, and a small part of each table, to see that it works."""

from __future__ import annotations

from collections.abc import Sequence

from clausal_paper.beyond.rows import BeyondRow, rows_of
from clausal_paper.tables.reproduction import Plan

_SMALL = ("model.dim=64", "train.epochs=6", "evaluate.every=3")
_QUICK = {"fb122": ("base", "one-atom"), "wn18-limited": ("base-20", "all-20")}


def plan_of(table: str, names: Sequence[str] = (), seeds: int = 3, quick: bool = False) -> Plan[BeyondRow]:
    """Return the plan for a table, or for the rows of these names; ``quick`` is one seed of a few small rows."""
    if quick:
        return Plan(tuple(rows_of(table, names or _QUICK.get(table, ()))), (0,), _SMALL)
    return Plan(tuple(rows_of(table, names)), tuple(range(seeds)))
