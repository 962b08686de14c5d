"""What a run's train facts entail by clauses, and the verdict that gives of a fact."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from clausal.errors import InputError
from clausal.graph.facts import Facts, occur_in
from clausal.graph.graph import Graph
from clausal.logic.closure import Closure, close
from clausal.logic.syntax import Clause

Verdict = Literal["given", "entailed", "not entailed"]
Entailed = Literal["first"]
"""What to do with the facts that train entails: put them before all others."""


def close_train(graph: Graph, clauses: Sequence[Clause]) -> Closure:
    """Close train under clauses, of which there must be some."""
    if not clauses:
        raise InputError("the run was trained without clauses, so train entails nothing; name some: --clauses FILE")
    return close(graph, clauses)


def check_entailed(entailed: str | None) -> None:
    """Refuse a place for entailed facts that does not exist."""
    if entailed not in (None, "first"):
        raise InputError(f"entailed facts can come 'first', or be ranked as all others (None); got {entailed!r}")


def verdicts(facts: Facts, graph: Graph, closure: Facts) -> list[Verdict]:
    """Say of each fact whether train has it, entails it by the clauses of the closure, or neither."""
    sizes = len(graph.entities), len(graph.relations)
    given, entailed = occur_in(facts, graph.train, *sizes), occur_in(facts, closure, *sizes)
    names: list[Verdict] = ["given", "entailed", "not entailed"]
    return [names[place] for place in np.where(given, 0, np.where(entailed, 1, 2))]
