"""Closed forms of the largest violation over the whole domain: the paper's table, and the adversary that uses it.

For b(X, Y) ⇒ r(X, Y) the largest violation depends on δ = b − r alone. A swapped head r(Y, X) is an implication with
the relation that scores pairs the other way round: r itself for DistMult, its conjugate for ComplEx (the appendix's
ζ = b − r̄). Symmetry is the swapped case with b = r.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import torch
from torch import Tensor

from clausal.consistency.adversaries import AdversarialSet, Adversary
from clausal.consistency.clauses import ClauseGroup
from clausal.consistency.semantics import Godel, Semantics
from clausal.errors import InputError
from clausal.logic.shape import one_atom_rule
from clausal.logic.syntax import Clause
from clausal.model.domains import Cube, Domain, Sphere
from clausal.model.predictor import LinkPredictor
from clausal.model.scorers import ComplEx, DistMult, Scorer
from clausal.model.scorers.base import halves

LargestViolation = Callable[[Tensor, Tensor, bool], Tensor]
"""(body [clauses, relation_dim], head, swapped) → the largest violation of each clause [clauses]."""


def distmult_sphere(body: Tensor, head: Tensor, swapped: bool) -> Tensor:
    """max |δᵢ|."""
    return (body - head).abs().amax(-1)


def distmult_cube(body: Tensor, head: Tensor, swapped: bool) -> Tensor:
    """Σ [δᵢ]₊."""
    return torch.relu(body - head).sum(-1)


def complex_sphere(body: Tensor, head: Tensor, swapped: bool) -> Tensor:
    """max |δᵢ|, the modulus."""
    real, imag = _complex_difference(body, head, swapped)
    return torch.linalg.vector_norm(torch.stack([real, imag]), dim=0).amax(-1)


def complex_cube(body: Tensor, head: Tensor, swapped: bool) -> Tensor:
    """Σ [Re δᵢ]₊ + max(Re δᵢ, |Im δᵢ|)."""
    real, imag = _complex_difference(body, head, swapped)
    return (torch.relu(real) + torch.maximum(real, imag.abs())).sum(-1)


def _complex_difference(body: Tensor, head: Tensor, swapped: bool) -> tuple[Tensor, Tensor]:
    b_real, b_imag = halves(body)
    r_real, r_imag = halves(head)
    return b_real - r_real, b_imag + r_imag if swapped else b_imag - r_imag


CLOSED_FORMS: dict[tuple[type[Scorer], type[Domain]], LargestViolation] = {
    (DistMult, Sphere): distmult_sphere,
    (DistMult, Cube): distmult_cube,
    (ComplEx, Sphere): complex_sphere,
    (ComplEx, Cube): complex_cube,
}


class ClosedForm(Adversary):
    """The largest violation in closed form where there is one; a fallback adversary for the other clauses."""

    def __init__(self, fallback: Adversary | None = None, semantics: Semantics | None = None) -> None:
        if not isinstance(semantics or Godel(), Godel):
            raise InputError(
                "clauses.adversary: closed forms exist for Gödel semantics only; "
                'set clauses.semantics = "godel" or clauses.adversary = "gradient"'
            )
        self.fallback = fallback

    def start(
        self,
        predictor: LinkPredictor,
        groups: Sequence[ClauseGroup],
        generator: torch.Generator | None = None,
    ) -> AdversarialSet:
        others = self._others(predictor, groups)
        return self.fallback.start(predictor, others, generator) if self.fallback and others else []

    def find(
        self,
        predictor: LinkPredictor,
        groups: Sequence[ClauseGroup],
        generator: torch.Generator | None = None,
    ) -> AdversarialSet:
        """Search only for the clauses without a closed form; with none of them there is nothing to find."""
        others = self._others(predictor, groups)
        return self.fallback.find(predictor, others, generator) if self.fallback and others else []

    def inconsistency(
        self, predictor: LinkPredictor, groups: Sequence[ClauseGroup], adversarial_set: AdversarialSet
    ) -> Tensor:
        remaining = iter(adversarial_set)
        return torch.cat([self._group_inconsistency(predictor, group, remaining) for group in groups])

    def _group_inconsistency(self, predictor: LinkPredictor, group: ClauseGroup, remaining: Iterator[Tensor]) -> Tensor:
        largest_violation = closed_form(predictor, group)
        if largest_violation is not None:
            body, head = predictor.relation(group.relations).unbind(1)
            return largest_violation(body, head, one_atom_rule(group.shape) == "inverse")
        if self.fallback is None:
            return torch.zeros_like(group.weights)
        return self.fallback.inconsistency(predictor, [group], [next(remaining)])

    @staticmethod
    def _others(predictor: LinkPredictor, groups: Sequence[ClauseGroup]) -> list[ClauseGroup]:
        return [group for group in groups if closed_form(predictor, group) is None]


def closed_form(predictor: LinkPredictor, group: ClauseGroup) -> LargestViolation | None:
    """Return the closed form for a group's clauses under this scorer and domain, if there is one."""
    if one_atom_rule(group.shape) is None:
        return None
    return CLOSED_FORMS.get((type(predictor.scorer), type(predictor.domain)))


def without_closed_form(predictor: LinkPredictor, groups: Sequence[ClauseGroup]) -> list[Clause]:
    """Return the clauses that the closed-form adversary cannot treat for this predictor."""
    return [clause for group in groups if closed_form(predictor, group) is None for clause in group.clauses]
