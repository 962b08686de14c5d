"""Certificates: an interval for the largest violation of each clause, over every vector of a region, seen or not."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from clausal.adversary.ascent import GradientAscent, climb
from clausal.adversary.clauses import ClauseGroup
from clausal.adversary.forms import violation_forms
from clausal.adversary.hard.proof import proven
from clausal.adversary.reciprocal import readings_of
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
    seed: int = 0,
) -> list[Certificate]:
    """Certify the clauses of each group in double precision; for a reciprocal model, the worse of both readings.

    ``region`` is where the variables range (``roles`` needs the train facts). Where no bound is known or the interval
    is wide, and for all clauses if ``ascent`` is given, projected gradient ascent looks for worse vectors.
    """
    semantics = semantics or Godel()
    predictor = deepcopy(predictor).double().requires_grad_(False).eval()
    generator = torch.Generator(predictor.device).manual_seed(seed)

    def certified(group: ClauseGroup) -> Certificate:
        holds = proven(predictor, group, semantics, resolved(region, predictor))
        if ascent is None and holds.all():
            free = group.slots(predictor).free
            vectors = predictor.random_arguments((len(group), free), generator)
            return Certificate(vectors.new_zeros(len(group)), vectors.new_zeros(len(group)), ORDER, vectors, holds)
        found = _worst(
            [
                _certify(predictor, reading, semantics, region, facts, ascent, generator)
                for reading in readings_of([group], predictor)
            ]
        )
        # Where a clause is proven to hold, both ends of the interval are 0: what differs from it is rounding.
        attained, bound = (torch.where(holds, 0.0, value) for value in (found.attained, found.bound))
        return replace(found, attained=attained, bound=bound, proven=holds)

    return [certified(group) for group in groups]


def _worst(readings: Sequence[Certificate]) -> Certificate:
    """Return the largest violation and bound that any reading of the clauses has."""
    attained, worst = torch.stack([reading.attained for reading in readings]).max(0)
    vectors = torch.stack([reading.vectors for reading in readings])[worst, torch.arange(len(worst))]
    bound = torch.stack([reading.bound for reading in readings]).amax(0)
    return Certificate(attained, bound, readings[0].method, vectors, readings[0].proven)


def _certify(
    predictor: LinkPredictor,
    group: ClauseGroup,
    semantics: Semantics,
    name: RegionName,
    facts: Tensor | None,
    ascent: GradientAscent | None,
    generator: torch.Generator,
) -> Certificate:
    alternatives = violation_forms(group.shape.formula, semantics)
    region = region_of(predictor, group, name, facts)
    free = group.slots(predictor).free
    bounds = [bound_violation(predictor, group, forms, region) for forms in alternatives or ()]
    known = [bound for bound in bounds if bound is not None]
    values = torch.zeros(len(group.clauses), 1, dtype=torch.float64, device=predictor.device)
    if alternatives is None or len(known) < len(bounds):
        values = torch.full_like(values, torch.inf)
    bound = torch.cat([values, *(bound.value.unsqueeze(1) for bound in known)], 1).amax(1)
    points = [predictor.scorer.join(bound.components[:, :free]) for bound in known]
    points = points or [predictor.random_arguments((len(group.clauses), free), generator)]
    vectors = projected(predictor, region, torch.stack(points, 1))
    reached = group.violation(predictor, semantics, vectors).amax(1)
    if ascent is not None or not (reached >= (1 - _WIDE) * bound).all():
        search = ascent or GradientAscent(sets=20, steps=100)
        drawn = predictor.random_arguments((len(group.clauses), search.sets, free), generator)
        start = projected(predictor, region, torch.cat([vectors, drawn], 1))
        vectors = torch.cat([vectors, _ascended(predictor, group, semantics, region, start, search)], 1)
    attained, best = (group.violation(predictor, semantics, vectors) + 0.0).max(1)  # −0 would show in reports
    # The two meet only up to rounding, and the bound is the one to be relied on.
    attained = torch.where(attained <= bound + _EXACT * bound.clamp_min(1), torch.minimum(attained, bound), attained)
    chosen = vectors[torch.arange(len(best), device=best.device), best]
    return Certificate(attained, bound, _method(known, bound), chosen, torch.zeros_like(best, dtype=torch.bool))


def _ascended(
    predictor: LinkPredictor,
    group: ClauseGroup,
    semantics: Semantics,
    region: Region | None,
    vectors: Tensor,
    search: GradientAscent,
) -> Tensor:
    """Ascend from vectors [clauses, sets, free, dim], staying in the region, and return the worst on the way."""
    best, best_violation = vectors.clone(), vectors.new_full(vectors.shape[:2], -torch.inf)

    def violation() -> Tensor:
        found = group.violation(predictor, semantics, vectors)
        better = found.detach() > best_violation
        best[better], best_violation[better] = vectors.detach()[better], found.detach()[better]
        return found.sum()

    def project_(moved: Tensor) -> None:
        moved.copy_(projected(predictor, region, moved))

    climb(violation, [vectors], [project_], search.steps, search.learning_rate)
    return best


def _method(bounds: Sequence[Bound], bound: Tensor) -> str:
    if not bound.isfinite().all():
        return "gradient ascent"
    return "closed form" if all(known.weights.shape[1] == 1 for known in bounds) else "dual bound"


def default_tolerance(margin: float) -> float:
    """Return the violation up to which a clause counts as obeyed: a hundredth of the margin."""
    return SHARE_OF_MARGIN * (margin or 1.0)
