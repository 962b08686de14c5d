"""The fused step: scores, gradient, AdaGrad and projection of a batch by kernels, without autograd's tensors.

For a trilinear scorer the gradient of a score is known, φ being linear in each of its three vectors, so that autograd
is needed only for dJ_F/dφ, a number for each scored triple, and for the inconsistency of the clauses, which reaches
relation parameters alone. On a CPU the kernels touch the rows of a batch and no others.
"""

from __future__ import annotations

import torch
from torch import Tensor

from clausal.config import Settings
from clausal.kernels import Kernels, Projection, find_kernels
from clausal.model.domains import Ball, Box, Domain, Sphere, Unbounded
from clausal.model.encoders import FrozenTable, Table
from clausal.model.predictor import LinkPredictor, Negatives
from clausal.training.losses import FactLoss
from clausal.training.objective import Objective
from clausal.training.steps.step import Passed, Step


class FusedStep(Step):
    """The same step as the eager one for AdaGrad, a trainable table of entities and a trilinear scorer."""

    name = "fused"

    def __init__(self, objective: Objective, optimizer: torch.optim.Optimizer, kernels: Kernels) -> None:
        super().__init__(objective, optimizer)
        predictor = objective.predictor
        assert isinstance(predictor.encoder, Table)
        assert predictor.scorer.terms is not None
        self.kernels = kernels
        self.terms = predictor.scorer.terms
        self.entities, self.relations = predictor.encoder.weight, predictor.relations
        self.entity_gradient = torch.zeros_like(self.entities)
        self.relation_gradient = torch.zeros_like(self.relations)
        self.onto = _projection(predictor.domain)
        self.names_entities = any(group.shape.constants for group in objective.groups)

    def step(self, facts: Tensor, generator: torch.Generator) -> Passed:
        objective = self.objective
        negatives = objective.corruption.draw(facts, generator)
        triples = _scored_triples(facts, negatives)
        flat = triples.flatten(1)
        model = self.entities.detach(), self.relations.detach(), flat
        scores = self.kernels.scores(*model, self.terms).view(triples.shape[1:]).requires_grad_()
        assert isinstance(objective.loss, FactLoss)
        fact_loss = objective.loss(scores[:, 0], scores[:, 1:].T, objective.corruption.weights(facts))
        (coefficients,) = torch.autograd.grad(fact_loss, scores)  # dJ_F/dφ
        inconsistency = self._add_beside_facts()
        rows = None if self.names_entities else self.kernels.rows_of(flat, len(self.entities))
        gradients = self.entity_gradient, self.relation_gradient
        self.kernels.add_gradients(*model[:3], coefficients.flatten(), self.terms, *gradients)
        self._descend(self.entities, self.entity_gradient, self.onto, rows)
        self._descend(self.relations, self.relation_gradient, Projection(), None)
        return Passed(fact_loss.detach(), inconsistency)

    def _add_beside_facts(self) -> Tensor:
        """Add the gradient of α J_I and of the regulariser: by the relations, and by entities that clauses name."""
        loss, inconsistency = self.objective.beside_facts()
        if not loss.requires_grad:
            return inconsistency.detach()
        if self.names_entities:
            by_entities, by_relations = torch.autograd.grad(loss, (self.entities, self.relations))
            self.entity_gradient += by_entities
        else:
            (by_relations,) = torch.autograd.grad(loss, self.relations)
        self.relation_gradient += by_relations
        return inconsistency.detach()

    def _descend(self, parameters: Tensor, gradient: Tensor, onto: Projection, rows: Tensor | None) -> None:
        (group,) = self.optimizer.param_groups
        sums = self.optimizer.state[parameters]["sum"]
        self.kernels.adagrad_(parameters.detach(), sums, gradient, group["lr"], onto, rows)


def kernels_for(predictor: LinkPredictor, settings: Settings) -> Kernels | str:
    """Return the kernels with which a model can be trained on this machine, or why it cannot."""
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
    if settings.train.optimizer != "adagrad":
        return f"the fused one takes AdaGrad's steps, and train.optimizer is {settings.train.optimizer}"
    if settings.facts.l2_entities:
        return "the fused one touches the entities of a batch alone, and facts.l2_entities moves all of them"
    if not isinstance(predictor.domain, Box | Sphere | Ball | Unbounded):
        return f"the fused one cannot project onto {predictor.domain!r}"
    return find_kernels(predictor.device)


def _projection(domain: Domain) -> Projection:
    if isinstance(domain, Box):
        return Projection("clip", domain.low, domain.high)
    return Projection(domain.name) if isinstance(domain, Sphere | Ball) else Projection()


def _scored_triples(facts: Tensor, negatives: Negatives) -> Tensor:
    """Return subjects, relations and objects [3, b, 1 + 2 negatives]: each fact, then its corruptions.

    A fact and its corruptions share most of their vectors, which are found in the cache one after the other.
    """
    subject, relation, object = facts.T.unsqueeze(-1)  # each [b, 1]
    count = len(negatives.subjects)
    subjects = torch.cat([subject, negatives.subjects.T, subject.expand(-1, count)], 1)
    objects = torch.cat([object.expand(-1, 1 + count), negatives.objects.T], 1)
    return torch.stack([subjects, relation.expand(-1, 1 + 2 * count), objects])
