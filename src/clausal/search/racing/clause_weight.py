"""The weight of the clauses in a loss: the largest one that costs nothing on valid beyond noise, or none at all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from clausal.search.racing.clauses import WeighedClause
from clausal.search.racing.judging import Comparison, Reciprocals, compare
from clausal.search.racing.trial import Raced

_FACTORS = (0.01, 0.1, 1.0)  # of the rule's weight for clauses that hold
FIRST_FACTOR = _FACTORS[1]
"""Two weights are tried: the middle one, and the larger one if that costs nothing, or else the smaller one."""
SHARE_WITHOUT = 2 / 3
"""Of the epochs of a short trial are without clauses: these slow the start, which is not what a training ends with."""
_LOSS = 0.002  # of MRR: more is not taken for noise, however few valid facts there are
_ERRORS = 0.5  # differences within so many standard errors are none


class Tried(NamedTuple):
    """A weight, its trial, and the clauses with the weights that they had among each other."""

    weight: float
    trial: Raced
    clauses: Sequence[WeighedClause] = ()


@dataclass(frozen=True, eq=False)
class ClauseOutcome:
    """The weight that was chosen, why, and the ranks of valid facts with it, or with the one that came nearest.

    ``clauses`` are those of the chosen weight; none where that is 0.
    """

    weight: float
    explanation: str
    ranks: Reciprocals | None
    clauses: Sequence[WeighedClause] = ()


def next_factor(factor: float, cost: bool) -> float | None:
    """Return what to try after the first factor: more of what costs nothing, or less of what does."""
    return None if factor != FIRST_FACTOR else _FACTORS[0] if cost else _FACTORS[2]


def costs(trial: Raced, leader: Raced) -> bool:
    """Say whether clauses lowered MRR beyond noise."""
    assert trial.ranks is not None
    assert leader.ranks is not None
    return _costs(compare(trial.ranks, leader.ranks))


def _costs(found: Comparison) -> bool:
    return found.difference < -min(_LOSS, _ERRORS * found.error)


def choose_weight(tried: Sequence[Tried], leader: Raced) -> ClauseOutcome:
    """Choose among weights with their trials, given the trial without clauses.

    A weight is allowed if its MRR is not lower, beyond half a standard error of the paired difference and .002. Of
    those as good as the best one, the largest is taken: it obeys the clauses most.
    """
    found = [
        (one, compare(one.trial.ranks, leader.ranks))
        for one in tried
        if one.trial.ranks is not None and leader.ranks is not None
    ]
    if not found:
        why = "The clauses are not used in the loss: none could be tried within the race's work, or train refutes them."
        return ClauseOutcome(0.0, why, None)
    best, most = max(found, key=lambda pair: pair[1].difference)
    shown = ", ".join(f"{one.weight:g}: {gain}" for one, gain in sorted(found, key=lambda pair: pair[0].weight))
    if _costs(most):
        why = f"The clauses are not used in the loss (clauses.weight 0): every weight cost MRR on valid ({shown})."
        return ClauseOutcome(0.0, why, best.trial.ranks)
    allowed = [
        one for one, gain in found if not _costs(gain) and gain.difference >= most.difference - _ERRORS * gain.error
    ]
    chosen = max(allowed, key=lambda one: one.weight)
    why = f"clauses.weight {chosen.weight:g} was chosen, by the difference in MRR on valid from no clauses ({shown})."
    return ClauseOutcome(chosen.weight, why, chosen.trial.ranks, chosen.clauses)
