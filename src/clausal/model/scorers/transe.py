"""TransE (Bordes et al. 2013): φ_r(h₁, h₂) = −‖h₁ + θ_r − h₂‖, in L1, L2 or squared L2."""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor

from clausal.model.scorers.base import Scorer

Norm = Literal["l1", "l2", "l2-squared"]


class TransE(Scorer):
    """−‖h₁ + θ_r − h₂‖."""

    name = "transe"
    distance = True

    def __init__(self, dim: int, norm: Norm = "l1") -> None:
        super().__init__(dim)
        self.norm: Norm = norm

    def score(self, subject: Tensor, relation: Tensor, object: Tensor) -> Tensor:
        difference = subject + relation - object
        if self.norm == "l2-squared":
            return -difference.square().sum(-1)
        if self.norm == "l1":
            return -difference.abs().sum(-1)  # on a CPU vector_norm takes more than twice as long
        return -torch.linalg.vector_norm(difference, dim=-1)

    def score_objects(self, subject: Tensor, relation: Tensor, candidates: Tensor) -> Tensor:
        return self._minus_distance(subject + relation, candidates)

    def score_subjects(self, candidates: Tensor, relation: Tensor, object: Tensor) -> Tensor:
        return self._minus_distance(object - relation, candidates)

    def _minus_distance(self, points: Tensor, candidates: Tensor) -> Tensor:
        if self.norm == "l1":
            return -torch.cdist(points, candidates, p=1)
        squared = points.square().sum(-1, keepdim=True) + candidates.square().sum(-1)
        squared = torch.addmm(squared, points, candidates.T, alpha=-2).clamp_min(0)
        return -squared if self.norm == "l2-squared" else -squared.sqrt()

    def extra_repr(self) -> str:
        return f"{super().extra_repr()}, norm={self.norm}"
