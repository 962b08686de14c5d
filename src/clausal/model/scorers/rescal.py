"""RESCAL (Nickel et al. 2011): φ_r(h₁, h₂) = h₁ᵀ M_r h₂, a full matrix for each relation."""

from __future__ import annotations

import torch
from torch import Tensor

from clausal.model.scorers.base import BlockScorer


class RESCAL(BlockScorer):
    """h₁ᵀ M_r h₂; the dim² numbers of a relation are the rows of M_r one after the other."""

    name = "rescal"

    @property
    def relation_dim(self) -> int:
        return self.dim * self.dim

    def object_query(self, subject: Tensor, relation: Tensor) -> Tensor:
        return torch.einsum("...ij,...i->...j", self._matrix(relation), subject)

    def subject_query(self, relation: Tensor, object: Tensor) -> Tensor:
        return torch.einsum("...ij,...j->...i", self._matrix(relation), object)

    def _matrix(self, relation: Tensor) -> Tensor:
        return relation.unflatten(-1, (self.dim, self.dim))

    def components(self, vectors: Tensor) -> Tensor:
        return vectors.unsqueeze(-2)

    def join(self, components: Tensor) -> Tensor:
        return components.squeeze(-2)

    def blocks(self, relation: Tensor) -> Tensor:
        return self._matrix(relation).unsqueeze(-3)
