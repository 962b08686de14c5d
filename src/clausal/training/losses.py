"""Fact losses: how far scores of facts [b] and of their corruptions [negatives, b] are from what they should be.

A reciprocal model scores facts once for each reading: [2, 1, b] and [2, negatives, b].
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import torch
from torch import Tensor
from torch.nn import functional as F


class FactLoss(ABC):
    """J_F, summed over a batch; ``weights`` [negatives, b] scale the terms of single corruptions."""

    def __init__(self, margin: float = 1.0) -> None:
        self.margin = margin

    @abstractmethod
    def __call__(self, positive: Tensor, negative: Tensor, weights: Tensor | None = None) -> Tensor:
        """Return the loss of the batch, a scalar."""


class Hinge(FactLoss):
    """Σ [γ − y φ]₊ over facts (y = 1) and corruptions (y = −1): the paper's fact loss."""

    def __call__(self, positive: Tensor, negative: Tensor, weights: Tensor | None = None) -> Tensor:
        return torch.relu(self.margin - positive).sum() + _total(torch.relu(self.margin + negative), weights)


class PairwiseMargin(FactLoss):
    """Σ [γ − φ⁺ + φ⁻]₊ over each fact and each of its corruptions."""

    def __call__(self, positive: Tensor, negative: Tensor, weights: Tensor | None = None) -> Tensor:
        return _total(torch.relu(self.margin - positive + negative), weights)


class Logistic(FactLoss):
    """Σ log(1 + exp(−y φ)) over facts (y = 1) and corruptions (y = −1)."""

    def __call__(self, positive: Tensor, negative: Tensor, weights: Tensor | None = None) -> Tensor:
        return F.softplus(-positive).sum() + _total(F.softplus(negative), weights)


def _total(terms: Tensor, weights: Tensor | None) -> Tensor:
    return terms.sum() if weights is None else (terms * weights).sum()


LOSSES: dict[str, type[FactLoss]] = {"hinge": Hinge, "pairwise": PairwiseMargin, "logistic": Logistic}
