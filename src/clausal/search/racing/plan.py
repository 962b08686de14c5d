"""The plan of a race: how much work it may take, and how small and short its trials are.

Trials are of the final dimension where that leaves room for enough of them, and else of a half, a quarter of
it: the best weights of regulariser and relations depend on the dimension, so no smaller ones.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from clausal.config import Settings
from clausal.search.best import Machine
from clausal.search.racing.work import Size, minutes_of_work, training_work
from clausal.search.space import change

SHARE = 0.4  # of the final training's work
MINUTES = 1.0  # or this, where it is more
_TRIALS = 6, 11  # if a race has room for so many, the dimension is large enough; and trials are longer than so
_EPOCHS = 9, 40  # of a trial: the least and the most
_VALIDATIONS = 9, 3  # of a long trial and of a short one
_PARTS = 1, 2, 4  # of the final dimension
_SMALLEST = 64


@dataclass(frozen=True)
class Plan:
    """The budget of a race in operations, and the dimension and the epochs of its trials."""

    budget: int
    dim: int
    epochs: int

    @property
    def every(self) -> int:
        """Epochs between two validations of a trial."""
        many, few = _VALIDATIONS
        return max(1, self.epochs // (many if self.epochs >= 2 * many else few))

    def to_dict(self) -> dict[str, Any]:
        """Return the plan as JSON holds it."""
        return asdict(self)


def make_plan(size: Size, settings: Settings, machine: Machine, minutes: float = MINUTES) -> Plan:
    """Plan a race for a final training with ``settings``: the same with clauses as without."""
    budget = max(int(SHARE * training_work(size, settings, 0, machine)), minutes_of_work(minutes, machine))
    (fewest, usual), (least, most), (many, few) = _TRIALS, _EPOCHS, _VALIDATIONS
    for part in _PARTS:
        dim = min(settings.model.dim, max(_SMALLEST, settings.model.dim // part // 2 * 2))
        one = training_work(size, change(settings, {"model.dim": dim}), 0, machine, epochs=1)
        if fewest * least * one <= budget:
            break
    epochs = min(most, max(least, budget // (usual * one)))
    epochs -= epochs % (many if epochs >= 2 * many else few)  # validations are equally far from each other
    return Plan(budget, dim, min(epochs, settings.train.epochs))
