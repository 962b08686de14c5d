"""What fast kernels know of clauses, and compute for their inconsistency."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from torch import Tensor

from clausal.kernels.model import Projection


class BoundSets(NamedTuple):
    """Adversarial sets of clauses of one shape: vectors bound to their variables, the relations of
    their atoms, and which vectors an atom is scored on.
    """

    vectors: Tensor  # [clauses, sets, slots, dim]
    relations: Tensor  # [relations, relation_dim]
    ids: Tensor  # [clauses, atoms]
    subjects: tuple[int, ...]
    objects: tuple[int, ...]


class Corners(NamedTuple):
    """One alternative of the closed forms on a box of clauses of one shape."""

    features: Tensor  # [clauses, corners, numbers]
    constants: Tensor  # [clauses]


class Forms(NamedTuple):
    """A violation [maxₖ minⱼ (Cⱼ · scores + oⱼ)]₊ in single precision; ``ends`` says where alternative k has ended."""

    matrix: Tensor  # [forms, atoms]
    offsets: Tensor  # [forms]
    ends: Tensor  # [alternatives]


class ClauseKernels(Protocol):
    """Scores of sets and steps on them, of several shapes at once, and closed forms, for one trilinear scorer."""

    def score(self, bound: Sequence[BoundSets]) -> list[Tensor]:
        """Score the atoms of each shape [clauses, sets, atoms]."""

    def violations(
        self, scores: Sequence[Tensor], forms: Sequence[Forms], weights: Sequence[Tensor]
    ) -> tuple[list[Tensor], list[Tensor]]:
        """Return the sum of each clause's violations over its sets, and its gradient by the scores times weights."""

    def add_relation_gradients(self, bound: Sequence[BoundSets], slopes: Sequence[Tensor], into: Tensor) -> None:
        """Add the gradient by all relations, given that by the scores of each shape [clauses, sets, atoms]."""

    def ascend_(
        self,
        bound: Sequence[BoundSets],
        sums: Sequence[Tensor],
        slopes: Sequence[Tensor],
        rate: float,
        onto: Projection,
    ) -> None:
        """Take an AdaGrad step up, and project; a vector without a gradient stays as it is."""

    def add_by_corners(
        self, corners: Sequence[Corners], ids: Tensor, relations: Tensor, slopes: Tensor, into: Tensor
    ) -> Tensor:
        """Return the largest of 0 and Σᵢ maxₖ ⟨f(k), r[i]⟩ + constant over the alternatives of each clause.

        Its gradient by the relations, times the slope of its clause, is added to ``into``; ``ids`` [clauses, atoms]
        are the rows of the atoms' relations in both.
        """
