"""The weight of the clauses in a loss: the largest one that costs nothing on valid beyond noise, or none at all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from clausal.search.racing.judging import Comparison, Reciprocals, compare
from clausal.search.racing.trial import Raced

_FACTORS = (0.01, 0.1, 1.0)  # of the rule's weight for clauses that hold
FIRST_FACTOR = _FACTORS[1]
CLAUSE_TRIALS = 2
"""How many weights are tried: the middle one, and the larger one if that costs nothing, or else the smaller one."""
_LOSS = 0.002  # of MRR: more is not taken for noise, however few valid facts there are
_ERRORS = 0.5  # differences within so many standard errors are none


@dataclass(frozen=True, eq=False)
class ClauseOutcome:
    """The weight that was chosen, why, and the ranks of valid facts with it, or with the one that came nearest."""

    weight: float
    explanation: str
    ranks: Reciprocals | None


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


def choose_weight(tried: Sequence[tuple[float, Raced]], leader: Raced) -> ClauseOutcome:
    """Choose among weights with their trials, given the trial without clauses.

    A weight is allowed if its MRR is not lower, beyond half a standard error of the paired difference and .002. Of
    those as good as the best one, the largest is taken: it obeys the clauses most.
    """
    found: list[tuple[float, Raced, Comparison]] = [
        (weight, trial, compare(trial.ranks, leader.ranks))
        for weight, trial in tried
        if trial.ranks is not None and leader.ranks is not None
    ]
    if not found:
        why = "The clauses are not used in the loss: none could be tried within the race's work, or train refutes them."
        return ClauseOutcome(0.0, why, None)
    best = max(found, key=lambda one: one[2].difference)
    shown = ", ".join(f"{weight:g}: {comparison}" for weight, _, comparison in sorted(found, key=lambda one: one[0]))
    if _costs(best[2]):
        why = f"The clauses are not used in the loss (clauses.weight 0): every weight cost MRR on valid ({shown})."
        return ClauseOutcome(0.0, why, best[1].ranks)
    allowed = [
        one for one in found if not _costs(one[2]) and one[2].difference >= best[2].difference - _ERRORS * one[2].error
    ]
    weight, trial, _ = max(allowed, key=lambda one: one[0])
    why = f"clauses.weight {weight:g} was chosen, by the difference in MRR on valid from no clauses ({shown})."
    return ClauseOutcome(weight, why, trial.ranks)
