"""SimplE (Kazemi and Poole 2018): each entity has a subject and an object half, each relation also an inverse."""

from __future__ import annotations

import torch
from torch import Tensor

from clausal.model.scorers.base import BlockScorer, Terms, TrilinearTerm, halves


class SimplE(BlockScorer):
    """½ (⟨s₁, r, o₂⟩ + ⟨o₁, r′, s₂⟩) with entity halves (·₁, ·₂) and relation halves (r, r′)."""

    name = "simple"
    halved = True
    terms = Terms(2, (TrilinearTerm(0.5, 0, 0, 1), TrilinearTerm(0.5, 1, 1, 0)))

    def object_query(self, subject: Tensor, relation: Tensor) -> Tensor:
        forward, inverse = halves(relation)
        first, second = halves(subject)
        return torch.cat([inverse * second, forward * first], -1) / 2

    def subject_query(self, relation: Tensor, object: Tensor) -> Tensor:
        forward, inverse = halves(relation)
        first, second = halves(object)
        return torch.cat([forward * second, inverse * first], -1) / 2

    def blocks(self, relation: Tensor) -> Tensor:
        forward, inverse = halves(relation / 2)
        nothing = torch.zeros_like(forward)
        return torch.stack([nothing, forward, inverse, nothing], -1).unflatten(-1, (2, 2))
