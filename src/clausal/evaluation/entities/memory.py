"""How much is held at once: blocks within the budget, and small enough that a CPU finds them in its cache."""

from __future__ import annotations

from dataclasses import dataclass

import torch

DEFAULT_MEMORY = 512 * 2**20
"""Bytes for scores and the work on them, beside the model itself."""

_IN_CACHE = 2**20
_ON_A_DEVICE = 2**26
_FLOAT64 = 8


@dataclass(frozen=True)
class Memory:
    """A budget in bytes, told in how many numbers a block may have."""

    budget: int
    device: torch.device

    @property
    def block(self) -> int:
        """Numbers in a piece of work on which a few operations follow one another."""
        return min(_IN_CACHE if self.device.type == "cpu" else _ON_A_DEVICE, self.budget // (8 * _FLOAT64))

    def rows(self, entities: int, matrices: int) -> int:
        """How many rows of a score matrix to take at once, when that many matrices of them are needed."""
        return max(1, min(entities, self.block // entities, self.budget // (_FLOAT64 * entities * matrices)))

    def columns(self, entities: int, matrices: int) -> int:
        """How many columns to hold at once: more than rows, as much work is done on each, in half the budget."""
        limit = 512 if self.device.type == "cpu" else entities
        return max(1, min(entities, limit, self.budget // (2 * _FLOAT64 * entities * matrices)))

    def depth(self, entities: int) -> int:
        """How many of its best middles to keep for each entity, with a score and an id each, in a quarter."""
        return max(1, min(entities, 1024, self.budget // (4 * 2 * _FLOAT64 * entities)))
