"""Which rows of a table beyond the paper to train, and a small part of each table that shows what clauses do."""

from __future__ import annotations

from collections.abc import Sequence

from clausal.experiments.beyond.rows import BeyondRow, rows_of
from clausal.experiments.tables.reproduction import Plan

# Few passes over the facts want small batches and a larger weight of the clauses than many.
_SMALL = (
    "model.dim=32",
    "facts.batch_size=250",
    "facts.relation_weight=0",
    "clauses.weight=0.1",
    "train.epochs=4",
    "evaluate.every=4",
)
_QUICK = {"fb122": ("base", "one-atom"), "wn18-limited": ("base-20", "all-20")}


def plan_of(table: str, names: Sequence[str] = (), seeds: int = 3, quick: bool = False) -> Plan[BeyondRow]:
    """Return the plan for a table, or for the rows of these names; ``quick`` is one seed of a few small rows."""
    if quick:
        return Plan(tuple(rows_of(table, names or _QUICK.get(table, ()))), (0,), _SMALL)
    return Plan(tuple(rows_of(table, names)), tuple(range(seeds)))
