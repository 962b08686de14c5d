"""The paper's table of closed forms, line by line: the largest violation J* of three kinds of clauses.

This is where to start reading about closed forms. J* is the largest violation of a clause when its variables X₁ and X₂
stand for any two vectors h₁, h₂ of a domain, and for these clauses it is a short formula in the relations alone:

    clause                        scorer      unit sphere     unit cube
    r(X₁, X₂) ⇒ r(X₂, X₁)         DistMult    0               0
                                  ComplEx     max 2 |rᵢᴵ|     2 Σ |rᵢᴵ|
    b(X₁, X₂) ⇒ r(X₁, X₂)         DistMult    max |δᵢ|        Σ max(0, δᵢ)
                                  ComplEx     max |δᵢ|        Σ max(0, δᵢᴿ) + max(δᵢᴿ, |δᵢᴵ|)
    b(X₁, X₂) ⇒ r(X₂, X₁)         DistMult    max |δᵢ|        Σ max(0, δᵢ)
                                  ComplEx     max |ζᵢ|        Σ max(0, ζᵢᴿ) + max(ζᵢᴿ, |ζᵢᴵ|)

where δ = b − r and ζ = b − r̄. The caption of the paper's table says that ζ is the conjugate of δ, which is an error:
its appendix derives ζ = b − r̄, as used here.

The violations are φ_b(h₁, h₂) − φ_r(h₁, h₂) = ⟨δ, h₁, h₂⟩ in DistMult and Re⟨δ, h₁, h̄₂⟩ in ComplEx. Swapping the
arguments of ComplEx conjugates the relation, φ_r(h₂, h₁) = φ_r̄(h₁, h₂), and so ζ takes the place of δ.

Training uses ``ClosedForm``, which covers more scorers, domains and clauses by general bounds. Tests compare it with
this table, which imports nothing but torch.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import torch
from torch import Tensor

ClauseKind = Literal["symmetry", "implication", "inverse"]
"""r(X₁, X₂) ⇒ r(X₂, X₁), b(X₁, X₂) ⇒ r(X₁, X₂) and b(X₁, X₂) ⇒ r(X₂, X₁)."""


def distmult_symmetry(relation: Tensor) -> Tensor:
    """Return 0, on the sphere and on the cube: DistMult is symmetric in its arguments, and so δ = r − r."""
    delta = relation - relation
    return delta.sum(-1)


def complex_symmetry_on_sphere(relation: Tensor) -> Tensor:
    """Return max 2 |rᵢᴵ|."""
    _, imaginary = real_and_imaginary(relation)
    return (2 * imaginary.abs()).amax(-1)


def complex_symmetry_on_cube(relation: Tensor) -> Tensor:
    """Return 2 Σ |rᵢᴵ|."""
    _, imaginary = real_and_imaginary(relation)
    return 2 * imaginary.abs().sum(-1)


def distmult_implication_on_sphere(body: Tensor, head: Tensor) -> Tensor:
    """Return max |δᵢ|. As DistMult is symmetric, the head may be r(X₁, X₂) or r(X₂, X₁)."""
    delta = body - head
    return delta.abs().amax(-1)


def distmult_implication_on_cube(body: Tensor, head: Tensor) -> Tensor:
    """Return Σ max(0, δᵢ). As DistMult is symmetric, the head may be r(X₁, X₂) or r(X₂, X₁)."""
    delta = body - head
    return delta.clamp_min(0).sum(-1)


def complex_implication_on_sphere(body: Tensor, head: Tensor) -> Tensor:
    """Return max |δᵢ|, the largest modulus √((δᵢᴿ)² + (δᵢᴵ)²)."""
    delta_real, delta_imaginary = real_and_imaginary(body - head)
    return torch.hypot(delta_real, delta_imaginary).amax(-1)


def complex_implication_on_cube(body: Tensor, head: Tensor) -> Tensor:
    """Return Σ max(0, δᵢᴿ) + max(δᵢᴿ, |δᵢᴵ|)."""
    delta_real, delta_imaginary = real_and_imaginary(body - head)
    return (delta_real.clamp_min(0) + torch.maximum(delta_real, delta_imaginary.abs())).sum(-1)


def complex_inverse_on_sphere(body: Tensor, head: Tensor) -> Tensor:
    """Return max |ζᵢ|: the implication with r̄ for r, which makes ζ of δ."""
    return complex_implication_on_sphere(body, conjugate(head))


def complex_inverse_on_cube(body: Tensor, head: Tensor) -> Tensor:
    """Return Σ max(0, ζᵢᴿ) + max(ζᵢᴿ, |ζᵢᴵ|): the implication with r̄ for r, which makes ζ of δ."""
    return complex_implication_on_cube(body, conjugate(head))


def real_and_imaginary(vectors: Tensor) -> tuple[Tensor, Tensor]:
    """Split vectors of ComplEx [..., 2 k] into their real parts, which come first, and imaginary parts [..., k]."""
    real, imaginary = vectors.chunk(2, -1)
    return real, imaginary


def conjugate(vectors: Tensor) -> Tensor:
    """Return r̄ of vectors of ComplEx [..., 2 k]."""
    real, imaginary = real_and_imaginary(vectors)
    return torch.cat([real, -imaginary], -1)


PAPER_TABLE: dict[tuple[str, str, ClauseKind], Callable[..., Tensor]] = {
    ("distmult", "sphere", "symmetry"): distmult_symmetry,
    ("distmult", "cube", "symmetry"): distmult_symmetry,
    ("complex", "sphere", "symmetry"): complex_symmetry_on_sphere,
    ("complex", "cube", "symmetry"): complex_symmetry_on_cube,
    ("distmult", "sphere", "implication"): distmult_implication_on_sphere,
    ("distmult", "cube", "implication"): distmult_implication_on_cube,
    ("complex", "sphere", "implication"): complex_implication_on_sphere,
    ("complex", "cube", "implication"): complex_implication_on_cube,
    ("distmult", "sphere", "inverse"): distmult_implication_on_sphere,
    ("distmult", "cube", "inverse"): distmult_implication_on_cube,
    ("complex", "sphere", "inverse"): complex_inverse_on_sphere,
    ("complex", "cube", "inverse"): complex_inverse_on_cube,
}
"""By scorer, domain and kind of clause: J* of relations [..., relation_dim] as [...].

A symmetry has one relation, f(relation), and the others two, f(body, head).
"""
