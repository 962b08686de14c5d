"""The closed-form adversary: the largest violation over a whole region is the loss, and nothing is searched for.

For one atom in the body it is the paper's table: for b(X, Y) ⇒ r(X, Y) in DistMult on the sphere max |bᵢ − rᵢ|, on the
cube Σ [bᵢ − rᵢ]₊. Longer bodies have the dual bound, for which ``find`` solves λ; any λ is valid until the next time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from weakref import WeakKeyDictionary

import torch
from torch import Tensor

from clausal.consistency.adversaries import AdversarialSet, Adversary
from clausal.consistency.clauses import ArgumentSlots, ClauseGroup
from clausal.consistency.forms import LINEAR, violation_forms
from clausal.consistency.largest import bound_violation
from clausal.consistency.regions import RegionName, limits_of, region_of, region_within
from clausal.consistency.semantics import Godel, Semantics
from clausal.errors import InputError
from clausal.logic.syntax import Clause
from clausal.model.predictor import LinkPredictor


class ClosedForm(Adversary):
    """The largest violation, or a bound of it, where there is one; a fallback adversary for the other clauses.

    Its adversarial set has no vectors for the clauses it treats, only what their bounds need to keep until the next
    search: the limits of a region other than the domain, and the λ of bodies with several atoms.
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
        self._treated: WeakKeyDictionary[LinkPredictor, WeakKeyDictionary[ClauseGroup, bool]] = WeakKeyDictionary()
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
        vectors, kept = iter(adversarial_set[:searched]), iter(adversarial_set[searched:])
        return torch.cat([self._group_inconsistency(predictor, group, vectors, kept) for group in groups])

    def treats(self, predictor: LinkPredictor, group: ClauseGroup) -> bool:
        """Tell whether a group's clauses have a finite bound under this scorer, domain, semantics and region."""
        known = self._treated.setdefault(predictor, WeakKeyDictionary())
        if group not in known:
            known[group] = self._try(predictor, group)
        return known[group]

    @torch.no_grad()
    def _try(self, predictor: LinkPredictor, group: ClauseGroup) -> bool:
        alternatives = violation_forms(group.shape.formula, self.semantics)
        if alternatives is None:
            return False
        region = region_of(predictor, group, self.region, self.facts)
        for forms in alternatives:
            equal = predictor.relations.new_full((len(group.clauses), len(forms.offsets)), 1 / len(forms.offsets))
            bound = bound_violation(predictor, group, forms, region, equal)
            if bound is None or not bound.value.isfinite().all():
                return False
        return True

    def _others(self, predictor: LinkPredictor, groups: Sequence[ClauseGroup]) -> list[ClauseGroup]:
        return [group for group in groups if not self.treats(predictor, group)]

    @torch.no_grad()
    def _kept(self, predictor: LinkPredictor, groups: Sequence[ClauseGroup]) -> list[Tensor]:
        """Return, for each treated group in turn, the limits of its region and the λ of each alternative."""
        kept = []
        for group in groups:
            if self.treats(predictor, group):
                region = region_of(predictor, group, self.region, self.facts)
                if self.region != "domain":
                    kept.append(limits_of(region, ArgumentSlots.of(group.shape, predictor.scorer.arguments).free))
                for forms in violation_forms(group.shape.formula, self.semantics) or ():
                    if len(forms.offsets) > 1:
                        bound = bound_violation(predictor, group, forms, region)
                        assert bound is not None
                        kept.append(bound.weights)
        return kept

    def _largest_violation(self, predictor: LinkPredictor, group: ClauseGroup, kept: Iterator[Tensor]) -> Tensor:
        limits = next(kept, None) if self.region != "domain" else None
        if limits is None:
            region = region_of(predictor, group, self.region, self.facts)
        else:
            region = region_within(predictor, group, limits)
        values = [predictor.relations.new_zeros(len(group.clauses))]
        for forms in violation_forms(group.shape.formula, self.semantics) or ():
            # One form needs no λ but 1; several without one that was kept are solved anew.
            one = predictor.relations.new_ones(len(group.clauses), 1)
            weights = one if len(forms.offsets) == 1 else next(kept, None)
            bound = bound_violation(predictor, group, forms, region, weights)
            assert bound is not None
            values.append(bound.value)
        return torch.stack(values).amax(0)

    def _group_inconsistency(
        self, predictor: LinkPredictor, group: ClauseGroup, vectors: Iterator[Tensor], kept: Iterator[Tensor]
    ) -> Tensor:
        if self.treats(predictor, group):
            return self._largest_violation(predictor, group, kept)
        if self.fallback is None:
            return predictor.relations.new_zeros(len(group.clauses))
        return self.fallback.inconsistency(predictor, [group], [next(vectors)])


def without_closed_form(adversary: ClosedForm, predictor: LinkPredictor, groups: Sequence[ClauseGroup]) -> list[Clause]:
    """Return the clauses that the closed-form adversary cannot treat for this predictor."""
    return [clause for group in groups if not adversary.treats(predictor, group) for clause in group.clauses]
