"""What deduction adds to a row's record: the same model with the closure of train first, and the ceiling of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from clausal.experiments.ceiling import deduction_ceiling
from clausal.graph.facts import Facts, occur_in
from clausal.graph.graph import Graph
from clausal.logic import Clause

ClosureOf = Callable[[Graph], Facts]
"""Returns the closure of a graph's train facts under the clauses of its data set, train included."""

DEDUCIBLE, OTHER = "deducible", "other"
"""The parts of test by what follows from limited train facts."""


def closure_under(clauses: Sequence[Clause]) -> ClosureOf:
    """Return what computes closures by DuckDB, for machines that have it."""

    def closure(graph: Graph) -> Facts:
        from clausal.logic.closure import close

        return close(graph, clauses).facts

    return closure


def with_deducible_parts(graph: Graph, closure: Facts) -> Graph:
    """Part test into the facts that follow from train and the others."""
    deducible = occur_in(graph.test, closure, len(graph.entities), len(graph.relations))
    return replace(graph, parts={DEDUCIBLE: graph.test[deducible], OTHER: graph.test[~deducible]})


def ceiling_of(graph: Graph, closure: Facts) -> dict[str, Any]:
    """Return the ceiling that deduction alone sets, as a record has it."""
    return {name: round(value, 5) for name, value in deduction_ceiling(graph, closure)._asdict().items()}
