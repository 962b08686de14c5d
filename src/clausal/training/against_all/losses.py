"""Losses of scores against all entities, with their gradient written over the scores: they are large, and made once.

The loss of queries as one matrix product with all entities, and its gradient as two, some rows at a time.

Autograd would keep the scores, their softmax and the gradient of both, each of [queries, entities]; here one such
matrix is made, overwritten by its gradient and given up, for as many queries at a time as fit the memory. Its rows
are padded to whole cache lines: with 9,738 or 40,943 entities, products on a GPU take three times as long without.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional as F

from clausal.training.against_all.queries import Answers


class AllEntitiesLoss(ABC):
    """J_F of queries whose answers are known, summed over the queries."""

    def __init__(self, label_smoothing: float = 0.0) -> None:
        self.label_smoothing = label_smoothing

    @abstractmethod
    def overwrite_(self, scores: Tensor, answers: Answers, entities: int) -> Tensor:
        """Return the loss of scores [queries, ≥ entities], and leave its gradient in their place.

        Columns after those of the entities are −∞ and cost nothing; what is left there means nothing.
        """


class Softmax(AllEntitiesLoss):
    """Cross-entropy between softmax(scores) and the uniform distribution over a query's answers."""

    def overwrite_(self, scores: Tensor, answers: Answers, entities: int) -> Tensor:
        smoothing = self.label_smoothing
        truth = (1 - smoothing) * answers.shares.to(scores.dtype)
        expected = (truth * _at(scores, answers)).sum()  # Σ truth · score
        if smoothing:
            expected = expected + smoothing * scores[:, :entities].sum() / entities
        largest = scores.amax(1, keepdim=True)
        total = scores.sub_(largest).exp_().sum(1, keepdim=True)
        loss = (total.log() + largest).sum() - expected
        scores.div_(total)  # softmax
        _subtract_(scores, answers, truth)
        if smoothing:
            scores.sub_(smoothing / entities)
        return loss


class Logistic(AllEntitiesLoss):
    """Binary cross-entropy of every entity as an answer, the mean over entities."""

    def overwrite_(self, scores: Tensor, answers: Answers, entities: int) -> Tensor:
        smoothing = self.label_smoothing
        truth = torch.full_like(answers.shares, 1 - smoothing, dtype=scores.dtype)
        expected = (truth * _at(scores, answers)).sum()
        if smoothing:
            expected = expected + smoothing * scores[:, :entities].sum() / entities
        loss = (F.softplus(scores).sum() - expected) / entities
        scores.sigmoid_()
        _subtract_(scores, answers, truth)
        if smoothing:
            scores.sub_(smoothing / entities)
        scores.div_(entities)
        return loss


def _at(scores: Tensor, answers: Answers) -> Tensor:
    return scores[answers.rows, answers.entities]


def _subtract_(scores: Tensor, answers: Answers, truth: Tensor) -> None:
    scores.view(-1).index_add_(0, answers.rows * scores.shape[1] + answers.entities, truth, alpha=-1)


LOSSES: dict[str, type[AllEntitiesLoss]] = {"softmax": Softmax, "logistic": Logistic}


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
