"""The fused step: gradient, AdaGrad and projection of a batch by kernels, without autograd's tensors.

For a trilinear scorer the gradient of a score is known, φ being linear in each of its three vectors, and so is that of
the fact losses. Autograd is needed only for the inconsistency of the clauses, which reaches relation parameters, and
the entities that clauses name. On a CPU the kernels touch the rows of a batch and no others.
"""

from __future__ import annotations

import torch
from torch import Tensor

from clausal.fast.features import FeatureLoss
from clausal.fast.kernels import FusedModel, find_kernels
from clausal.model.encoders import Table
from clausal.training.objective import Objective
from clausal.training.step import Losses, Step


class FusedStep(Step):
    """The same step for AdaGrad, a trainable table of entities and a trilinear scorer."""

    name = "fused"

    def __init__(self, objective: Objective, optimizer: torch.optim.Optimizer) -> None:
        super().__init__(objective, optimizer)
        predictor, facts = objective.predictor, objective.settings.facts
        make_kernels = find_kernels(predictor.device)
        assert not isinstance(make_kernels, str), make_kernels
        assert isinstance(predictor.encoder, Table)
        assert predictor.scorer.terms is not None
        assert predictor.domain.projection is not None
        self.entities, self.relations = predictor.encoder.weight, predictor.relations
        constants = [group.constants.flatten() for group in objective.groups]
        self.named = torch.cat([*constants, torch.empty(0, dtype=torch.long, device=predictor.device)]).unique()
        share = objective.corruption.subject_share
        self.kernels = make_kernels(
            FusedModel(
                self.entities,
                self.relations,
                predictor.scorer.terms,
                predictor.domain.projection,
                facts.loss,
                facts.margin,
                None if share is None else 2 * share,
                self.named,
            )
        )

    def __call__(self, facts: Tensor, generator: torch.Generator) -> Losses:
        negatives = self.objective.corruption.draw(facts, generator)
        fact_loss = self.kernels.add_fact_gradients(facts, *negatives)  # g ← ∇J_F
        inconsistency = self._add_clause_gradients()
        (group,) = self.optimizer.param_groups
        entity_sums, relation_sums = (self.optimizer.state[table]["sum"] for table in (self.entities, self.relations))
        self.kernels.adagrad_(entity_sums, relation_sums, group["lr"])  # (θ, γ) ← (θ, γ) − η g, hⱼ ← proj(hⱼ)
        self.objective.predictor.obey_()
        return Losses(fact_loss, inconsistency)

    def _add_clause_gradients(self) -> Tensor:
        """Add the gradient of α J_I and of the penalty on relations; return J_I of each clause.

        It reaches the relations, and entities that clauses name.
        """
        objective, into = self.objective, self.kernels.relation_gradient
        facts = objective.settings.facts
        if not objective.groups and not facts.l2_relations:
            return objective.inconsistency()
        if objective.groups and isinstance(objective.clause_loss, FeatureLoss) and not facts.l2_relations:
            slopes = objective.settings.clauses.alpha * objective.clause_weights
            added = objective.clause_loss.add_gradient(slopes, into)
            if added is not None:
                return added
        inconsistency = objective.inconsistency()
        loss = objective.weighted(inconsistency) + objective.l2_penalty()
        if not loss.requires_grad:
            return inconsistency.detach()
        if len(self.named):
            by_entities, by_relations = torch.autograd.grad(loss, (self.entities, self.relations))
            self.kernels.add_named_gradients(by_entities[self.named])
        else:
            (by_relations,) = torch.autograd.grad(loss, self.relations)
        into += by_relations
        return inconsistency.detach()
