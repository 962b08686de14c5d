"""Consistent answers of a run: the rankers that give them, and what an answer is told by."""

from __future__ import annotations

from collections.abc import Sequence
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from clausal.choices import RankingName
from clausal.errors import InputError, count
from clausal.evaluation.consistency import CERTAIN, Consistent
from clausal.evaluation.largest import Values
from clausal.evaluation.protocol import Ranker
from clausal.graph.graph import Facts, Graph
from clausal.logic.printer import print_clause
from clausal.logic.syntax import Clause
from clausal.observer import Observer
from clausal.run.best_answers import BestFacts

if TYPE_CHECKING:
    from clausal.run.known_facts import KnownFacts
    from clausal.run.prediction import Entailment

_ROUNDING = 1e-5
"""Scores that differ by less, relative to their size, may be the same."""
_SHOWN = 3


class ConsistentRankers:
    """The consistent rankers of a run by its own clauses, one for each ranking, and the last one by others."""

    def __init__(self, graph: Graph, clauses: Sequence[Clause]) -> None:
        self._graph, self._clauses = graph, clauses
        self._own: dict[RankingName, Consistent] = {}
        self._other: tuple[RankingName, Sequence[Clause], Consistent] | None = None
        self._lock = Lock()

    def get(
        self,
        ranking: RankingName,
        ranker: Ranker,
        clauses: Sequence[Clause] | None,
        certain: Facts | None,
        observer: Observer | None,
    ) -> Consistent:
        """Return a ranking made consistent by the run's clauses, or by others; what it has computed is kept."""
        with self._lock:
            if clauses is None:
                if ranking not in self._own:
                    self._own[ranking] = self._made(ranker, self._clauses, certain, observer)
                found = self._own[ranking]
            else:
                last = self._other
                if last is None or last[0] != ranking or last[1] is not clauses:
                    self._other = last = (ranking, clauses, self._made(ranker, clauses, certain, observer))
                found = last[2]
        found.closure.observer = observer or Observer()
        return found

    def _made(
        self, ranker: Ranker, clauses: Sequence[Clause], certain: Facts | None, observer: Observer | None
    ) -> Consistent:
        if not clauses:
            raise InputError(
                "the run was trained without clauses, so there are none to obey; name some: --clauses FILE"
            )
        made = Consistent(ranker, self._graph, clauses, certain=certain)
        left_out = [clause for clause, _ in made.left_out]
        if left_out and observer is not None:
            shown = "; ".join(print_clause(clause, self._graph.display) for clause in left_out[:_SHOWN])
            more = "; …" if len(left_out) > _SHOWN else ""
            observer.message(f"{count(len(left_out), 'clause')} left out: {made.left_out[0].reason}: {shown}{more}")
        return made


def settled(best: BestFacts) -> BestFacts:
    """Return answers without those that constraints remove; what is certain scores +∞."""
    kept = best.scores > -np.inf
    scores = best.scores[kept]
    return BestFacts(best.facts[kept], np.where(scores >= CERTAIN, np.inf, scores))


def standings(ranker: Consistent, facts: NDArray[np.integer], scores: Values, known: KnownFacts) -> list[Entailment]:
    """Say of each fact whether train has it, it follows, clauses raise or remove it, or the ranking alone says it."""
    own = ranker.own(facts).double().cpu().numpy() if len(facts) else np.empty(0)
    raised = scores > own + _ROUNDING * np.maximum(1, np.abs(own))
    names: list[Entailment] = ["known", "entailed", "removed", "raised", "predicted"]
    places = np.select(
        [known.train.has(facts), np.isposinf(scores), np.isneginf(scores), raised], [0, 1, 2, 3], default=4
    )
    return [names[place] for place in places.tolist()]
