"""DistMult (Yang et al. 2015): φ_r(h₁, h₂) = ⟨θ_r, h₁, h₂⟩, symmetric in subject and object."""

from __future__ import annotations

from torch import Tensor

from clausal.model.scorers.base import BlockScorer, Terms, TrilinearTerm


class DistMult(BlockScorer):
    """⟨θ_r, h₁, h₂⟩, the tri-linear dot product."""

    name = "distmult"
    terms = Terms(1, (TrilinearTerm(1, 0, 0, 0),))

    def object_query(self, subject: Tensor, relation: Tensor) -> Tensor:
        return relation * subject

    def subject_query(self, relation: Tensor, object: Tensor) -> Tensor:
        return relation * object

    def blocks(self, relation: Tensor) -> Tensor:
        return relation[..., None, None]
