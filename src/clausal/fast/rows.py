"""The step by rows with kernels: the gradient of the facts by the rows of their batch, without autograd's tensors."""

from __future__ import annotations

import torch
from torch import Tensor

from clausal.fast.features import FeatureLoss
from clausal.fast.kernels import RowKernels, find_row_kernels
from clausal.model.row_table import Batch, together
from clausal.training.objective import Objective
from clausal.training.rows import RowStep
from clausal.training.step import Losses


class FusedRowStep(RowStep):
    """The same step for corruptions and a trilinear scorer."""

    name = "fused, by rows"

    def __init__(self, objective: Objective, optimizer: torch.optim.Optimizer) -> None:
        super().__init__(objective, optimizer)
        self.relations = objective.predictor.relations
        make_kernels = find_row_kernels(objective.predictor.device)
        assert not isinstance(make_kernels, str), make_kernels
        share, facts = objective.corruption.subject_share, objective.settings.facts
        terms = objective.predictor.scorer.terms
        assert terms is not None
        self.kernels: RowKernels = make_kernels(
            terms, self.relations, facts.loss, facts.margin, None if share is None else 2 * share
        )

    def __call__(self, facts: Tensor, generator: torch.Generator) -> Losses:
        negatives = self.objective.corruption.draw(facts, generator)
        count, shape = len(facts), negatives.subjects.shape
        entities = torch.cat([facts[:, 0], facts[:, 2], negatives.subjects.flatten(), negatives.objects.flatten()])
        ids, places = entities.unique(return_inverse=True)
        batch = self.table.fetch(ids)
        subject, object, others = places.split([count, count, 2 * shape.numel()])
        facts = torch.stack([subject, facts[:, 1], object], 1)
        relation_gradient = torch.zeros_like(self.relations, requires_grad=False)
        subjects, objects = others.view(2, *shape)
        fact_loss, gradient = self.kernels(batch.rows, facts, subjects, objects, relation_gradient)
        inconsistency, named = self._add_clause_gradients(relation_gradient)
        self.relations.grad = relation_gradient
        self.descend_on_relations()
        home = together([batch.bring_home(gradient), *(one.bring_home(by_rows) for one, by_rows in named)])
        self.descend_on_rows(home, generator)
        self.objective.predictor.obey_()
        return Losses(fact_loss, inconsistency)

    def _add_clause_gradients(self, by_relations: Tensor) -> tuple[Tensor, list[tuple[Batch, Tensor]]]:
        """Add this process's share of the gradient of α J_I and of the penalty on relations.

        Returned are J_I of each clause, and the gradients by the rows of entities that clauses name.
        """
        objective = self.objective
        facts = objective.settings.facts
        if not objective.groups and not facts.l2_relations:
            return objective.inconsistency(), []
        if objective.groups and isinstance(objective.clause_loss, FeatureLoss) and not facts.l2_relations:
            slopes = objective.settings.clauses.alpha / self.peers.size * objective.clause_weights
            added = objective.clause_loss.add_gradient(slopes, by_relations)
            if added is not None:
                return added, []
        with self.table.recording() as batches:
            inconsistency = objective.inconsistency()
            loss = self.share_of_the_rest(inconsistency)
            if not loss.requires_grad:
                return inconsistency.detach(), []
            inputs = [self.relations, *(batch.rows for batch in batches)]
            found = torch.autograd.grad(loss, inputs, materialize_grads=True)
        by_relations += found[0]
        return inconsistency.detach(), list(zip(batches, found[1:], strict=True))
