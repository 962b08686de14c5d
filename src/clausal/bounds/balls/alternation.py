"""Points on balls, spheres and discs at which the smallest form is large, by alternating maximisation over slots.

With the other slots fixed, forms are linear in one, and max over balls of minⱼ (gⱼ · x + oⱼ) is, by duality, the least
Σ_b ρ_b ‖(λᵀg)_b‖ + λ · o over the simplex: few numbers, solved by Newton's method.
"""

from __future__ import annotations

import torch
from torch import Tensor

from clausal.bounds.balls.lagrangian import Multipliers
from clausal.bounds.balls.quadratic import QuadraticForms
from clausal.bounds.blocks import AtomBlocks, LinearForms, best_set
from clausal.bounds.simplex import TEMPERATURES, minimise_on_simplex

_SETS = 8
"""How many starting points are drawn for each clause."""
_WEIGHTED_ROUNDS = 15
"""Most rounds over all slots for the weighted sum of forms."""
_ROUNDS = 10
"""Most rounds over all slots for the smallest form."""
_NO_GAIN = 1e-6
"""Rounds end when none gains more than this share."""
_RIDGE = 1e-12
"""Added to the diagonal of a Gram matrix, as a share of its largest number: forms may have the same gradient."""
_TINY = 1e-30
"""Least length and scale that is divided by."""


def draw(quadratic: QuadraticForms, optimum: Multipliers, fixed: Tensor, sets: int = _SETS) -> Tensor:
    """Draw sets of vectors with the moments of the dual optimum, scaled into their balls; always the same ones."""
    clauses, components, width, _ = optimum.moments.shape
    noise = torch.randn(
        clauses, sets, components, width, generator=torch.Generator().manual_seed(0), dtype=torch.float64
    )
    values, vectors = torch.linalg.eigh(optimum.moments)
    spread = vectors * values.clamp_min(0).sqrt().unsqueeze(-2)
    drawn = torch.einsum("nipq,nkiq->nkip", spread, noise.to(spread))
    drawn = drawn.unflatten(-1, (quadratic.free, -1)).movedim(3, 2)  # [clauses, sets, free, components, size]
    power = optimum.moments.diagonal(dim1=-2, dim2=-1).unflatten(-1, (quadratic.free, -1)).movedim(2, 1)
    norm = power.reshape(*power.shape[:2], quadratic.radius.shape[1], -1).sum(-1).clamp_min(0).sqrt()
    radius = quadratic.radius.mT  # [clauses, free, groups]
    norm = radius if quadratic.sphere else torch.minimum(norm, radius)
    grouped = drawn.reshape(*drawn.shape[:3], radius.shape[2], -1)
    grouped = _with_norm(grouped, norm.unsqueeze(1))
    return torch.cat([grouped.reshape(drawn.shape), fixed.unsqueeze(1).expand(-1, sets, -1, -1, -1)], 2)


def _with_norm(vectors: Tensor, norm: Tensor) -> Tensor:
    return vectors * (norm / torch.linalg.vector_norm(vectors, dim=-1).clamp_min(_TINY)).unsqueeze(-1)


def best_on_balls(
    atoms: AtomBlocks, forms: LinearForms, quadratic: QuadraticForms, optimum: Multipliers, fixed: Tensor
) -> Tensor:
    """Return a point of the balls [clauses, slots, components, size], searched from draws of the dual optimum.

    First for the weighted sum of forms at the optimal λ, which finds the right place, then for the smallest form.
    """
    components = draw(quadratic, optimum, fixed)
    for weights, rounds in ((optimum.weights, _WEIGHTED_ROUNDS), (None, _ROUNDS)):
        reached = _objective(atoms, forms, components, weights)
        for _ in range(rounds):
            for slot in range(quadratic.free):
                components = _choose_slot(atoms, forms, quadratic, components, slot, weights)
            before, reached = reached, _objective(atoms, forms, components, weights)
            if (reached - before <= _NO_GAIN * reached.abs()).all():
                break
    return best_set(atoms, forms, components)


