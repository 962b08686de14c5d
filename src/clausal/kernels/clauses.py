"""What fast kernels know of adversarial sets: vectors bound to the variables of clauses of one shape."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from torch import Tensor

from clausal.kernels.model import Projection


class BoundSets(NamedTuple):
    """Sets of vectors, the relations of the clauses' atoms, and which vectors an atom is scored on."""

    vectors: Tensor  # [clauses, sets, slots, dim]
    relations: Tensor  # [clauses, atoms, relation_dim]
    subjects: tuple[int, ...]
    objects: tuple[int, ...]


class SetKernels(Protocol):
    """What is computed on the sets of several shapes at once, for one trilinear scorer."""

    def score(self, bound: Sequence[BoundSets]) -> list[Tensor]:
        """Score the atoms of each shape [clauses, sets, atoms]."""

    def relation_gradients(self, bound: Sequence[BoundSets], slopes: Sequence[Tensor]) -> list[Tensor]:
        """Return the gradient by the relations of each shape, given that by its scores [clauses, sets, atoms]."""

    def ascend_(
        self,
        bound: Sequence[BoundSets],
        sums: Sequence[Tensor],
        slopes: Sequence[Tensor],
        rate: float,
        onto: Projection,
    ) -> None:
        """Take an AdaGrad step up, and project; a vector without a gradient stays as it is."""
