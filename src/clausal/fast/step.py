"""The fused step: gradient, AdaGrad and projection of a batch by kernels, without autograd's tensors.

For a trilinear scorer the gradient of a score is known, φ being linear in each of its three vectors, and so is that of
the fact losses. Autograd is needed only for the inconsistency of the clauses, which reaches relation parameters, and
the entities that clauses name. On a CPU the kernels touch the rows of a batch and no others.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from clausal.config import Settings
from clausal.fast.kernels import LOSSES, FusedModel, Kernels, find_kernels
from clausal.model.encoders import FrozenTable, Table
from clausal.model.predictor import LinkPredictor
from clausal.training.objective import Objective
from clausal.training.step import Passed, Step


class FusedStep(Step):
    """The same step as the eager one for AdaGrad, a trainable table of entities and a trilinear scorer."""

    name = "fused"

    def __init__(
        self, objective: Objective, optimizer: torch.optim.Optimizer, make_kernels: Callable[[FusedModel], Kernels]
    ) -> None:
        super().__init__(objective, optimizer)
        predictor, facts = objective.predictor, objective.settings.facts
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

    def step(self, facts: Tensor, generator: torch.Generator) -> Passed:
        negatives = self.objective.corruption.draw(facts, generator)
        fact_loss = self.kernels.add_fact_gradients(facts, *negatives)  # g ← ∇J_F
        inconsistency = self._add_beside_facts()
        (group,) = self.optimizer.param_groups
        entity_sums, relation_sums = (self.optimizer.state[table]["sum"] for table in (self.entities, self.relations))
        self.kernels.adagrad_(entity_sums, relation_sums, group["lr"])  # (θ, γ) ← (θ, γ) − η g, hⱼ ← proj(hⱼ)
        return Passed(fact_loss, inconsistency)

    def _add_beside_facts(self) -> Tensor:
        """Add the gradient of α J_I and of the regulariser: by the relations, and by entities that clauses name."""
        added = self.objective.add_gradient_beside_facts(self.kernels.relation_gradient)
        if added is not None:
            return added
        loss, inconsistency = self.objective.beside_facts()
        if not loss.requires_grad:
            return inconsistency.detach()
        if len(self.named):
            by_entities, by_relations = torch.autograd.grad(loss, (self.entities, self.relations))
            self.kernels.add_named_gradients(by_entities[self.named])
        else:
            (by_relations,) = torch.autograd.grad(loss, self.relations)
        self.kernels.relation_gradient += by_relations
        return inconsistency.detach()


def kernels_for(predictor: LinkPredictor, settings: Settings) -> Callable[[FusedModel], Kernels] | str:
    """Return what makes the kernels with which a model can be trained on this machine, or why it cannot."""
    if settings.facts.training != "corruption":
        return "the fused one is for corruptions, and training against all entities is matrix products"
    if predictor.rows_per_relation > 1:
        return "the fused one reads a relation in one direction, and reciprocal relations have two vectors"
    if settings.facts.regulariser != "none":
        return "the fused one has no regulariser of a batch's vectors"
    if predictor.scorer.terms is None:
        return f"{type(predictor.scorer).__name__} is not a sum of trilinear terms"
    if not isinstance(predictor.encoder, Table) or isinstance(predictor.encoder, FrozenTable):
        return "the fused one needs a trainable table of entity vectors"
    if settings.facts.loss not in LOSSES:
        return f"the fused one has no loss {settings.facts.loss}"
    if settings.train.optimizer != "adagrad":
        return f"the fused one takes AdaGrad's steps, and train.optimizer is {settings.train.optimizer}"
    if settings.facts.l2_entities:
        return "the fused one touches the entities of a batch alone, and facts.l2_entities moves all of them"
    if predictor.domain.projection is None:
        return f"the fused one cannot project onto {predictor.domain!r}"
    return find_kernels(predictor.device)
