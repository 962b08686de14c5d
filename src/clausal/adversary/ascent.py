"""Gradient ascent on adversarial sets: lines 9 to 16 of Algorithm 1, and random real entities, where it starts."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from clausal.adversary.adversary import AdversarialSet, Adversary, Vectors
from clausal.adversary.clauses import ClauseGroup
from clausal.adversary.regions import projected, region_of, resolved
from clausal.adversary.semantics import POOLINGS, Godel, Semantics
from clausal.bounds.regions import Region
from clausal.choices import RegionName
from clausal.fast import fastest
from clausal.model.predictor import LinkPredictor

InPlaceProjection = Callable[[Tensor], object]
"""Projects vectors in place."""


class RealEntities(Adversary):
    """Vectors of entities drawn at random: the baseline without a search (τ_a = 0)."""

    def __init__(self, sets: int = 1, pooling: str = "sum", semantics: Semantics | None = None) -> None:
        self.sets = sets
        self.pooling = pooling
        self.semantics = semantics or Godel()

    @torch.no_grad()
    def find(
        self,
        predictor: LinkPredictor,
        groups: Sequence[ClauseGroup],
        generator: torch.Generator | None = None,
    ) -> list[Vectors]:
        shapes = [(len(group), self.sets, group.slots(predictor).free) for group in groups]
        return [Vectors(predictor.random_arguments(shape, generator)) for shape in shapes]

    def inconsistency(
        self, predictor: LinkPredictor, groups: Sequence[ClauseGroup], adversarial_set: AdversarialSet
    ) -> Tensor:
        return torch.cat(
            [
                self.pool(group.violation(predictor, self.semantics, vectors_of(found)))
                for group, found in zip(groups, adversarial_set, strict=True)
            ]
        )

    def pool(self, violations: Tensor) -> Tensor:
        """Make one violation of those on the B sets of each clause: [clauses, sets] → [clauses]."""
        return POOLINGS[self.pooling](violations)


class GradientAscent(RealEntities):
    """τ_a projected AdaGrad ascent steps on S, from randomly drawn entities.

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
        self.between_searches: object = None  # what a fast form keeps from one search to the next

    def find(
        self,
        predictor: LinkPredictor,
        groups: Sequence[ClauseGroup],
        generator: torch.Generator | None = None,
    ) -> list[Vectors]:
        start = super().find(predictor, groups, generator)  # randomly initialise S₀
        return fastest(ascend, self, predictor, groups, start)(self, predictor, groups, start)

    @torch.no_grad()
    def projections(self, predictor: LinkPredictor, groups: Sequence[ClauseGroup]) -> list[InPlaceProjection]:
        """Return the projection onto the region of each group, whose limits are looked up once."""
        if resolved(self.region, predictor) == "domain":
            return [predictor.domain.project_] * len(groups)

        def onto(region: Region | None) -> InPlaceProjection:
            return lambda vectors: vectors.copy_(projected(predictor, region, vectors))

        return [onto(region_of(predictor, group, self.region, self.facts)) for group in groups]


def ascend(
    ascent: GradientAscent, predictor: LinkPredictor, groups: Sequence[ClauseGroup], start: Sequence[Vectors]
) -> list[Vectors]:
    """Climb from given vectors, in place, on J_I of all clauses."""
    vectors = [found.vectors for found in start]

    def inconsistency() -> Tensor:
        return ascent.inconsistency(predictor, groups, start).sum()

    climb(inconsistency, vectors, ascent.projections(predictor, groups), ascent.steps, ascent.learning_rate)
    return [Vectors(found.detach()) for found in vectors]


def climb(
    objective: Callable[[], Tensor],
    vectors: Sequence[Tensor],
    projections: Sequence[InPlaceProjection],
    steps: int,
    learning_rate: float,
) -> None:
    """Take projected AdaGrad steps up, in place: lines 11 to 14 of Algorithm 1."""
    # A vector that no free slot needs (a clause of constants alone) has nothing to ascend.
    searched = [one.requires_grad_() for one in vectors if one.numel()]
    if not searched:
        return
    optimizer = torch.optim.Adagrad(searched, lr=learning_rate, initial_accumulator_value=0.1, maximize=True)
    for _ in range(steps):
        gradients = torch.autograd.grad(objective(), searched)  # g ← ∇_S J_I(A; θ, S)
        for one, gradient in zip(searched, gradients, strict=True):
            one.grad = gradient
        optimizer.step()  # S ← S + η g
        for one, project_ in zip(vectors, projections, strict=True):
            project_(one.data)  # hⱼ ← proj(hⱼ)


def vectors_of(found: object) -> Tensor:
    """Return the vectors of what was found for a group by a search among vectors."""
    assert isinstance(found, Vectors)
    return found.vectors
