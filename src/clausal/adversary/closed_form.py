"""The closed-form adversary: the largest violation over a whole region is the loss, and nothing is searched for.

For one atom in the body it is the paper's table: for b(X, Y) ⇒ r(X, Y) in DistMult on the sphere max |bᵢ − rᵢ|, on the
cube Σ [bᵢ − rᵢ]₊. Longer bodies have the dual bound, for which ``find`` solves λ; any λ is valid until the next time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from weakref import WeakKeyDictionary

import torch
from torch import Tensor

from clausal.adversary.ascent import AdversarialSet, Adversary
from clausal.adversary.clauses import ArgumentSlots, ClauseGroup
from clausal.adversary.forms import LINEAR, violation_forms
from clausal.adversary.regions import RegionName, limits_of, region_of, region_within, resolved
from clausal.adversary.semantics import Godel, Semantics
from clausal.adversary.worst_case import largest_violation, solve_violation
from clausal.bounds.blocks import LinearForms
from clausal.errors import InputError
from clausal.fast.corner_features import corner_features, has_corner_features, largest_by_corners
from clausal.logic.syntax import Clause
from clausal.model.predictor import LinkPredictor


@dataclass(frozen=True)
class _Treatment:
    """The alternatives of a violation that a bound treats, and how many tensors it keeps for each."""

    alternatives: tuple[LinearForms, ...]
    kept: tuple[int, ...]


class ClosedForm(Adversary):
    """The largest violation, or a bound of it, where there is one; a fallback adversary for the other clauses.

    Its adversarial set has no vectors for the clauses it treats, only what their bounds need to keep until the next
    search: the limits of a region other than the domain, and the λ and μ of bodies with several atoms.
    """

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
        # Whether there is a bound depends on scorer, domain and shape, and is tried once.
        self._treated: WeakKeyDictionary[LinkPredictor, WeakKeyDictionary[ClauseGroup, _Treatment | None]]
        self._treated = WeakKeyDictionary()
        if type(self.semantics) not in LINEAR:
            names = ", ".join(f'"{kind.name}"' for kind in LINEAR)
            raise InputError(
                "clauses.adversary: closed forms exist only where violations are linear in scores; "
                f'set clauses.semantics = one of {names}, or clauses.adversary = "gradient"'
            )

    def start(
        self,
        predictor: LinkPredictor,
        groups: Sequence[ClauseGroup],
        generator: torch.Generator | None = None,
    ) -> AdversarialSet:
        others = self._others(predictor, groups)
        vectors = self.fallback.start(predictor, others, generator) if self.fallback and others else []
        return vectors + self._kept(predictor, groups)

    def find(
        self,
        predictor: LinkPredictor,
        groups: Sequence[ClauseGroup],
        generator: torch.Generator | None = None,
    ) -> AdversarialSet:
        """Solve for λ, and search only for the clauses without a bound; for the paper's table nothing is found."""
        others = self._others(predictor, groups)
        vectors = self.fallback.find(predictor, others, generator) if self.fallback and others else []
        return vectors + self._kept(predictor, groups)

    def inconsistency(
        self, predictor: LinkPredictor, groups: Sequence[ClauseGroup], adversarial_set: AdversarialSet
    ) -> Tensor:
        searched = len(self._others(predictor, groups)) if self.fallback else 0
        vectors, kept = iter(adversarial_set[:searched]), adversarial_set[searched:]
        kept = kept or self._kept(predictor, groups)  # solved for now, if not before
        remaining = iter(kept)
        return torch.cat([self._group_inconsistency(predictor, group, vectors, remaining) for group in groups])

    def while_constant(
        self, predictor: LinkPredictor, groups: Sequence[ClauseGroup], adversarial_set: AdversarialSet
    ) -> AdversarialSet:
        searched = len(self._others(predictor, groups)) if self.fallback else 0
        vectors, kept = iter(adversarial_set[:searched]), iter(adversarial_set[searched:])
        constants: AdversarialSet = []
        for group in groups:
            treatment = self._treatment(predictor, group)
            if treatment is None:
                constants += self.fallback.while_constant(predictor, [group], [next(vectors)]) if self.fallback else []
                continue
            if not self._in_domain(predictor):
                constants.append(next(kept))
            for forms, count in zip(treatment.alternatives, treatment.kept, strict=True):
                of_forms = tuple(islice(kept, count))
                constants += (
                    corner_features(predictor, group, forms, *of_forms)
                    if self._at_corners(predictor, group)
                    else of_forms
                )
        return constants

    def constant_inconsistency(
        self, predictor: LinkPredictor, groups: Sequence[ClauseGroup], constants: AdversarialSet
    ) -> Tensor:
        remaining = iter(constants)
        return torch.cat([self._constant_violation(predictor, group, remaining) for group in groups])

    def _constant_violation(self, predictor: LinkPredictor, group: ClauseGroup, constants: Iterator[Tensor]) -> Tensor:
        treatment = self._treatment(predictor, group)
        if treatment is not None and not self._at_corners(predictor, group):
            return self._largest_violation(predictor, group, treatment, constants)
        if treatment is not None:
            values = [predictor.relations.new_zeros(len(group.clauses))]
            for _ in treatment.alternatives:
                values.append(largest_by_corners(predictor, group, next(constants), next(constants)))
            return torch.stack(values).amax(0)
        if self.fallback is None:
            return predictor.relations.new_zeros(len(group.clauses))
        return self.fallback.constant_inconsistency(predictor, [group], [next(constants)])

    def _at_corners(self, predictor: LinkPredictor, group: ClauseGroup) -> bool:
        return self._in_domain(predictor) and has_corner_features(predictor, group)

    def _in_domain(self, predictor: LinkPredictor) -> bool:
        return resolved(self.region, predictor) == "domain"

    def treats(self, predictor: LinkPredictor, group: ClauseGroup) -> bool:
        """Tell whether a group's clauses have a finite bound under this scorer, domain, semantics and region."""
        return self._treatment(predictor, group) is not None

    def _treatment(self, predictor: LinkPredictor, group: ClauseGroup) -> _Treatment | None:
        known = self._treated.setdefault(predictor, WeakKeyDictionary())
        if group not in known:
            known[group] = self._try(predictor, group)
        return known[group]

    @torch.no_grad()
    def _try(self, predictor: LinkPredictor, group: ClauseGroup) -> _Treatment | None:
        alternatives = violation_forms(group.shape.formula, self.semantics)
        if alternatives is None:
            return None
        region, counts = region_of(predictor, group, self.region, self.facts), []
        for forms in alternatives:
            kept = solve_violation(predictor, group, forms, region)
            if kept is None or not largest_violation(predictor, group, forms, region, kept).isfinite().all():
                return None
            counts.append(len(kept))
        return _Treatment(alternatives, tuple(counts))

    def _others(self, predictor: LinkPredictor, groups: Sequence[ClauseGroup]) -> list[ClauseGroup]:
        return [group for group in groups if not self.treats(predictor, group)]

    @torch.no_grad()
    def _kept(self, predictor: LinkPredictor, groups: Sequence[ClauseGroup]) -> list[Tensor]:
        """Return, for each treated group in turn, the limits of its region, and the λ and μ of each alternative."""
        kept: list[Tensor] = []
        in_domain = self._in_domain(predictor)
        for group in groups:
            treatment = self._treatment(predictor, group)
            if treatment is None or (in_domain and not any(treatment.kept)):
                continue
            region = region_of(predictor, group, self.region, self.facts)
            if not in_domain:
                kept.append(limits_of(region, ArgumentSlots.of(group.shape, predictor.scorer.arguments).free))
            for forms, count in zip(treatment.alternatives, treatment.kept, strict=True):
                if count:
                    kept.extend(solve_violation(predictor, group, forms, region) or ())
        return kept

    def _largest_violation(
        self, predictor: LinkPredictor, group: ClauseGroup, treatment: _Treatment, kept: Iterator[Tensor]
    ) -> Tensor:
        in_domain = self._in_domain(predictor)
        region = region_of(predictor, group) if in_domain else region_within(predictor, group, next(kept))
        values = [predictor.relations.new_zeros(len(group.clauses))]
        for forms, count in zip(treatment.alternatives, treatment.kept, strict=True):
            values.append(largest_violation(predictor, group, forms, region, tuple(islice(kept, count))))
        return torch.stack(values).amax(0)

    def _group_inconsistency(
        self, predictor: LinkPredictor, group: ClauseGroup, vectors: Iterator[Tensor], kept: Iterator[Tensor]
    ) -> Tensor:
        treatment = self._treatment(predictor, group)
        if treatment is not None:
            return self._largest_violation(predictor, group, treatment, kept)
        if self.fallback is None:
            return predictor.relations.new_zeros(len(group.clauses))
        return self.fallback.inconsistency(predictor, [group], [next(vectors)])


def without_closed_form(adversary: ClosedForm, predictor: LinkPredictor, groups: Sequence[ClauseGroup]) -> list[Clause]:
    """Return the clauses that the closed-form adversary cannot treat for this predictor."""
    others = [group for group in groups if not adversary.treats(predictor, group)]
    return list(dict.fromkeys(clause for group in others for clause in group.clauses))
