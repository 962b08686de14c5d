"""Orders of relation parameters: what makes one relation score at most what another does, on non-negative vectors.

A scorer φ_r(x, y) = Σ M(r)ₛₜ xₛ yₜ has φ_b ≤ φ_h for all x, y ≥ 0 if and only if M(b) ≤ M(h) in every entry. Where each
entry is a parameter, or minus one, that is an order of parameters: a parameter with one sign must not be larger in b
than in h, and one that occurs with both signs must be equal. Reading h from object to subject puts M(h)ᵀ in the place
of M(h), which permutes the parameters and changes signs.
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
    """Whether entries of M hold the parameters with both signs."""


@dataclass(frozen=True, eq=False)
class ParameterOrder:
    """All parameters of a relation by how they are ordered.

    ``transposes`` tells whether M(r)ᵀ is the matrix of other parameters at all. ``subjects`` and ``objects`` are the
    numbers of an entity's vector that count in each place.
    """

    orbits: tuple[Orbits, ...]
    transposes: bool
    subjects: Tensor
    objects: Tensor


def parameter_order(scorer: Scorer) -> ParameterOrder | None:
    """Return how a scorer's relation parameters are ordered; None where M(r) has no such entries."""
    every = torch.arange(scorer.dim)
    if isinstance(scorer, ModelF):  # the vectors of (x, y) and of (y, x) are unrelated
        return ParameterOrder((Orbits(every.unsqueeze(0)),), False, every, every[:0])
    if isinstance(scorer, RESCAL):
        at = torch.arange(scorer.relation_dim).view(scorer.dim, scorer.dim)
        above, below = torch.triu_indices(scorer.dim, scorer.dim, 1)
        pairs = torch.stack([at[above, below], at[below, above]])
        return ParameterOrder((Orbits(at.diagonal().unsqueeze(0)), Orbits(pairs)), True, every, every)
    if isinstance(scorer, HolE):  # M(r)ₛₜ is the parameter t − s, modulo dim
        alone = torch.arange(0, scorer.dim, max(1, scorer.dim // 2)) if scorer.dim % 2 == 0 else every[:1]
        first = torch.arange(1, (scorer.dim + 1) // 2)
        pairs = torch.stack([first, scorer.dim - first])
        return ParameterOrder((Orbits(alone.unsqueeze(0)), Orbits(pairs)), True, every, every)
    return None if scorer.terms is None else _order_of_terms(scorer, scorer.terms)


def _order_of_terms(scorer: Scorer, terms: Terms) -> ParameterOrder | None:
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
    of_entity = torch.arange(scorer.dim).view(terms.parts, -1)
    subjects = of_entity[sorted({term.subject for term in terms.terms})].flatten()
    objects = of_entity[sorted({term.object for term in terms.terms})].flatten()
    return ParameterOrder(tuple(orbits), transposes, subjects, objects)