def _choose_slot(
    atoms: AtomBlocks,
    forms: LinearForms,
    quadratic: QuadraticForms,
    components: Tensor,
    slot: int,
    weights: Tensor | None,
) -> Tensor:
    """Choose one slot's vector anew in every set, given the others, where that is better."""
    radius = quadratic.radius[:, None, :, slot]  # [clauses, 1, groups]
    here = components[:, :, slot].reshape(*components.shape[:2], radius.shape[2], -1)  # [clauses, sets, groups, m]
    gradients = torch.einsum("ja,nkaip->nkjip", forms.matrix, atoms.slot_gradients(components, slot))
    gradients = gradients.reshape(*gradients.shape[:3], *here.shape[2:])  # [clauses, sets, forms, groups, m]
    values = atoms.scores(components) @ forms.matrix.T + forms.offsets
    if atoms.reflexive(slot):  # a shift makes the form convex without a change on spheres, so that steps go uphill
        gradients = gradients + 2 * quadratic.quadratic.abs().sum(-1).amax() * here.unsqueeze(2)
    offsets = values - (gradients * here.unsqueeze(2)).sum((3, 4))
    if weights is None:
        chosen = _smallest_form(gradients, offsets, radius, here, quadratic.sphere)
    else:
        chosen = _with_norm(torch.einsum("nj,nkjgm->nkgm", weights, gradients), radius)
    changed = components.clone()
    changed[:, :, slot] = chosen.reshape(components[:, :, slot].shape)
    better = _objective(atoms, forms, changed, weights) > _objective(atoms, forms, components, weights)
    return torch.where(better[:, :, None, None, None], changed, components)


def _objective(atoms: AtomBlocks, forms: LinearForms, components: Tensor, weights: Tensor | None) -> Tensor:
    """Return the weighted sum of forms or, without weights, the smallest form: [clauses, sets]."""
    values = atoms.scores(components) @ forms.matrix.T + forms.offsets
    return values.amin(-1) if weights is None else torch.einsum("nj,nkj->nk", weights, values)


def _smallest_form(gradients: Tensor, offsets: Tensor, radius: Tensor, here: Tensor, sphere: bool) -> Tensor:
    """Maximise minⱼ (gⱼ · x + oⱼ) over a product of balls: [clauses, sets, groups, m]."""
    gram = torch.einsum("nkjgm,nklgm->nkgjl", gradients, gradients)
    scale = (radius * gram.diagonal(dim1=-2, dim2=-1).amax(-1).sqrt()).sum(-1) + offsets.std(-1, correction=0)
    scale = scale.clamp_min(_TINY)
    flat_gram = (gram / scale[:, :, None, None, None] ** 2).flatten(0, 1)  # [problems, groups, forms, forms]
    flat_offsets = (offsets / scale.unsqueeze(-1)).flatten(0, 1)
    flat_radius = radius.expand(-1, offsets.shape[1], -1).flatten(0, 1)

    def smoothed(weights: Tensor, temperature: float) -> tuple[Tensor, Tensor, Tensor]:
        """Return the dual with √(‖·‖² + τ²) for each norm, its gradient and its Hessian in λ."""
        products = torch.einsum("ngjl,nl->ngj", flat_gram, weights)  # of each gradient with the weighted mean
        norm = ((products * weights.unsqueeze(1)).sum(-1).clamp_min(0) + temperature**2).sqrt()
        by_norm = flat_radius / norm
        slope = products * by_norm.unsqueeze(-1)
        curvature = flat_gram * by_norm[:, :, None, None] - torch.einsum(
            "ngj,ngl,ng->ngjl", products, products, by_norm / norm**2
        )
        return (
            (flat_radius * norm).sum(-1) + (weights * flat_offsets).sum(1),
            slope.sum(1) + flat_offsets,
            curvature.sum(1),
        )

    weights = minimise_on_simplex(smoothed, flat_offsets).reshape(offsets.shape)
    pull = torch.einsum("nkj,nkjgm->nkgm", weights, gradients) / scale[:, :, None, None]
    norm = (pull.square().sum(-1) + TEMPERATURES[-1] ** 2).sqrt()
    chosen = pull * (radius / norm).unsqueeze(-1)
    return _filled(chosen, here, gradients, gram, radius) if sphere else chosen


def _filled(chosen: Tensor, here: Tensor, gradients: Tensor, gram: Tensor, radius: Tensor) -> Tensor:
    """Move points from inside a ball to its surface, across all forms, so that none changes."""
    ridge = _RIDGE * gram.diagonal(dim1=-2, dim2=-1).amax(-1).clamp_min(_TINY)
    identity = torch.eye(gram.shape[-1], dtype=gram.dtype, device=gram.device)
    along = torch.einsum("nkgm,nkjgm->nkgj", here, gradients)
    part = torch.linalg.solve(gram + ridge[..., None, None] * identity, along.unsqueeze(-1)).squeeze(-1)
    across = here - torch.einsum("nkgj,nkjgm->nkgm", part, gradients)
    missing = (radius**2 - chosen.square().sum(-1)).clamp_min(0).sqrt()
    return _with_norm(chosen + _with_norm(across, missing), radius.expand_as(missing))
