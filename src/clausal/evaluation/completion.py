"""The most probable facts that are not known, over all pairs of entities and some relations: exact, in bounded memory.

A probability rises with the score, so that a least probability is a least score for each relation. Where only so many
facts are wanted, the least of those kept so far raises it as the work goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from clausal.evaluation.calibration import Calibration
from clausal.evaluation.pairs import pair_finder
from clausal.evaluation.protocol import Ranker, score_facts
from clausal.graph.facts import Facts
from clausal.observer import Observer

_KEPT_AT_ONCE = 1 << 20
"""Facts that may be kept beyond those wanted, before the worst are dropped."""
_STEPS = 200  # of bisection
_SATURATED = 60.0  # log-odds beyond which a sigmoid is 0 or 1

Values = NDArray[np.float64]


class Completion(NamedTuple):
    """Facts with their scores and probabilities, the most probable first, and how many pairs were decided on."""

    facts: Facts
    scores: Values
    probabilities: Values
    decided: int


def complete(
    ranker: Ranker,
    calibration: Calibration,
    known: Callable[[Facts], NDArray[np.bool_]],
    *,
    relations: Sequence[int],
    least: float,
    limit: int | None = None,
    per_entity: int | None = None,
    observer: Observer | None = None,
) -> Completion:
    """Return the facts of some relations that are at least so probable, without those ``known``, the best first.

    At most ``limit`` of them are kept, and at most ``per_entity`` with the same subject. Of equal probability, that
    whose log-odds by the sigmoid are higher comes first, and then that of the lower ids.
    """
    finder, best = pair_finder(ranker), _Best(calibration, least, limit, per_entity)
    observer = observer or Observer()
    total, decided = len(relations) * ranker.num_entities**2, 0
    for relation in relations:
        for subjects, objects, looked_at in finder.reaching(relation, best.least_score(relation)):
            facts = np.stack([subjects, np.full(len(subjects), relation), objects], 1)
            facts = facts[~known(facts)] if len(facts) else facts
            if len(facts):
                best.add(facts, score_facts(ranker, facts))
            decided += looked_at
            observer.advanced("completing", decided, total, "facts")
    return best.found(decided)


class _Best:
    """Keeps the best facts seen so far, and knows what a fact must reach to be among them."""

    def __init__(self, calibration: Calibration, least: float, limit: int | None, per_entity: int | None) -> None:
        self.calibration, self.limit, self.per_entity = calibration, limit, per_entity
        self.floor = (least, -np.inf)  # probability, log-odds
        self.rows: list[NDArray[np.float64]] = []
        self.count = 0

    def least_score(self, relation: int) -> float:
        """Return a score that every fact of a relation has which is to be kept; ∞ where none can be."""
        fit = self.calibration.relations.get(relation, self.calibration.overall)
        if not fit.slope > 0:
            return -np.inf

        def probability(odds: float) -> float:
            score = np.array([(odds - fit.intercept) / fit.slope])
            return float(self.calibration.probabilities(score, np.array([relation]))[0])

        least, odds = self.floor
        from_least = _first(probability, least)
        if from_least is None:
            return np.inf
        above = _first(probability, float(np.nextafter(least, np.inf)))
        needed = max(from_least, odds)
        needed = needed if above is None else min(needed, above)
        needed -= 1e-9 * max(1.0, abs(needed))  # rounding; what is found is judged by its own probability
        return -np.inf if needed <= -_SATURATED else float((needed - fit.intercept) / fit.slope)

    def add(self, facts: NDArray[np.integer], scores: Values) -> None:
        """Take in facts with their scores."""
        probabilities = self.calibration.probabilities(scores, facts[:, 1])
        kept = probabilities >= self.floor[0]
        if not kept.any():
            return
        odds = self._odds(scores, facts[:, 1])
        self.rows.append(np.column_stack([facts, scores, probabilities, odds])[kept])
        self.count += int(kept.sum())
        if self.count > _KEPT_AT_ONCE + (self.limit or 0):
            self._prune()

    def found(self, decided: int) -> Completion:
        """Return what is kept."""
        self._prune()
        rows = self.rows[0] if self.rows else np.empty((0, 6))
        return Completion(rows[:, :3].astype(np.int32), rows[:, 3], rows[:, 4], decided)

    def _odds(self, scores: Values, relations: NDArray[np.integer]) -> Values:
        fits = {one: self.calibration.relations.get(one, self.calibration.overall) for one in set(relations.tolist())}
        slopes = np.array([fits[one].slope for one in relations.tolist()])
        return slopes * scores + np.array([fits[one].intercept for one in relations.tolist()])

    def _prune(self) -> None:
        """Drop what is not among the best, and raise what the next ones must reach."""
        if not self.rows:
            return
        rows = np.concatenate(self.rows)
        rows = rows[np.lexsort((rows[:, 2], rows[:, 0], rows[:, 1], -rows[:, 5], -rows[:, 4]))]
        if self.per_entity is not None:
            rows = rows[first_of_each(rows[:, 0], self.per_entity)]
        if self.limit is not None and len(rows) >= self.limit:
            rows = rows[: self.limit]
            if len(rows):
                self.floor = max(self.floor, (float(rows[-1, 4]), float(rows[-1, 5])))
        self.rows, self.count = [rows], len(rows)


def first_of_each(keys: Values, most: int) -> NDArray[np.bool_]:
    """Mark the first rows of each key, in their order. Shape [rows]."""
    order = np.argsort(keys, kind="stable")
    starts = np.flatnonzero(np.append(True, np.diff(keys[order]) > 0)) if len(keys) else np.empty(0, np.int64)
    place = np.arange(len(keys)) - np.repeat(starts, np.diff(np.append(starts, len(keys))))
    marked = np.zeros(len(keys), np.bool_)
    marked[order] = place < most
    return marked


def _first(rising: Callable[[float], float], least: float) -> float | None:
    """Return about where a rising function of log-odds reaches a value; None where it does not."""
    low, high = -_SATURATED, _SATURATED
    if rising(high) < least:
        return None
    if rising(low) >= least:
        return -np.inf
    for _ in range(_STEPS):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        low, high = (low, middle) if rising(middle) >= least else (middle, high)
    return low
