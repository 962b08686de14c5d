"""What each clause may ask of a training, from how it holds in train, and what it did on valid.

Clauses that a user gave without weights are certain, however seldom they hold in train, which may lack what follows
from them; the race decides whether they are of use. Where some have weights, all were mined, also those that never
failed: then the weight of each is the lower bound of its confidence, and 0 where that is below a half, as a loss asks
for every instance of a clause. The bound is Wilson's, of 95 %, and confidence is PCA confidence, which counts as wrong
only what train could have said, or standard confidence where that is nothing. Where certain clauses cost, they do not
hold for certain after all, and each is tried with its confidence as its weight.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from clausal.graph.graph import Facts, Graph
from clausal.logic.intervals import wilson_lower
from clausal.logic.measures import Measures, measure_clauses
from clausal.logic.printer import print_formula
from clausal.logic.shape import horn_parts
from clausal.logic.syntax import Atom, Clause
from clausal.observer import Observer
from clausal.search.racing.judging import Reciprocals

_Z = 1.96
_LEAST = 0.5
CERTAIN, MINED = "certain", "mined"


@dataclass(frozen=True)
class WeighedClause:
    """A clause with its own weight in a loss, whether it is certain or mined, and its confidence if it has one."""

    clause: Clause
    kind: str
    confidence: float | None

    @property
    def weight(self) -> float:
        """What it asks for in proportion to others; 0 where it is not used."""
        return self.clause.weight


def weigh_for_training(
    clauses: Sequence[Clause], graph: Graph, observer: Observer | None = None
) -> list[WeighedClause]:
    """Give each clause its own weight, by how it holds in train."""
    measured = measure_clauses(clauses, graph, observer=observer)
    weighted = any(clause.weight != 1 for clause in clauses)
    return [
        _weigh(clause, measures, MINED if not clause.hard and (weighted or clause.confidence is not None) else CERTAIN)
        for clause, measures in zip(clauses, measured, strict=True)
    ]


def by_confidence(weighed: Sequence[WeighedClause]) -> list[WeighedClause]:
    """Give certain clauses their confidence as weight; those that train has no instance of stay as they are."""

    def softened(one: WeighedClause) -> WeighedClause:
        if one.kind != CERTAIN or one.clause.hard or one.confidence is None:
            return one
        return replace(one, clause=replace(one.clause, weight=round(one.confidence, 4)))

    return [softened(one) for one in weighed]


def _weigh(clause: Clause, measures: Measures | None, kind: str) -> WeighedClause:
    instances = 0 if measures is None else measures.pca_body or measures.body
    if measures is None or not instances:
        return WeighedClause(clause, kind, None)
    confidence = measures.support / instances
    if kind == CERTAIN:
        return WeighedClause(clause, CERTAIN, confidence)
    low = float(wilson_lower(measures.support, instances, _Z))
    weight = round(low, 4) if low >= _LEAST else 0.0
    return WeighedClause(replace(clause, weight=weight), MINED, confidence)


def clause_table(
    weighed: Sequence[WeighedClause],
    weight: float,
    graph: Graph,
    valid: Facts,
    without: Reciprocals | None,
    with_clauses: Reciprocals | None,
) -> list[dict[str, Any]]:
    """Return a row for each clause: its confidence, how it was used, and MRR of its head's valid facts in the race.

    ``without`` and ``with_clauses`` are the ranks of two trials that differ by the clauses alone.
    """
    effects = _by_relation(valid, without, with_clauses)
    return [_row(one, weight, graph, effects) for one in weighed]


def _row(one: WeighedClause, weight: float, graph: Graph, effects: Mapping[int, dict[str, Any]]) -> dict[str, Any]:
    parts = horn_parts(one.clause)
    head = parts[1].relation if parts is not None and isinstance(parts[1], Atom) else None
    effect = effects.get(graph.relations.id(head), {}) if head is not None and head in graph.relations else {}
    used = weight * one.weight
    return {
        "clause": print_formula(one.clause.formula),
        "kind": one.kind,
        "confidence": None if one.confidence is None else round(one.confidence, 4),
        "used": "loss" if used else "not at all",
        "weight": one.weight if used else 0.0,
        "valid facts": effect.get("facts", 0),
        "mrr without": effect.get("without"),
        "mrr with": effect.get("with"),
    }


def _by_relation(
    valid: Facts, without: Reciprocals | None, with_clauses: Reciprocals | None
) -> dict[int, dict[str, Any]]:
    if without is None or with_clauses is None:
        return {}
    return {
        int(relation): {
            "facts": int(own.sum()),
            "without": round(float(without[own].mean()), 4),
            "with": round(float(with_clauses[own].mean()), 4),
        }
        for relation in np.unique(valid[:, 1])
        for own in [valid[:, 1] == relation]
    }
