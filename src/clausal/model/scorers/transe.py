"""TransE (Bordes et al. 2013): φ_r(h₁, h₂) = −‖h₁ + θ_r − h₂‖, in L1, L2 or squared L2."""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor

from clausal.model.scorers.base import BROADCAST_LIMIT, Scorer

Norm = Literal["l1", "l2", "l2-squared"]

_NEAR = 1e-3
"""Share of ‖p‖² + ‖c‖² below which ‖p‖² + ‖c‖² − 2 p·c has too few correct digits: above it, at least four are left."""


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
        squared = squared_distances(points, candidates)
        return -squared if self.norm == "l2-squared" else -squared.sqrt()

    def extra_repr(self) -> str:
        return f"{super().extra_repr()}, norm={self.norm}"


def squared_distances(points: Tensor, candidates: Tensor) -> Tensor:
    """Return ‖p − c‖² of all points [b, dim] and candidates [n, dim] → [b, n], by one matrix product.

    ‖p‖² + ‖c‖² − 2 p·c loses its digits where points and candidates are close. These pairs are few, and are computed
    again from their difference; but not while a training step is recorded, where nothing may depend on values.
    """
    point_norms, candidate_norms = points.square().sum(-1), candidates.square().sum(-1)
    squared = (point_norms.unsqueeze(1) + candidate_norms).addmm_(points, candidates.T, alpha=-2)
    recorded = points.is_cuda and torch.cuda.is_current_stream_capturing()
    if recorded or torch.compiler.is_compiling() or not squared.numel():
        return squared.clamp_min(0)
    with torch.no_grad():
        limit = _NEAR * (point_norms + candidate_norms.amax())
        row, column = (squared <= limit.unsqueeze(1)).nonzero().unbind(1)
        near = squared[row, column] <= _NEAR * (point_norms[row] + candidate_norms[column])
        row, column = row[near], column[near]
    pairs_at_once = max(1, BROADCAST_LIMIT // points.shape[1])
    for some, others in zip(row.split(pairs_at_once), column.split(pairs_at_once), strict=True):
        squared[some, others] = (points[some] - candidates[others]).square().sum(-1)
    return squared
