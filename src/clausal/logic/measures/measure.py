"""How often clauses hold in a graph: support, standard confidence and PCA confidence as AMIE defines them.

Clauses with the confidence that they have in a graph as their weight, so that one with exceptions asks for less.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from clausal.logic.measures.plan import Body, Head, plan_clause
from clausal.logic.syntax import Clause
from clausal.observer import Observer, replaces

if TYPE_CHECKING:
    from clausal.graph import Facts, Graph


@dataclass(frozen=True, slots=True)
class Measures:
    """What a Horn clause predicts in a graph, and how much of it is there.

    ``body`` counts the instances of the head that the body predicts, and ``support`` those that are facts.
    ``pca_body`` counts those for which some fact of the head's relation with the same subject is known, or with the
    same object where the relation has more objects than subjects. A head ``false`` has no instances: ``body`` then
    counts the ways in which the constraint is broken.
    """

    support: int
    body: int
    pca_body: int

    @property
    def confidence(self) -> float | None:
        """Standard confidence; None where the body has no instances."""
        return self.support / self.body if self.body else None

    @property
    def pca_confidence(self) -> float | None:
        """PCA confidence; None where no instance counts."""
        return self.support / self.pca_body if self.pca_body else None

    @property
    def holds(self) -> bool:
        """Whether nothing in the graph breaks the clause."""
        return self.support == self.body


@replaces(progress=("advanced", lambda what, done, total, unit: (done, total)))
def measure_clauses(
    clauses: Sequence[Clause],
    graph: Graph,
    facts: Facts | None = None,
    *,
    memory: str | None = None,
    observer: Observer | None = None,
) -> list[Measures | None]:
    """Measure each clause on ``facts``, by default the train facts.

    None stands for a clause that is not Horn, that names what the graph does not have, whose head has a variable
    that its body lacks, or that is no more than ``p(X, Y)``.
    """
    from clausal.logic.measures.counter import Counter

    heads: dict[Body, list[tuple[int, Head]]] = defaultdict(list)
    for index, clause in enumerate(clauses):
        plan = plan_clause(clause, graph.entities, graph.relations)
        if plan is not None:
            heads[plan[0]].append((index, plan[1]))
    measured: list[Measures | None] = [None] * len(clauses)
    total, done = sum(map(len, heads.values())), 0
    with Counter(graph.train if facts is None else facts, len(graph.entities), memory) as counter:
        for batch in counter.count(heads):
            for index, support, body, pca_body in batch:
                measured[index] = Measures(support, body, pca_body)
            done += len(batch)
            if observer is not None:
                observer.advanced("counting", done, total, "clauses")
    return measured


def weigh_clauses(clauses: Sequence[Clause], measured: Sequence[Measures | None]) -> list[Clause]:
    """Set each weight to the clause's standard confidence, to four digits; clauses without one keep theirs."""
    return [
        clause if confidence is None else replace(clause, weight=round(confidence, 4))
        for clause, confidence in zip(clauses, _confidences(measured), strict=True)
    ]


def confident_clauses(
    clauses: Sequence[Clause], measured: Sequence[Measures | None], least: float
) -> tuple[list[Clause], list[Measures | None]]:
    """Return the clauses, with their measures, whose confidence is at least this, and those that have none."""
    kept = [
        (clause, measures)
        for clause, measures, confidence in zip(clauses, measured, _confidences(measured), strict=True)
        if confidence is None or confidence >= least
    ]
    return [clause for clause, _ in kept], [measures for _, measures in kept]


def _confidences(measured: Sequence[Measures | None]) -> list[float | None]:
    return [None if measures is None else measures.confidence for measures in measured]
