"""The step against all entities on a table that is worked on by rows, which processes may have dealt among them.

Every process has the whole batch of queries and scores its own rows as answers. The softmax of a query is over all of
them: its largest score, and then its sum of exponentials, are reduced over processes. From these each process knows the
gradient of its own scores. That of its own rows is complete; those of the vectors of the batch, and of relations, are
parts of a sum.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from clausal.model.row_table import RowGradients, RowTable, together
from clausal.model.scorers.base import MultilinearScorer
from clausal.training.against_all.losses import AllEntitiesLoss, overwrite_
from clausal.training.against_all.objective import AgainstAll, relation_loss
from clausal.training.against_all.queries import Answers, Queries
from clausal.training.objective import Objective
from clausal.training.regularisers import penalty, query_vectors
from clausal.training.rows import RowStep, bring_home
from clausal.training.step import Losses

_SCORES_AT_ONCE = 1 << 27
"""512 MB of scores."""


class AgainstAllRowStep(RowStep):
    """One projected gradient step for a batch of queries, each against all entities."""

    name = "against all, by rows"

    def __init__(self, objective: Objective, optimizer: torch.optim.Optimizer) -> None:
        super().__init__(objective, optimizer)
        assert isinstance(objective.loss, AgainstAll)
        self.against_all = objective.loss
        self.loss = SharedLoss(objective.loss.loss, self.table)

    def own_part(self, batch: Tensor) -> Tensor:
        """Return all of it: each process scores every query, on its own rows."""
        return batch

    def __call__(self, facts: Tensor, generator: torch.Generator) -> Losses:
        objective, table = self.objective, self.table
        queries = self.against_all.source.queries(facts)
        candidates = table.own_vectors().detach().requires_grad_()
        self.optimizer.zero_grad()
        with table.recording() as batches:
            vectors = objective.predictor.encode(queries.entities)
            known, answers = vectors.tensor_split([len(queries.known)])
            fact_loss = self._fact_loss(queries, known, candidates)
            inconsistency = objective.inconsistency()
            rest = self._further_losses(queries, known, answers) / self.peers.size
            (fact_loss + rest + self.share_of_the_rest(inconsistency)).backward()
        self.descend_on_relations()
        gradient = candidates.grad
        assert gradient is not None
        came = together([bring_home(batch) for batch in batches])
        gradient.index_add_(0, *came)
        everywhere = torch.arange(len(gradient), device=gradient.device)
        self.descend_on_rows(RowGradients(everywhere, gradient), generator)
        objective.predictor.obey_()
        return Losses(fact_loss.detach(), inconsistency.detach())

    def _fact_loss(self, queries: Queries, known: Tensor, candidates: Tensor) -> Tensor:
        """Return this process's part of J_F, for the vectors of what is known in each query."""
        predictor = self.objective.predictor
        answers = self.loss.own_answers(queries.answers)
        loss: Tensor
        if isinstance(predictor.scorer, MultilinearScorer):
            loss = _LossOfProducts.apply(query_vectors(predictor, queries, known), candidates, answers, self.loss)
        else:
            loss = _LossOfScores.apply(self.against_all.scores(queries, known, candidates), answers, self.loss)
        return loss

    def _further_losses(self, queries: Queries, known: Tensor, answers: Tensor) -> Tensor:
        """Return the penalty on the vectors of a batch, and the loss of predicting relations; alike everywhere."""
        about, predictor = self.against_all, self.objective.predictor
        asked = query_vectors(predictor, queries, known) if about.regulariser == "dura" else None
        total = about.regulariser_weight * penalty(about.regulariser, predictor, queries, known, answers, asked)
        if about.relation_weight:
            total = total + about.relation_weight * relation_loss(predictor, queries, known, answers, about.precision)
        return total


@dataclass(frozen=True, eq=False)
class SharedLoss:
    """A loss of scores against all entities, of which each process has those of its own rows."""

    loss: AllEntitiesLoss
    table: RowTable

    @property
    def queries_at_once(self) -> int:
        """How many queries are scored at a time, the same number in every process."""
        most = -(-self.table.dealing.rows // self.table.dealing.size)
        return max(1, _SCORES_AT_ONCE // max(1, most))

    def own_answers(self, answers: Answers) -> Answers:
        """Return the answers that are rows of this process, with their places there."""
        dealing = self.table.dealing
        if dealing.size == 1:
            return answers
        own = dealing.owners(answers.entities) == dealing.rank
        return Answers(answers.rows[own], dealing.places(answers.entities[own]), answers.shares[own])

    def overwrite_(self, scores: Tensor, answers: Answers) -> Tensor:
        """Return this process's part of the loss of scores [queries, own rows]; leave its gradient in their place."""
        return overwrite_(self.loss, scores, answers, self.table.dealing.rows, self.table.peers)


class _LossOfProducts(torch.autograd.Function):
    """The loss of queries [b, dim] · candidatesᵀ, some queries at a time."""

    @staticmethod
    def forward(ctx: Any, queries: Tensor, candidates: Tensor, answers: Answers, loss: SharedLoss) -> Tensor:
        by_queries, by_candidates = torch.empty_like(queries), torch.zeros_like(candidates)
        value = queries.new_zeros(())
        for start in range(0, len(queries), loss.queries_at_once):
            stop = min(start + loss.queries_at_once, len(queries))
            inside = (answers.rows >= start) & (answers.rows < stop)
            part = Answers(answers.rows[inside] - start, answers.entities[inside], answers.shares[inside])
            scores = queries[start:stop] @ candidates.T
            value += loss.overwrite_(scores, part)
            torch.mm(scores, candidates, out=by_queries[start:stop])
            by_candidates.addmm_(scores.T, queries[start:stop])
        ctx.gradients = by_queries, by_candidates
        return value

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        by_queries, by_candidates = ctx.gradients
        del ctx.gradients  # so that autograd may keep them without a copy
        return by_queries.mul_(gradient), by_candidates.mul_(gradient), None, None


class _LossOfScores(torch.autograd.Function):
    """The loss of scores [queries, own rows]."""

    @staticmethod
    def forward(ctx: Any, scores: Tensor, answers: Answers, loss: SharedLoss) -> Tensor:
        ctx.gradient = scores.clone()
        return loss.overwrite_(ctx.gradient, answers)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        return ctx.gradient.mul_(gradient), None, None
