"""CP, the canonical polyadic decomposition (Hitchcock 1927): unrelated vectors for an entity's two roles."""

from __future__ import annotations

import torch
from torch import Tensor

from clausal.model.scorers.base import BlockScorer, Terms, TrilinearTerm, halves


class CP(BlockScorer):
    """⟨s₁, r, o₂⟩ with entity halves (·₁, ·₂) for the roles of subject and of object."""

    name = "cp"
    halved = True
    terms = Terms(2, (TrilinearTerm(1, 0, 0, 1),))

    @property
    def relation_dim(self) -> int:
        return self.dim // 2

    def object_query(self, subject: Tensor, relation: Tensor) -> Tensor:
        as_subject, _ = halves(subject)
        query = relation * as_subject
        return torch.cat([torch.zeros_like(query), query], -1)

    def subject_query(self, relation: Tensor, object: Tensor) -> Tensor:
        _, as_object = halves(object)
        query = relation * as_object
        return torch.cat([query, torch.zeros_like(query)], -1)

    def blocks(self, relation: Tensor) -> Tensor:
        nothing = torch.zeros_like(relation)
        return torch.stack([nothing, relation, nothing, nothing], -1).unflatten(-1, (2, 2))
