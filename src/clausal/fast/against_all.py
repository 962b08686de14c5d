"""The step of training against all entities, without tables of gradients that are mostly zero."""

from __future__ import annotations

import torch
from torch import Tensor

from clausal.model.encoders import Table
from clausal.training.against_all import AgainstAll
from clausal.training.step import Losses, Step


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
