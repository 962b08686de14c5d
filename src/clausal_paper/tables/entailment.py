"""What deduction adds to a row's record: the same model with the closure of train first, and the ceiling of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from clausal.graph.facts import Facts, occur_in
from clausal.graph.graph import Graph
from clausal.logic import Clause
from clausal_paper.ceiling import deduction_ceiling

ClosureOf = Callable[[Graph], Facts]
"""Returns the closure of a graph's train facts under the confident clauses of its data set."""

DEDUCIBLE, OTHER = "deducible", "other"
"""The parts of test by what follows from limited train facts."""


CONFIDENT = 0.5
"""The least weight of a clause that entails: what others conclude is more often wrong than right."""


def closure_under(clauses: Sequence[Clause]) -> ClosureOf:
    """Return what computes closures under confident clauses by DuckDB, for machines that have it."""
    confident = [clause for clause in clauses if clause.weight >= CONFIDENT]

    def closure(graph: Graph) -> Facts:
        from clausal.logic.closure import close

        return close(graph, confident).facts

    return closure


def with_deducible_parts(graph: Graph, closure: Facts) -> Graph:
    """Part test into the facts that follow from train and the others."""
    deducible = occur_in(graph.test, closure, len(graph.entities), len(graph.relations))
    return replace(graph, parts={DEDUCIBLE: graph.test[deducible], OTHER: graph.test[~deducible]})


def ceilings_of(graph: Graph, closure: Facts, gone: Facts) -> dict[str, dict[str, float]]:
    """Return the ceiling that deduction alone sets, by filter: of the limited graph, and with the facts that went."""
    found = {"full": deduction_ceiling(graph, closure), "whole": deduction_ceiling(graph, closure, gone)}
    return {
        filter: {name: round(value, 5) for name, value in ceiling._asdict().items()}
        for filter, ceiling in found.items()
    }
