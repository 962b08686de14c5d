"""The plan of a race: how much work it may take, and how small and short its trials are.

Trials are of the final dimension where that leaves room for enough of them, and of a smaller one elsewhere.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from clausal.config import Settings
from clausal.search.best import DIMS, Machine
from clausal.search.racing.work import Size, minutes_of_work, training_work
from clausal.search.space import change

SHARE = 0.4  # of the final training's work
MINUTES = 1.0  # or this, where it is more
_TRIALS = 14
_TRIALS_OF_CLAUSES = 4
_EPOCHS = (8, 20, 40)  # of a trial: the least, enough, and the most
_VALIDATIONS = 8
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
        return max(1, self.epochs // _VALIDATIONS)

    def to_dict(self) -> dict[str, Any]:
        """Return the plan as JSON holds it."""
        return asdict(self)


def make_plan(size: Size, settings: Settings, clauses: int, machine: Machine, minutes: float = MINUTES) -> Plan:
    """Plan a race for a final training with ``settings``."""
    final = training_work(size, settings, 0, machine)
    budget = max(int(SHARE * final), minutes_of_work(minutes, machine))
    trials = _TRIALS + (_TRIALS_OF_CLAUSES if clauses else 0)
    least, enough, most = _EPOCHS
    dims = sorted({dim for dim in DIMS if _SMALLEST <= dim < settings.model.dim} | {settings.model.dim}, reverse=True)
    epochs = least
    for dim in dims:
        one = training_work(size, change(settings, {"model.dim": dim}), 0, machine, epochs=1)
        epochs = min(most, max(least, budget // (trials * one)))
        if epochs >= enough:
            break
    return Plan(budget, dim, min(epochs, settings.train.epochs))
