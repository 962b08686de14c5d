"""Ascent on adversarial sets: lines 9 to 16 of Algorithm 1, and random real entities, where it starts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import torch
from torch import Tensor

from clausal.adversary.adversary import AdversarialSet, Adversary, Vectors
from clausal.adversary.clauses import ClauseGroup
from clausal.adversary.regions import farthest, projected, region_of, resolved
from clausal.adversary.semantics import POOLINGS, Godel, Semantics
from clausal.bounds.regions import Region
from clausal.choices import AscentName, RegionName
from clausal.fast import fastest
from clausal.model.predictor import LinkPredictor

InPlaceProjection = Callable[[Tensor], object]
"""Projects vectors in place."""

LEARNING_RATES: dict[AscentName, float] = {"adagrad": 0.1, "sgd": 1.0, "alternating": 1.0}
"""η where none is given; alternating steps need none."""

SHARES = (1.0, 0.5, 0.25, 0.125)
"""How far an alternating step goes: the whole way, or less where that would lower the violation."""


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
    """τ_a projected ascent steps on S, from randomly drawn entities.

    ``region`` is where S lives, and ``roles`` needs the train facts. AdaGrad climbs J_I as it is pooled. Plain steps
    and alternating ones climb on each set on its own, so that η means the same for any pooling and number of sets.
    """

    def __init__(
        self,
        sets: int = 1,
        steps: int = 10,
        learning_rate: float | None = None,
        pooling: str = "sum",
        semantics: Semantics | None = None,
        region: RegionName = "domain",
        facts: Tensor | None = None,
        optimizer: AscentName = "adagrad",
    ) -> None:
        super().__init__(sets, pooling, semantics)
        self.steps = steps
        self.optimizer: AscentName = optimizer
        self.learning_rate = LEARNING_RATES[optimizer] if learning_rate is None else learning_rate
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

    @property
    def climbed(self) -> RealEntities:
        """Whose inconsistency the gradient is of."""
        return self if self.optimizer == "adagrad" else RealEntities(self.sets, "sum", self.semantics)

    def evaluations(self, predictor: LinkPredictor, group: ClauseGroup) -> int:
        """Return how often the loss of a group could be evaluated while it is searched for."""
        turns = group.slots(predictor).free * (1 + len(SHARES) // 2) if self.optimizer == "alternating" else 1
        return 2 * turns * self.steps + 2

    @torch.no_grad()
    def projections(self, predictor: LinkPredictor, groups: Sequence[ClauseGroup]) -> list[InPlaceProjection]:
        """Return the projection onto the region of each group, whose limits are looked up once."""
        if resolved(self.region, predictor) == "domain":
            return [predictor.domain.project_] * len(groups)

        def onto(region: Region | None) -> InPlaceProjection:
            return lambda vectors: vectors.copy_(projected(predictor, region, vectors))

        return [onto(region) for region in self.regions(predictor, groups)]

    @torch.no_grad()
    def regions(self, predictor: LinkPredictor, groups: Sequence[ClauseGroup]) -> list[Region | None]:
        """Return the region of each group; None for the domain itself."""
        if resolved(self.region, predictor) == "domain":
            return [None] * len(groups)
        return [region_of(predictor, group, self.region, self.facts) for group in groups]


def ascend(
    ascent: GradientAscent, predictor: LinkPredictor, groups: Sequence[ClauseGroup], start: Sequence[Vectors]
) -> list[Vectors]:
    """Climb from given vectors on J_I of all clauses; gradient steps move them in place."""
    if ascent.optimizer == "alternating":
        regions = ascent.regions(predictor, groups)
        return [alternate(ascent, predictor, *one) for one in zip(groups, start, regions, strict=True)]
    vectors = [found.vectors for found in start]

    def inconsistency() -> Tensor:
        return ascent.climbed.inconsistency(predictor, groups, start).sum()

    projections = ascent.projections(predictor, groups)
    climb(inconsistency, vectors, projections, ascent.steps, ascent.learning_rate, ascent.optimizer)
    return [Vectors(found.detach()) for found in vectors]


def climb(
    objective: Callable[[], Tensor],
    vectors: Sequence[Tensor],
    projections: Sequence[InPlaceProjection],
    steps: int,
    learning_rate: float,
    optimizer: AscentName = "adagrad",
) -> None:
    """Take projected gradient steps up, in place: lines 11 to 14 of Algorithm 1."""
    # A vector that no free slot needs (a clause of constants alone) has nothing to ascend.
    searched = [one.requires_grad_() for one in vectors if one.numel()]
    if not searched:
        return
    step = _ADAGRAD if optimizer == "adagrad" else torch.optim.SGD
    climber = step(searched, lr=learning_rate, maximize=True)
    for _ in range(steps):
        gradients = torch.autograd.grad(objective(), searched)  # g ← ∇_S J_I(A; θ, S)
        for one, gradient in zip(searched, gradients, strict=True):
            one.grad = gradient
        climber.step()  # S ← S + η g
        for one, project_ in zip(vectors, projections, strict=True):
            project_(one.data)  # hⱼ ← proj(hⱼ)


@torch.no_grad()
def alternate(
    ascent: GradientAscent, predictor: LinkPredictor, group: ClauseGroup, start: Vectors, region: Region | None
) -> Vectors:
    """Move one variable after the other to where its clause is violated most, the others staying where they are.

    A score is linear in each vector of most scorers, so that for clauses of two atoms that is the vector farthest in
    the direction of the gradient: a corner of the cube, g / |g| on the sphere. Elsewhere it is a guess, and the step is
    shortened until the violation does not fall. What climbs is the violation before it is cut off at 0, so that sets
    on which a clause holds move too.
    """

    def unclipped(vectors: Tensor) -> Tensor:
        return group.unclipped(predictor, ascent.semantics, vectors)

    vectors = start.vectors.detach().clone()
    reached = unclipped(vectors)  # [clauses, sets]
    for slot in list(range(vectors.shape[2])) * ascent.steps:
        with torch.enable_grad():
            searched = vectors.detach().requires_grad_()
            (gradient,) = torch.autograd.grad(unclipped(searched).sum(), searched)
        way = farthest(predictor, region, gradient) - vectors
        way = torch.where((gradient == 0).all(-1, keepdim=True), 0.0, way)
        moved, value = vectors, reached
        for share in reversed(SHARES):  # the longest step that does not fall is taken last, and stays
            there = vectors.clone()
            there[:, :, slot] = projected(predictor, region, vectors + share * way)[:, :, slot]
            found = unclipped(there)
            better = found >= reached
            moved = torch.where(better[..., None, None], there, moved)
            value = torch.where(better, found, value)
        vectors, reached = moved, value
    return Vectors(vectors)


_ADAGRAD = partial(torch.optim.Adagrad, initial_accumulator_value=0.1)


def vectors_of(found: object) -> Tensor:
    """Return the vectors of what was found for a group by a search among vectors."""
    assert isinstance(found, Vectors)
    return found.vectors
