"""The loss of queries as one matrix product with all entities, and its gradient as two, some rows at a time.

Autograd would keep the scores, their softmax and the gradient of both, each of [queries, entities]; here one such
matrix is made, overwritten by its gradient and given up, for as many queries at a time as fit the memory. Its rows
are padded to whole cache lines: with 9,738 or 40,943 entities, products on a GPU take three times as long without.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional as F

from clausal.training.all_entities.losses import AllEntitiesLoss
from clausal.training.all_entities.queries import Answers

_SCORES_AT_ONCE = 1 << 27
"""512 MB of scores."""
_ALIGNED = 64


class LossOfProducts(torch.autograd.Function):
    """loss(queries · candidatesᵀ) for queries [b, dim] and candidates [entities, dim]."""

    @staticmethod
    def forward(
        ctx: Any, queries: Tensor, candidates: Tensor, answers: Answers, loss: AllEntitiesLoss, precision: str
    ) -> Tensor:
        entities = len(candidates)
        padding = -entities % _ALIGNED
        candidates = F.pad(candidates, (0, 0, 0, padding)) if padding else candidates
        by_queries, by_candidates = torch.empty_like(queries), None
        total = queries.new_zeros(())
        at_once = max(1, _SCORES_AT_ONCE // len(candidates))
        with _precision(queries.device, precision):
            for start in range(0, len(queries), at_once):
                stop = min(start + at_once, len(queries))
                scores = queries[start:stop] @ candidates.T
                scores[:, entities:] = -torch.inf
                total += loss.overwrite_(scores, answers.of_rows(start, stop), entities)
                torch.mm(scores, candidates, out=by_queries[start:stop])
                if not ctx.needs_input_grad[1]:
                    continue
                if by_candidates is None:
                    by_candidates = scores.T @ queries[start:stop]
                else:
                    by_candidates.addmm_(scores.T, queries[start:stop])
        by_candidates = None if by_candidates is None else by_candidates[:entities]
        ctx.gradients = by_queries, by_candidates
        return total

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        by_queries, by_candidates = ctx.gradients
        del ctx.gradients  # so that autograd may keep them without a copy
        return (
            by_queries.mul_(gradient),
            None if by_candidates is None else by_candidates.mul_(gradient),
            None,
            None,
            None,
        )


class LossOfScores(torch.autograd.Function):
    """loss(scores), for scorers whose scores are no matrix product."""

    @staticmethod
    def forward(ctx: Any, scores: Tensor, answers: Answers, loss: AllEntitiesLoss) -> Tensor:
        ctx.gradient = scores.clone()
        return loss.overwrite_(ctx.gradient, answers, scores.shape[1])

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        return ctx.gradient.mul_(gradient), None, None


@contextmanager
def _precision(device: torch.device, name: str) -> Iterator[None]:
    """Multiply matrices on a GPU in TF32 (``high``) or exactly (``highest``)."""
    if device.type != "cuda":
        yield
        return
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision(name)
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(before)
