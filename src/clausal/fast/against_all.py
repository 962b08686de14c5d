"""Training against all entities, with less memory and fewer large tables than autograd makes.

The loss of queries is one matrix product with all entities, and its gradient two, some rows at a time. Autograd would
keep the scores, their softmax and the gradient of both, each of [queries, entities]; here one such matrix is made,
overwritten by its gradient and given up, for as many queries at a time as fit the memory. Its rows are padded to whole
cache lines: with 9,738 or 40,943 entities, products on a GPU take three times as long without.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional as F

from clausal.model.encoders import Table
from clausal.training.against_all import AgainstAll
from clausal.training.against_all.losses import AllEntitiesLoss, overwrite_
from clausal.training.against_all.queries import Answers
from clausal.training.step import Losses, Step

_SCORES_AT_ONCE = 1 << 27
"""512 MB of scores."""
_ALIGNED = 64


class AgainstAllStep(Step):
    """Looks vectors up outside of autograd, and adds their gradient to that of the products with all entities.

    Autograd would make a table of zeros for each look-up, add its rows to it, and then the tables to each other.
    """

    def __call__(self, facts: Tensor, generator: torch.Generator) -> Losses:
        objective, predictor = self.objective, self.objective.predictor
        assert isinstance(objective.loss, AgainstAll)
        assert isinstance(predictor.encoder, Table)
        queries, table = objective.loss.source.queries(facts), predictor.encoder.weight
        entities = queries.entities
        vectors = table.detach()[entities].requires_grad_()
        fact_loss, penalty = objective.loss.of_vectors(queries, vectors)
        inconsistency = objective.inconsistency()
        self.optimizer.zero_grad()
        (fact_loss + penalty + objective.weighted(inconsistency) + objective.l2_penalty()).backward()
        assert table.grad is not None
        assert vectors.grad is not None
        table.grad.index_add_(0, entities, vectors.grad)  # g ← ∇ J(G, A; θ, γ, S)
        self.optimizer.step()  # (θ, γ) ← (θ, γ) − η g
        predictor.project_()  # hⱼ ← proj(hⱼ)
        return Losses(fact_loss.detach(), inconsistency.detach())


def loss_of_products_in_pieces(
    queries: Tensor, candidates: Tensor, answers: Answers, loss: AllEntitiesLoss, precision: str
) -> Tensor:
    """Do what ``loss_of_products`` does, in pieces; on a GPU ``high`` precision multiplies in TF32."""
    value: Tensor = _LossOfProducts.apply(queries, candidates, answers, loss, precision)
    return value


class _LossOfProducts(torch.autograd.Function):
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
                total += overwrite_(loss, scores, answers.of_rows(start, stop), entities)
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
