"""A place to start: facts that train lacks and that follow, those first that were held back and so are true."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from clausal.graph.facts import Facts
from clausal.graph.graph import Graph
from clausal.graph.query import name_fact
from clausal.serve.rows import fact_rows, with_names
from clausal.serve.runs import ServedRun

_RANKED = 400
"""Facts that are ranked, to find those that tell most."""
_PROVED = 60
_SUGGESTED = 9


def suggestions(served: ServedRun, others: Iterable[ServedRun]) -> dict[str, Any]:
    """Return facts that follow from train by clauses, of each way to prove one in turn.

    Where a run of the same graph without clauses is served too, those come first that it ranks worse.
    """
    graph = served.run.graph  # a run that is still being trained is refused here
    consequences = served.statuses.all
    if consequences is None or not len(consequences.closure.derived):
        return with_names(served, {"facts": []})
    facts = _some(served, consequences.closure.derived)
    ranks = _ranks(served, facts)
    without = next((other for other in others if _is_without_clauses(other, served)), None)
    ranks_without = None if without is None else _ranks(without, facts)
    gain = np.zeros(len(facts)) if ranks_without is None else ranks_without - ranks
    chosen = _one_way_after_the_other(served, graph, facts, np.lexsort((-gain, ranks > 1)))
    rows = fact_rows(served, facts[[place for place, _ in chosen]]) if chosen else []
    for row, (place, clause) in zip(rows, chosen, strict=True):
        number = served.clause_numbers.get(clause)
        shown = None if number is None else served.names.clause(served.clause(number))
        row |= {"clause": clause, "clause_id": number, "shown": shown, "rank": int(ranks[place])}
        if without is not None and ranks_without is not None:
            row["without"] = {"run": without.name, "rank": int(ranks_without[place])}
    return with_names(served, {"facts": rows}, rows)


def _some(served: ServedRun, derived: Facts) -> Facts:
    """Return facts that valid or test have, or any where they have none; evenly chosen where there are too many."""
    confirmed = derived[served.splits.split_numbers(derived) >= 0]
    facts = confirmed if len(confirmed) else derived
    return facts[np.unique(np.linspace(0, len(facts) - 1, min(len(facts), _RANKED)).astype(np.int64))]


def _ranks(served: ServedRun, facts: Facts) -> np.ndarray:
    """Return the filtered ranks of the facts' objects, ties at their worst."""
    return np.ceil(served.run.evaluate(facts, ties="pessimistic").ranks.of("filtered", "object"))


def _is_without_clauses(other: ServedRun, served: ServedRun) -> bool:
    """Say whether a run can be asked the same and was trained without clauses."""
    if other is served or not other.finished or len(other.run.clauses):
        return False
    mine, theirs = served.run.graph, other.run.graph
    return list(mine.entities) == list(theirs.entities) and list(mine.relations) == list(theirs.relations)


def _one_way_after_the_other(served: ServedRun, graph: Graph, facts: Facts, order: np.ndarray) -> list[tuple[int, str]]:
    """Return places of facts with the clause that proves each: the first by each way to prove, then the second."""
    ways: dict[tuple[str, ...], list[tuple[int, str]]] = {}
    for place in order[:_PROVED].tolist():
        proof = served.statuses.prove(name_fact(graph, facts[place]))
        if proof is not None and proof.clause is not None:
            ways.setdefault(tuple(map(str, proof.clauses())), []).append((place, str(proof.clause)))
    rounds = [one for turn in range(_SUGGESTED) for found in ways.values() for one in found[turn : turn + 1]]
    return rounds[:_SUGGESTED]
