"""The projection onto equalities, an order and balances, for many columns of numbers at once.

It is the nearest point where the square of a change counts by the weight of its number: all alike, or as an optimiser
weighs them. Equal numbers become their mean; then each part of what is left is projected by its kind: exactly on trees,
and by sweeps with a last pass that ends inside elsewhere.

All of it is operations of torch on indices that are made once, so that a CUDA graph can hold them.
"""

from __future__ import annotations

import torch
from torch import Tensor

from clausal.adversary.hard.balances import Balances
from clausal.adversary.hard.structure import Structure
from clausal.adversary.hard.sweeps import Sweeps
from clausal.adversary.hard.trees import Forest

LEAST_SQUARE = 1e-10
"""Added to squares, so that a number that had no gradient yet follows others."""


class Projection:
    """Projects numbers [nodes, columns] onto a structure."""

    def __init__(self, structure: Structure, device: torch.device) -> None:
        self.class_of = torch.tensor(structure.class_of, device=device)
        self.signs = torch.tensor(structure.signs, device=device, dtype=torch.float32).unsqueeze(1)
        self.classes = len(structure.sizes)
        self.signed = min(structure.signs, default=1) < 0
        self.zero = torch.tensor(structure.zero, device=device, dtype=torch.long)
        self.non_negative = torch.tensor(structure.non_negative, device=device, dtype=torch.long)
        self.forest = Forest.of(structure.trees, device) if structure.trees else None
        self.rest = Sweeps.of(structure.rest, device) if structure.rest else None
        self.balances = Balances.of(structure, device) if structure.rows else None

    def project_(self, table: Tensor, places: Tensor, squares: Tensor | None = None) -> None:
        """Project the numbers at places [nodes, columns] of a table's memory, in their place.

        The roots of ``squares``, of the whole table, are the weights; without them all numbers weigh the same.
        """
        weights = None if squares is None else (squares[places] + LEAST_SQUARE).sqrt()
        table[places] = self(table[places], weights)

    def __call__(self, numbers: Tensor, weights: Tensor | None = None) -> Tensor:
        """Return numbers [nodes, columns] in the set: the nearest by their weights, or near it."""
        signs = self.signs.to(numbers.dtype)
        values = signs * numbers if self.signed else numbers
        weights = torch.ones_like(values) if weights is None else weights
        total = values.new_zeros(self.classes, values.shape[1]).index_add_(0, self.class_of, weights)
        values = torch.zeros_like(total).index_add_(0, self.class_of, weights * values) / total
        if len(self.zero):
            values.index_fill_(0, self.zero, 0.0)
        if self.forest is not None:
            self.forest.project_(values, total)
        if self.rest is not None:
            self.rest.project_(values, total)
        if self.balances is not None:
            self.balances.project_(values, total)
        if len(self.non_negative):
            values.index_copy_(0, self.non_negative, values[self.non_negative].clamp_min(0.0))
        projected = values[self.class_of]
        return signs * projected if self.signed else projected
