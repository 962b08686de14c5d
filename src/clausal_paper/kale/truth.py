"""Truth values in [0, 1] of triples and of ground rules, and the ranking loss over them (Guo et al. 2016)."""

from __future__ import annotations

import math

import torch
from torch import Tensor


def scale(dim: int) -> float:
    """Return 3√k, which no ‖h + r − t‖₁ of unit vectors exceeds."""
    return 3 * math.sqrt(dim)


def triple_truth(difference: Tensor) -> Tensor:
    """I = 1 − ‖h + r − t‖₁ / (3√k), from h + r − t [..., dim] → [...]."""
    return 1 - difference.abs().sum(-1) / scale(difference.shape[-1])


def rule_truth(body: Tensor, head: Tensor) -> Tensor:
    """I = ∏ I(body) · (I(head) − 1) + 1: the product t-norm. [..., atoms], [...] → [...]."""
    # Not Tensor.prod, whose gradient looks for zeros and so waits for a GPU.
    return math.prod(body.unbind(-1), start=torch.ones_like(head)) * (head - 1) + 1


def ranking_loss(positive: Tensor, negative: Tensor, margin: float) -> Tensor:
    """Σ max(0, margin − positive + negative)."""
    return (margin - positive + negative).clamp_min(0).sum()
