"""What a check over real entities finds for one clause, counted block by block."""

from __future__ import annotations

from dataclasses import dataclass, field

import torch
from torch import Tensor

from clausal.adversary.reciprocal import Reading
from clausal.evaluation.protocol import not_numbers
from clausal.logic.syntax import Clause


@dataclass(frozen=True)
class EntityCheck:
    """How far one clause holds over all assignments of real entities to its variables.

    For a chain an assignment is a pair of entities for its two ends, with the middle entities that violate it
    most. ``worst`` gives the entity id of each variable, by name, where the violation is ``largest``, and ``reading``
    what is scored there: facts or, of a reciprocal model, the answers to questions. All else is about facts.
    ``reason`` says why a clause could not be checked; then nothing was counted.
    """

    clause: Clause
    checked: int = 0
    violated: int = 0
    mean: float = 0.0
    largest: float = 0.0
    worst: dict[str, int] = field(default_factory=dict)
    reading: Reading = "fact"
    reason: str | None = None

    @property
    def rate(self) -> float:
        """The share of assignments that violate the clause by more than the tolerance."""
        return self.violated / self.checked if self.checked else 0.0


class Tally:
    """Counts violated assignments, sums their violations and remembers the worst."""

    def __init__(self, tolerance: float) -> None:
        self.tolerance = tolerance
        self.checked = 0
        self.violated = 0
        self.total = 0.0
        self.largest = 0.0
        self.row = self.column = 0

    @property
    def mean(self) -> float:
        """The mean violation, over violated assignments and others."""
        return self.total / self.checked if self.checked else 0.0

    def add(self, violation: Tensor, exists: Tensor | None, row: int, column: int) -> None:
        """Count a block of violations whose first entry stands at this row and column.

        ``exists`` tells assignments that are there from those that are not, such as pairs without a vector.
        """
        if exists is not None:
            violation = torch.where(exists, violation, 0)
        self.checked += violation.numel() if exists is None else int(exists.sum())
        largest = violation.max().item()
        if largest != largest:  # the largest of anything and not-a-number is not-a-number
            raise not_numbers()
        if largest > 0:
            self.violated += int(torch.count_nonzero(violation > self.tolerance))
            # Blocks are small: a sum in the model's precision loses nothing, and is faster on a CPU.
            self.total += violation.sum().item()
        if largest > self.largest:
            self.largest = largest
            self.row, self.column = (
                int(at) + start
                for at, start in zip(
                    torch.unravel_index(violation.argmax(), violation.shape), (row, column), strict=True
                )
            )
