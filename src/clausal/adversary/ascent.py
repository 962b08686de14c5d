"""Adversaries: they find the adversarial set S, the vectors on which the model breaks its clauses the most."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence

import torch
from torch import Tensor

from clausal.adversary.clauses import ArgumentSlots, ClauseGroup
from clausal.adversary.regions import RegionName, projected, region_of, resolved
from clausal.adversary.semantics import POOLINGS, Godel, Semantics
from clausal.bounds.regions import Region
from clausal.fast.features import features_of, has_features, violation_by_features
from clausal.model.predictor import LinkPredictor

AdversarialSet = list[Tensor]
"""S: for each group of clauses the vectors bound to its variables [clauses, sets, slots, dim]."""


class Adversary(ABC):
    """FindAdversarialSet of Algorithm 1, and the inconsistency loss on what it finds."""

    @abstractmethod
    def find(
        self,
        predictor: LinkPredictor,
        groups: Sequence[ClauseGroup],
        generator: torch.Generator | None = None,
    ) -> AdversarialSet:
        """Return an adversarial set for the model as it is."""

    @abstractmethod
    def start(
        self,
        predictor: LinkPredictor,
        groups: Sequence[ClauseGroup],
        generator: torch.Generator | None = None,
    ) -> AdversarialSet:
        """Return an adversarial set before any search: S₀."""

    @abstractmethod
    def inconsistency(
        self, predictor: LinkPredictor, groups: Sequence[ClauseGroup], adversarial_set: AdversarialSet
    ) -> Tensor:
        """Return the inconsistency of each clause [clauses], in the order of the groups; weights not applied."""

    def while_constant(
        self, predictor: LinkPredictor, groups: Sequence[ClauseGroup], adversarial_set: AdversarialSet
    ) -> AdversarialSet:
        """Return what the discriminator trains on until the next search: the set, or what is quicker to score."""
        return adversarial_set

    def constant_inconsistency(
        self, predictor: LinkPredictor, groups: Sequence[ClauseGroup], constants: AdversarialSet
    ) -> Tensor:
        """Return the inconsistency of each clause on what ``while_constant`` returned, the same numbers."""
        return self.inconsistency(predictor, groups, constants)

    def add_gradient(
        self,
        predictor: LinkPredictor,
        groups: Sequence[ClauseGroup],
        constants: AdversarialSet,
        slopes: Tensor,
        into: Tensor,
    ) -> Tensor | None:
        """Add Σ slope · ∂J_I/∂θ over clauses to the gradient by relations, and return ``constant_inconsistency``.

        None, and nothing is added, where autograd has to find the gradient.
        """
        return None


class RealEntities(Adversary):
    """Vectors of entities drawn at random: the baseline without a search (τ_a = 0)."""

    def __init__(self, sets: int = 1, pooling: str = "sum", semantics: Semantics | None = None) -> None:
        self.sets = sets
        self.pooling = pooling
        self.semantics = semantics or Godel()

    @torch.no_grad()
    def start(
        self,
        predictor: LinkPredictor,
        groups: Sequence[ClauseGroup],
        generator: torch.Generator | None = None,
    ) -> AdversarialSet:
        return [
            predictor.random_arguments(
                (
                    len(group.clauses),
                    self.sets,
                    ArgumentSlots.of(group.shape, predictor.scorer.arguments).free,
                ),
                generator,
            )
            for group in groups
        ]

    def find(
        self,
        predictor: LinkPredictor,
        groups: Sequence[ClauseGroup],
        generator: torch.Generator | None = None,
    ) -> AdversarialSet:
        return self.start(predictor, groups, generator)

    def inconsistency(
        self, predictor: LinkPredictor, groups: Sequence[ClauseGroup], adversarial_set: AdversarialSet
    ) -> Tensor:
        return self._pooled(
            group.violation(predictor, self.semantics, vectors)
            for group, vectors in zip(groups, adversarial_set, strict=True)
        )

    def while_constant(
        self, predictor: LinkPredictor, groups: Sequence[ClauseGroup], adversarial_set: AdversarialSet
    ) -> AdversarialSet:
        return [
            features_of(predictor, group, vectors) if has_features(predictor, group) else vectors
            for group, vectors in zip(groups, adversarial_set, strict=True)
        ]

    def constant_inconsistency(
        self, predictor: LinkPredictor, groups: Sequence[ClauseGroup], constants: AdversarialSet
    ) -> Tensor:
        return self._pooled(
            violation_by_features(predictor, group, self.semantics, kept)
            if has_features(predictor, group)
            else group.violation(predictor, self.semantics, kept)
            for group, kept in zip(groups, constants, strict=True)
        )

    def _pooled(self, violations: Iterable[Tensor]) -> Tensor:
        return torch.cat([POOLINGS[self.pooling](violation) for violation in violations])


class GradientAscent(RealEntities):
    """τ_a projected AdaGrad ascent steps on S, from randomly drawn entities: lines 9 to 16 of Algorithm 1.

    ``region`` is where S lives, and ``roles`` needs the train facts.
    """

    def __init__(
        self,
        sets: int = 1,
        steps: int = 10,
        learning_rate: float = 0.1,
        pooling: str = "sum",
        semantics: Semantics | None = None,
        region: RegionName = "domain",
        facts: Tensor | None = None,
    ) -> None:
        super().__init__(sets, pooling, semantics)
        self.steps = steps
        self.learning_rate = learning_rate
        self.region: RegionName = region
        self.facts = facts

    def find(
        self,
        predictor: LinkPredictor,
        groups: Sequence[ClauseGroup],
        generator: torch.Generator | None = None,
    ) -> AdversarialSet:
        return self.ascend(predictor, groups, self.start(predictor, groups, generator))  # randomly initialise S₀

    def ascend(
        self, predictor: LinkPredictor, groups: Sequence[ClauseGroup], adversarial_set: AdversarialSet
    ) -> AdversarialSet:
        """Climb from a given set, in place."""
        # A vector that no free slot needs (a clause of constants alone) has nothing to ascend.
        searched = [vectors.requires_grad_() for vectors in adversarial_set if vectors.numel()]
        if not searched:
            return adversarial_set
        project_ = self._projections(predictor, groups)
        ascent = torch.optim.Adagrad(searched, lr=self.learning_rate, initial_accumulator_value=0.1, maximize=True)
        for _ in range(self.steps):
            loss = self.inconsistency(predictor, groups, adversarial_set).sum()
            gradients = torch.autograd.grad(loss, searched)  # g ← ∇_S J_I(A; θ, S)
            for vectors, gradient in zip(searched, gradients, strict=True):
                vectors.grad = gradient
            ascent.step()  # S ← S + η g
            for vectors, onto_region_ in zip(adversarial_set, project_, strict=True):
                onto_region_(vectors.data)  # hⱼ ← proj(hⱼ)
        return [vectors.detach() for vectors in adversarial_set]

    @torch.no_grad()
    def _projections(self, predictor: LinkPredictor, groups: Sequence[ClauseGroup]) -> list[Callable[[Tensor], Tensor]]:
        """Return the projection onto the region of each group, whose limits are looked up once."""
        if resolved(self.region, predictor) == "domain":
            return [predictor.domain.project_] * len(groups)

        def onto(region: Region | None) -> Callable[[Tensor], Tensor]:
            return lambda vectors: vectors.copy_(projected(predictor, region, vectors))

        return [onto(region_of(predictor, group, self.region, self.facts)) for group in groups]
