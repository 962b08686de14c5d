"""What fused kernels know of a model while it trains: its tables, its scorer's terms and its fact loss."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from torch import Tensor

from clausal.kernels.terms import Terms

LOSSES = {"hinge": 0, "pairwise": 1, "logistic": 2}
"""The fact losses that kernels compute, by the number under which they know them."""


class Projection(NamedTuple):
    """How rows are projected: ``clip`` to [low, high], to the ``sphere`` of norm 1, or into its ``ball``."""

    kind: str = "clip"
    low: float = -float("inf")
    high: float = float("inf")


PROJECTIONS = {"clip": 0, "sphere": 1, "ball": 2}
"""The kinds of projections, by the number under which kernels know them."""


@dataclass(frozen=True, eq=False)
class FusedModel:
    """A trilinear model on the memory of torch's tensors, in single precision."""

    entities: Tensor  # [entities, dim]
    relations: Tensor  # [relations, relation_dim]
    terms: Terms
    onto: Projection
    loss: str
    margin: float
    subject_weights: Tensor | None
    """How much a corrupted subject counts by relation [relations]; a corrupted object counts 2 minus that."""
    named: Tensor
    """The entities that clauses name [named]: they move in every step, whatever its facts."""

    @property
    def width(self) -> int:
        """How many numbers a part of a vector has."""
        return self.entities.shape[1] // self.terms.parts
