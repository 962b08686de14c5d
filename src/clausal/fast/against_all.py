"""The eager step of training against all entities, without tables of gradients that are mostly zero."""

from __future__ import annotations

import torch
from torch import Tensor

from clausal.model.encoders import FrozenTable, Table
from clausal.model.scorers.base import MultilinearScorer
from clausal.training.against_all import AgainstAll
from clausal.training.objective import Objective
from clausal.training.step import EagerStep, Passed


class AgainstAllStep(EagerStep):
    """Looks vectors up outside of autograd, and adds their gradient to that of the products with all entities.

    Autograd would make a table of zeros for each look-up, add its rows to it, and then the tables to each other.
    """

    def step(self, facts: Tensor, generator: torch.Generator) -> Passed:
        objective, predictor = self.objective, self.objective.predictor
        assert isinstance(objective.loss, AgainstAll)
        assert isinstance(predictor.encoder, Table)
        queries, table = objective.loss.source.queries(facts), predictor.encoder.weight
        entities = queries.entities
        vectors = table.detach()[entities].requires_grad_()
        fact_loss, penalty = objective.loss.of_vectors(queries, vectors)
        rest, inconsistency = objective.beside_facts()
        self.optimizer.zero_grad()
        (fact_loss + penalty + rest).backward()
        assert table.grad is not None
        assert vectors.grad is not None
        table.grad.index_add_(0, entities, vectors.grad)  # g ← ∇ J(G, A; θ, γ, S)
        self.optimizer.step()  # (θ, γ) ← (θ, γ) − η g
        predictor.project_()  # hⱼ ← proj(hⱼ)
        return Passed(fact_loss.detach(), inconsistency.detach())


def looks_up_rows(objective: Objective) -> bool:
    """Say whether the step is for this training: products with a table of vectors, which are trained."""
    encoder = objective.predictor.encoder
    multilinear = isinstance(objective.predictor.scorer, MultilinearScorer)
    return multilinear and isinstance(encoder, Table) and not isinstance(encoder, FrozenTable)
