"""Certificates: an interval for the largest violation of each clause, over every vector of a region, seen or not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from clausal.adversary.ascent import GradientAscent, climb
from clausal.adversary.clauses import ClauseGroup
from clausal.adversary.forms import forms_of
from clausal.adversary.hard.proof import proven
from clausal.adversary.reciprocal import all_readings
from clausal.adversary.regions import projected, region_of, resolved
from clausal.adversary.semantics import Godel, Semantics
from clausal.adversary.worst_case import bound_violation
from clausal.bounds.blocks import Bound
from clausal.bounds.regions import Region
from clausal.choices import RegionName
from clausal.model.predictor import LinkPredictor

_EXACT = 1e-9
_WIDE = 0.05
"""Relative gaps above this are worth a search."""
ORDER = "order"
"""The method of a bound that follows from the order of parameters alone."""
SHARE_OF_MARGIN = 0.01
"""Facts are pushed above the margin γ and corruptions below −γ, so a violation of this share of γ turns no fact into
its opposite; and it is far above the rounding errors of single precision."""


@dataclass(frozen=True, eq=False)
class Certificate:
    """What is known of the largest violation of the clauses of one group: attained ≤ largest ≤ bound."""

    attained: Tensor  # [clauses]
    bound: Tensor  # [clauses], infinite where none is known
    method: str
    vectors: Tensor  # [clauses, free slots, dim], where the attained violation is
    proven: Tensor  # [clauses], whether the order of parameters alone proves that the clause holds

    @property
    def gap(self) -> Tensor:
        """The width of the interval relative to its bound [clauses]; 0 where the clause can never be violated."""
        return torch.where(self.bound > 0, 1 - self.attained / self.bound, 0)

    @property
    def exact(self) -> bool:
        """Whether attained and bound agree, up to rounding, so that the largest violation is known."""
        return bool(self.bound.isfinite().all()) and bool(
            (self.bound - self.attained <= _EXACT * self.bound.clamp_min(1)).all()
        )

    def method_of(self, place: int) -> str:
        """Say how the bound of one clause was found."""
        return ORDER if self.proven[place] else self.method


def certify(
    predictor: LinkPredictor,
    groups: Sequence[ClauseGroup],
    *,
    semantics: Semantics | None = None,
    region: RegionName = "domain",
    facts: Tensor | None = None,
    ascent: GradientAscent | None = None,
    starts: Sequence[Tensor] | None = None,
    seed: int = 0,
    known: Sequence[Tensor] | None = None,
    advanced: Callable[[int], None] | None = None,
) -> list[Certificate]:
    """Certify the clauses of each group in double precision; for a reciprocal model, the worst of all readings.

    ``region`` is where the variables range (``roles`` needs the train facts). Where no bound is known or the interval
    is wide, and for all clauses if ``ascent`` is given, projected gradient ascent looks for worse vectors. ``starts``
    are ids of entities for each group [clauses, sets, variables] that are tried, and climbed from, as well. ``known``
    says of each group which clauses the order of parameters proves, where that was asked before. ``advanced`` is told
    how many clauses are certified so far.
    """
    semantics = semantics or Godel()
    predictor = deepcopy(predictor).double().requires_grad_(False).eval()
    generator = torch.Generator(predictor.device).manual_seed(seed)

    def certified(group: ClauseGroup, entities: Tensor | None, holds: Tensor) -> Certificate:
        if ascent is None and holds.all():
            free = group.slots(predictor).free
            vectors = predictor.random_arguments((len(group), free), generator)
            return Certificate(vectors.new_zeros(len(group)), vectors.new_zeros(len(group)), ORDER, vectors, holds)
        search = _Search(predictor, semantics, region, facts, ascent, generator)
        found = _worst([search.certify(reading, entities) for reading in all_readings(group, predictor).values()])
        # Where a clause is proven to hold, both ends of the interval are 0: what differs from it is rounding.
        attained, bound = (torch.where(holds, 0.0, value) for value in (found.attained, found.bound))
        return replace(found, attained=attained, bound=bound, proven=holds)

    if known is None:
        known = [proven(predictor, group, semantics, resolved(region, predictor)) for group in groups]
    found: list[Certificate] = []
    done = 0
    for place, group in enumerate(groups):
        found.append(certified(group, None if starts is None else starts[place], known[place]))
        done += len(group)
        if advanced is not None:
            advanced(done)
    return found


def _worst(readings: Sequence[Certificate]) -> Certificate:
    """Return the largest violation and bound that any reading of the clauses has."""
    attained, worst = torch.stack([reading.attained for reading in readings]).max(0)
    vectors = torch.stack([reading.vectors for reading in readings])[worst, torch.arange(len(worst))]
    bound = torch.stack([reading.bound for reading in readings]).amax(0)
    return Certificate(attained, bound, readings[0].method, vectors, readings[0].proven)


@dataclass(frozen=True, eq=False)
class _Search:
    """Where violations are bounded and looked for, and how."""

    predictor: LinkPredictor
    semantics: Semantics
    name: RegionName
    facts: Tensor | None
    ascent: GradientAscent | None
    generator: torch.Generator

    def certify(self, group: ClauseGroup, known: Tensor | None) -> Certificate:
        """Certify one reading of a group; ``known`` entities are tried too."""
        predictor, clauses = self.predictor, len(group)
        alternatives = forms_of(group, self.semantics)
        region = region_of(predictor, group, self.name, self.facts)
        free = group.slots(predictor).free
        bounds = [bound_violation(predictor, group, forms, region) for forms in alternatives or ()]
        found = [bound for bound in bounds if bound is not None]
        least = 0.0 if alternatives is not None and len(found) == len(bounds) else torch.inf
        values = torch.full((clauses, 1), least, dtype=torch.float64, device=predictor.device)
        bound = torch.cat([values, *(one.value.unsqueeze(1) for one in found)], 1).amax(1)
        points = [predictor.scorer.join(one.components[:, :free]).unsqueeze(1) for one in found]
        points = points or [predictor.random_arguments((clauses, 1, free), self.generator)]
        if known is not None and not predictor.of_pairs:
            points.append(predictor.encode(known.to(predictor.device)))
        vectors = projected(predictor, region, torch.cat(points, 1))
        reached = group.violation(predictor, self.semantics, vectors).amax(1)
        if self.ascent is not None or not (reached >= (1 - _WIDE) * bound).all():
            vectors = torch.cat([vectors, self._ascended(group, region, vectors)], 1)
        attained, best = (group.violation(predictor, self.semantics, vectors) + 0.0).max(1)  # −0 would show in reports
        # The two meet only up to rounding, and the bound is the one to be relied on.
        agree = attained <= bound + _EXACT * bound.clamp_min(1)
        attained = torch.where(agree, torch.minimum(attained, bound), attained)
        chosen = vectors[torch.arange(clauses, device=best.device), best]
        return Certificate(attained, bound, _method(found, bound), chosen, torch.zeros_like(best, dtype=torch.bool))

    def _ascended(self, group: ClauseGroup, region: Region | None, vectors: Tensor) -> Tensor:
        """Ascend in the region from vectors [clauses, sets, free, dim] and from random ones; return the worst met.

        What is climbed is not clipped at 0: where a clause holds, [·]₊ has no slope that leads to where it does not.
        """
        predictor, search = self.predictor, self.ascent or GradientAscent(sets=20, steps=100)
        drawn = predictor.random_arguments((len(group), search.sets, vectors.shape[2]), self.generator)
        vectors = torch.cat([vectors, projected(predictor, region, drawn)], 1)
        best, best_value = vectors.clone(), vectors.new_full(vectors.shape[:2], -torch.inf)

        def unclipped() -> Tensor:
            found = group.unclipped(predictor, self.semantics, vectors)
            better = found.detach() > best_value
            best[better], best_value[better] = vectors.detach()[better], found.detach()[better]
            return found.sum()

        def project_(moved: Tensor) -> None:
            moved.copy_(projected(predictor, region, moved))

        climb(unclipped, [vectors], [project_], search.steps, search.learning_rate)
        return best


def _method(bounds: Sequence[Bound], bound: Tensor) -> str:
    if not bound.isfinite().all():
        return "gradient ascent"
    return "closed form" if all(known.weights.shape[1] == 1 for known in bounds) else "dual bound"


def default_tolerance(margin: float) -> float:
    """Return the violation up to which a clause counts as obeyed: a hundredth of the margin."""
    return SHARE_OF_MARGIN * (margin or 1.0)
