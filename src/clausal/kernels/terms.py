"""Trilinear scorers as sums of terms: φ_r(x, y) = Σ_t w_t Σᵢ r[ρ_t][i] x[σ_t][i] y[ω_t][i].

Vectors are cut into parts of equal length; ρ, σ and ω number the part of the relation, of the subject and of the
object. A scorer is its terms (w, ρ, σ, ω), and so is its gradient: each vector's is the product of the other two.
"""

from __future__ import annotations

from typing import NamedTuple


class Term(NamedTuple):
    """One term: its weight and the parts of relation, subject and object that it multiplies."""

    weight: float
    relation: int
    subject: int
    object: int


class Terms(NamedTuple):
    """The terms of a scorer, and into how many parts it cuts an entity's vector."""

    parts: int
    terms: tuple[Term, ...]
