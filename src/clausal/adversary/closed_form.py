"""The closed-form adversary: the largest violation over a whole region is the loss, and nothing is searched for.

For one atom in the body it is the paper's table (``paper_table.py``): for b(X, Y) ⇒ r(X, Y) in DistMult on the sphere
max |bᵢ − rᵢ|, on the cube Σ [bᵢ − rᵢ]₊. Longer bodies have the dual bound, for which ``find`` solves λ; any λ is valid
until the next time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import torch
from torch import Tensor

from clausal.adversary.adversary import AdversarialSet, Adversary, GroupSet
from clausal.adversary.clauses import ClauseGroup
from clausal.adversary.forms import LINEAR, violation_forms
from clausal.adversary.regions import limits_of, region_of, region_within, resolved
from clausal.adversary.semantics import Godel, Semantics
from clausal.adversary.worst_case import DualPoint, largest_violation, solve_violation
from clausal.bounds.blocks import LinearForms
from clausal.choices import RegionName
from clausal.errors import InputError
from clausal.logic.shape import Shape
from clausal.logic.syntax import Clause
from clausal.model.predictor import LinkPredictor

Alternatives = tuple[LinearForms, ...]
"""The alternatives of a violation, the worst of which counts: [maxₖ minⱼ (Cₖⱼ · scores + oₖⱼ)]₊."""


@dataclass(frozen=True, eq=False)
class _Treatment:
    """The alternatives of a group that has a bound, and whether their bounds have λ or μ to be solved for."""

    alternatives: Alternatives
    solved: bool


@dataclass(frozen=True, eq=False)
class WorstCase(GroupSet):
    """What the bounds of a group's clauses need until the next search; for the paper's table that is nothing."""

    limits: Tensor | None
    """The limits of the region, where it is another than the domain."""
    weights: tuple[Tensor | None, ...]
    """λ [clauses, forms] of each alternative that has several forms."""
    multipliers: tuple[Tensor | None, ...]
    """μ of each alternative on balls and discs."""

    def dual(self, alternative: int) -> DualPoint:
        """Return λ and μ of one alternative."""
        return DualPoint(self.weights[alternative], self.multipliers[alternative])


@dataclass(frozen=True, eq=False)
class NothingFound(GroupSet):
    """For clauses that are left out, as they have no closed form."""


class ClosedForm(Adversary):
    """The largest violation, or a bound of it, where there is one; a fallback adversary for the other clauses."""

    def __init__(
        self,
        fallback: Adversary | None = None,
        semantics: Semantics | None = None,
        region: RegionName = "domain",
        facts: Tensor | None = None,
    ) -> None:
        self.fallback = fallback
        self.semantics = semantics or Godel()
        self.region: RegionName = region
        self.facts = facts
        # Whether there is a bound depends on scorer, domain and shape, and is tried once, on one clause.
        self._known: WeakKeyDictionary[LinkPredictor, dict[Shape, _Treatment | None]] = WeakKeyDictionary()
        if type(self.semantics) not in LINEAR:
            names = ", ".join(f'"{kind.name}"' for kind in LINEAR)
            raise InputError(
                "clauses.adversary: closed forms exist only where violations are linear in scores; "
                f'set clauses.semantics = one of {names}, or clauses.adversary = "gradient"'
            )

    def find(
        self,
        predictor: LinkPredictor,
        groups: Sequence[ClauseGroup],
        generator: torch.Generator | None = None,
    ) -> AdversarialSet:
        """Solve for λ and μ, and search for the clauses without a bound; for the paper's table nothing is found."""
        others = [group for group in groups if not self.treats(predictor, group)]
        searched = self.fallback.find(predictor, others, generator) if self.fallback and others else ()
        found = dict(zip(others, searched, strict=False))
        return [
            self._solve(predictor, group) if self.treats(predictor, group) else found.get(group, NothingFound())
            for group in groups
        ]

    def inconsistency(
        self, predictor: LinkPredictor, groups: Sequence[ClauseGroup], adversarial_set: AdversarialSet
    ) -> Tensor:
        return torch.cat(
            [
                self._inconsistency_of(predictor, group, found)
                for group, found in zip(groups, adversarial_set, strict=True)
            ]
        )

    def treats(self, predictor: LinkPredictor, group: ClauseGroup) -> bool:
        """Tell whether a group's clauses have a finite bound under this scorer, domain, semantics and region."""
        return self.alternatives(predictor, group) is not None

    def alternatives(self, predictor: LinkPredictor, group: ClauseGroup) -> Alternatives | None:
        """Return the alternatives of a group's violation, each of which has a bound; None where one has none."""
        treatment = self._treatment(predictor, group)
        return None if treatment is None else treatment.alternatives

    def solves(self, predictor: LinkPredictor, group: ClauseGroup) -> bool:
        """Tell whether ``find`` has λ or μ to solve for in the bound of a group's clauses."""
        treatment = self._treatment(predictor, group)
        return treatment is not None and treatment.solved

    def in_domain(self, predictor: LinkPredictor) -> bool:
        """Tell whether the region is the model's domain, which does not move."""
        return resolved(self.region, predictor) == "domain"

    def _treatment(self, predictor: LinkPredictor, group: ClauseGroup) -> _Treatment | None:
        known = self._known.setdefault(predictor, {})
        if group.shape not in known:
            known[group.shape] = self._find_treatment(predictor, group.some(torch.arange(1), group.clauses[:1]))
        return known[group.shape]

    @torch.no_grad()
    def _find_treatment(self, predictor: LinkPredictor, group: ClauseGroup) -> _Treatment | None:
        alternatives = violation_forms(group.shape.formula, self.semantics)
        if alternatives is None:
            return None
        region, solved = region_of(predictor, group, self.region, self.facts), False
        for forms in alternatives:
            dual = solve_violation(predictor, group, forms, region)
            if dual is None or not largest_violation(predictor, group, forms, region, dual).isfinite().all():
                return None
            solved = solved or dual.weights is not None
        return _Treatment(alternatives, solved)

    @torch.no_grad()
    def _solve(self, predictor: LinkPredictor, group: ClauseGroup) -> WorstCase:
        treatment = self._treatment(predictor, group)
        assert treatment is not None
        limits, duals = None, [DualPoint()] * len(treatment.alternatives)
        if treatment.solved or not self.in_domain(predictor):
            region = region_of(predictor, group, self.region, self.facts)
            limits = None if self.in_domain(predictor) else limits_of(region, group.slots(predictor).free)
            if treatment.solved:
                solved = (solve_violation(predictor, group, forms, region) for forms in treatment.alternatives)
                duals = [dual or DualPoint() for dual in solved]
        return WorstCase(limits, tuple(dual.weights for dual in duals), tuple(dual.multipliers for dual in duals))

    def _inconsistency_of(self, predictor: LinkPredictor, group: ClauseGroup, found: GroupSet) -> Tensor:
        nothing = predictor.relations.new_zeros(len(group))
        if isinstance(found, NothingFound):
            return nothing
        if not isinstance(found, WorstCase):
            assert self.fallback is not None
            return self.fallback.inconsistency(predictor, [group], [found])
        region = region_of(predictor, group) if found.limits is None else region_within(predictor, group, found.limits)
        largest = [
            largest_violation(predictor, group, forms, region, found.dual(place))
            for place, forms in enumerate(self.alternatives(predictor, group) or ())
        ]
        return torch.stack([nothing, *largest]).amax(0)


def without_closed_form(adversary: ClosedForm, predictor: LinkPredictor, groups: Sequence[ClauseGroup]) -> list[Clause]:
    """Return the clauses that the closed-form adversary cannot treat for this predictor."""
    others = [group for group in groups if not adversary.treats(predictor, group)]
    return list(dict.fromkeys(clause for group in others for clause in group.clauses))
