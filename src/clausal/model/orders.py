"""Orders of relation parameters: what makes one relation score at most what another does, on non-negative vectors.

A scorer φ_r(x, y) = Σ M(r)ₛₜ xₛ yₜ has φ_b ≤ φ_h for all x, y ≥ 0 if and only if M(b) ≤ M(h) in every entry. Where each
entry is a parameter, or minus one, that is an order of parameters: a parameter with one sign must not be larger in b
than in h, and one that occurs with both signs, or beside a number of x or y that can be negative, must be equal.
Reading h from object to subject puts M(h)ᵀ in the place of M(h), which permutes the parameters and changes signs.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from clausal.model.model_f import ModelF
from clausal.model.scorers import RESCAL, HolE, Scorer
from clausal.model.scorers.base import Terms


@dataclass(frozen=True, eq=False)
class Orbits:
    """Parameters alike under the transposition of M: each alone, or in pairs that change places.

    ``columns`` [1 or 2, orbits] number parameters of a relation; M(r)ᵀ has ``sign`` times the parameter of the last
    row in the place of the first one, and the other way round.
    """

    columns: Tensor
    sign: int = 1
    equal: bool = False
    """Whether xₛ yₜ times an entry of M that holds the parameters can have both signs."""


@dataclass(frozen=True, eq=False)
class ParameterOrder:
    """All parameters of a relation by how they are ordered.

    ``transposes`` tells whether M(r)ᵀ is the matrix of other parameters at all. ``subjects`` and ``objects`` are the
    numbers of an entity's vector that count in each place; ``never_negative`` [dim] tells which never are.
    """

    orbits: tuple[Orbits, ...]
    transposes: bool
    subjects: Tensor
    objects: Tensor
    never_negative: Tensor

    @property
    def only_equal(self) -> bool:
        """Whether one relation scores at most what another does only where they are equal."""
        return all(one.equal for one in self.orbits)


def parameter_order(scorer: Scorer, never_negative: Tensor) -> ParameterOrder | None:
    """Return how a scorer's relation parameters are ordered; None where M(r) has no such entries.

    ``never_negative`` [dim] tells which numbers of vectors never are.
    """
    found = _orbits_of(scorer)
    if found is None:
        return None
    orbits, transposes = found
    ordered = _ordered_parameters(scorer, never_negative)
    split = [
        Orbits(one.columns[:, own], one.sign, one.equal or equal)
        for one in orbits
        for both in [ordered[one.columns].all(0)]
        for own, equal in ((both, False), (~both, True))
        if bool(own.any())
    ]
    every, terms = torch.arange(scorer.dim), scorer.terms
    subjects, objects = every, every[:0] if isinstance(scorer, ModelF) else every
    if terms is not None:
        of_entity = every.view(terms.parts, -1)
        subjects = of_entity[sorted({term.subject for term in terms.terms})].flatten()
        objects = of_entity[sorted({term.object for term in terms.terms})].flatten()
    return ParameterOrder(tuple(split), transposes, subjects, objects, never_negative)


def _ordered_parameters(scorer: Scorer, never_negative: Tensor) -> Tensor:
    """Tell of each parameter whether all its entries of M stand beside numbers that are never negative [parameters]."""
    if isinstance(scorer, RESCAL):
        return (never_negative.unsqueeze(1) & never_negative).flatten()
    if scorer.terms is None and not isinstance(scorer, ModelF):  # as in HolE, all numbers meet each parameter
        return never_negative.all().expand(scorer.relation_dim)
    parts = 1 if scorer.terms is None else scorer.terms.parts
    components = never_negative.view(parts, -1).all(0)
    return components.repeat(scorer.relation_dim // len(components))


def _orbits_of(scorer: Scorer) -> tuple[list[Orbits], bool] | None:
    """Return all parameters of a relation where no vector has a negative number, and whether M(r)ᵀ has some too."""
    every = torch.arange(scorer.dim)
    if isinstance(scorer, ModelF):  # the vectors of (x, y) and of (y, x) are unrelated
        return [Orbits(every.unsqueeze(0))], False
    if isinstance(scorer, RESCAL):
        at = torch.arange(scorer.relation_dim).view(scorer.dim, scorer.dim)
        above, below = torch.triu_indices(scorer.dim, scorer.dim, 1)
        pairs = torch.stack([at[above, below], at[below, above]])
        return [Orbits(at.diagonal().unsqueeze(0)), Orbits(pairs)], True
    if isinstance(scorer, HolE):  # M(r)ₛₜ is the parameter t − s, modulo dim
        alone = torch.arange(0, scorer.dim, max(1, scorer.dim // 2)) if scorer.dim % 2 == 0 else every[:1]
        first = torch.arange(1, (scorer.dim + 1) // 2)
        pairs = torch.stack([first, scorer.dim - first])
        return [Orbits(alone.unsqueeze(0)), Orbits(pairs)], True
    return None if scorer.terms is None else _orbits_of_terms(scorer, scorer.terms)


def _orbits_of_terms(scorer: Scorer, terms: Terms) -> tuple[list[Orbits], bool] | None:
    """Read the order off trilinear terms: each is an entry of M, and its weight is the sign."""
    entries = {(term.subject, term.object): term for term in terms.terms}
    if len(entries) < len(terms.terms):
        return None
    parts = max(term.relation for term in terms.terms) + 1
    weights: list[set[float]] = [{t.weight for t in terms.terms if t.relation == part} for part in range(parts)]
    if any(max(found, default=-1.0) <= 0 for found in weights):
        return None
    opposite = [(term, entries.get((term.object, term.subject))) for term in terms.terms]
    across = {(term.relation, found.relation, found.weight / term.weight) for term, found in opposite if found}
    transposes = all(found is not None for _, found in opposite)
    turned = {part: (other, sign) for part, other, sign in across}
    if transposes and (len(across) > len(turned) or any(abs(sign) != 1 for _, sign in turned.values())):
        return None
    columns = torch.arange(scorer.relation_dim).view(parts, -1)
    orbits = []
    for part in range(parts):
        other, sign = turned[part] if transposes else (part, 1.0)
        if other >= part:
            both = [part] if other == part else [part, other]
            orbits.append(Orbits(columns[both], int(sign), min(weights[part]) < 0))
    if any(one.sign < 0 and not one.equal for one in orbits):
        return None
    return orbits, transposes
