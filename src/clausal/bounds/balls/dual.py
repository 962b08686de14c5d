"""The dual bound on balls and spheres (of whole vectors) and on discs (a ball for each component).

As a certificate, ``bound_on_balls`` minimises the Lagrangian dual over λ and μ (``lagrangian.py``) and searches for a
point that nearly attains it (``alternation.py``). As a loss, ``solve_on_balls`` finds λ and μ once in a while, and
``largest_on_balls`` is the bound that they give while the relations move on, by scaling μ until it is feasible again:

for any μ > 0 let tᵢ be the largest eigenvalue of D^-½ Mᵢ(λ) D^-½ with D = diag(μ). Then t D − Mᵢ ⪰ 0 for t ≥ tᵢ, and
t Σ μ_v ρ_v² is a valid bound, with one t for all components on balls and one for each on discs. What is linear, by
constants, is bilinear in a further number that is 1 in every component, and has a multiplier as any slot has. The proof
is in "Sphere and ball" of docs/explanation/certificates.md.
"""

from __future__ import annotations

import torch
from torch import Tensor

from clausal.bounds.balls.alternation import best_on_balls
from clausal.bounds.balls.lagrangian import Multipliers, optimal_multipliers
from clausal.bounds.balls.phases import has_phases, largest_by_phases, solve_weights
from clausal.bounds.balls.quadratic import QuadraticForms, quadratic_forms
from clausal.bounds.balls.spectral import largest_of_separate
from clausal.bounds.blocks import AtomBlocks, Bound, GatheredForm, LinearForms, gather_form
from clausal.bounds.regions import Balls, Discs

_SMALLEST_SHARE = 1e-3
"""No slot counts for less than this share of the one that counts most: scaling must be able to make up for it later."""
_SMALLEST_LIMIT = 1e-12
"""Least μ ρ² and ρ², so that a multiplier of 0 or a disc of radius 0 does not lead to a division by 0."""
_SQUARINGS = 13
"""Matrices are raised to the power p = 2¹³, which bounds a largest eigenvalue to a share of d^(1/p) − 1 of the shifted
matrix: 0.03 % for d = 12 numbers."""


@torch.no_grad()
def bound_on_balls(atoms: AtomBlocks, forms: LinearForms, region: Balls | Discs, free: int) -> Bound:
    """Bound max over balls, spheres or discs of min over forms; exact with one form in at most two free slots."""
    quadratic, optimum = solve_dual(atoms, forms, region, free)
    exact_atoms = atoms.detach()
    exact_forms = forms.like(exact_atoms.matrices)
    components = best_on_balls(exact_atoms, exact_forms, quadratic, optimum, region.fixed.double())
    return Bound(optimum.value.to(atoms.matrices), optimum.weights.to(atoms.matrices), components.to(atoms.matrices))


@torch.no_grad()
def solve_dual(
    atoms: AtomBlocks, forms: LinearForms, region: Balls | Discs, free: int
) -> tuple[QuadraticForms, Multipliers]:
    """Minimise the dual over λ and μ in double precision."""
    exact_atoms = atoms.detach()
    if isinstance(region, Discs):
        radius = region.radius.mT.double()  # [clauses, groups, free slots], where a group is a component
    else:
        radius = exact_atoms.matrices.new_ones(len(exact_atoms.matrices), 1, free)
    quadratic = quadratic_forms(
        exact_atoms,
        forms.like(exact_atoms.matrices),
        region.fixed.double(),
        radius,
        radius.shape[1],
        sphere=isinstance(region, Balls) and region.sphere,
    )
    return quadratic, optimal_multipliers(quadratic)


def solve_on_balls(atoms: AtomBlocks, forms: LinearForms, region: Balls | Discs, free: int) -> tuple[Tensor, ...]:
    """Return λ [clauses, forms], and μ [clauses, 1 or components, free slots, and 1 if constants make forms linear].

    A closed form needs neither, and phases need λ alone.
    """
    if isinstance(region, Discs) and has_phases(atoms, forms, free):
        return (solve_weights(atoms, forms, region),)
    form = gather_form(atoms, forms, region.fixed, free)
    if len(forms.offsets) == 1 and form.separate:
        return ()
    quadratic, optimum = solve_dual(atoms, forms, region, free)
    power = quadratic.radius.square().clamp_min(_SMALLEST_LIMIT)
    limits = (optimum.multipliers * power).clamp_min(_SMALLEST_LIMIT)  # μ ρ² [clauses, groups, free slots]
    limits = limits.clamp_min(_SMALLEST_SHARE * limits.amax(2, keepdim=True))
    multipliers = limits / power
    if form.linear:
        of_one = optimum.linear.unsqueeze(2)  # [clauses, components, 1]
        components_of_a_group = of_one.shape[1] / multipliers.shape[1]
        least = _SMALLEST_SHARE * limits.sum(2, keepdim=True) / components_of_a_group
        multipliers = multipliers.expand(-1, of_one.shape[1], -1)
        multipliers = torch.cat([multipliers, torch.maximum(of_one, least)], 2)
    return optimum.weights.to(atoms.matrices), multipliers.to(atoms.matrices)


def largest_on_balls(
    atoms: AtomBlocks,
    forms: LinearForms,
    region: Balls | Discs,
    free: int,
    weights: Tensor | None = None,
    multipliers: Tensor | None = None,
) -> Tensor:
    """Return the bound [clauses] that λ and scaled μ give, differentiable in atoms and constants."""
    if weights is not None and multipliers is None:
        assert isinstance(region, Discs)
        return largest_by_phases(atoms, forms, region, weights)
    form = gather_form(atoms, forms, region.fixed, free, weights)
    if multipliers is None:
        return largest_of_separate(form, region)
    ones = multipliers.shape[2] > free
    matrix = _scaled_matrix(form, multipliers, free, ones)
    # r(X, X) can have eigenvalues so far below 0 that squaring would be loose.
    largest = torch.linalg.eigvalsh(matrix)[..., -1] if form.squares else _eigenvalue_bound(matrix)  # t
    if isinstance(region, Discs):
        power = torch.cat([region.radius.mT.square(), torch.ones_like(region.radius.mT[..., :1])], 2)
        limits = (multipliers * power[..., : multipliers.shape[2]]).sum(2)
        return form.constant + (largest.clamp_min(0) * limits).sum(1)
    # On balls all components share a slot's multiplier, and each has its own for the number 1.
    limits = multipliers[:, 0, :free].sum(1) + (multipliers[:, :, free].sum(1) if ones else 0)
    scale = largest.amax(1)
    return form.constant + (scale if region.sphere else scale.clamp_min(0)) * limits


def _scaled_matrix(form: GatheredForm, multipliers: Tensor, free: int, ones: bool) -> Tensor:
    """Return D^-½ M D^-½ over all free slots, and the number 1 [clauses, components, d, d]."""
    some = next(iter([*form.pairs.values(), *form.squares.values(), *form.linear.values()]))
    nothing = some.new_zeros(*some.shape[:2], some.shape[2], some.shape[2])
    root = multipliers.rsqrt()[..., None, None]  # [clauses, 1 or components, slots, 1, 1]
    rows = []
    for one in range(free):
        blocks = []
        for other in range(free):
            if one == other:
                square = form.squares.get(one)
                block = nothing if square is None else (square + square.mT) / 2
            else:
                pair = form.pairs.get((min(one, other), max(one, other)), nothing) / 2
                block = pair if one < other else pair.mT
            blocks.append(block * (root[:, :, one] * root[:, :, other]))
        if ones:
            column = form.linear.get(one, nothing[..., 0]).unsqueeze(-1) / 2
            blocks.append(column * (root[:, :, one] * root[:, :, free]))
        rows.append(torch.cat(blocks, -1))
    if ones:
        last = [row[..., -1:].mT for row in rows]
        rows.append(torch.cat([*last, torch.zeros_like(last[0][..., :1])], -1))
    return torch.cat(rows, -2)


def _eigenvalue_bound(matrices: Tensor) -> Tensor:
    """Bound the largest eigenvalue of symmetric matrices [..., d, d] from above, closely, by repeated squaring.

    With A ⪰ 0 it is at most (tr Aᵖ)^(1/p), and at least that divided by d^(1/p). Unlike a decomposition this waits for
    nothing on a GPU. Aᵖ / tr Aᵖ projects onto the eigenvector, and so is the gradient.
    """
    with torch.no_grad():
        shift = matrices.abs().sum(-1).amax(-1).clamp_min(1e-30)  # no eigenvalue is below −shift
        power = matrices + torch.diag_embed(shift.unsqueeze(-1).expand(matrices.shape[:-1]))
        logarithm = torch.zeros_like(shift)
        for step in range(_SQUARINGS + 1):
            power = power @ power if step else power
            trace = power.diagonal(dim1=-2, dim2=-1).sum(-1)
            power = power / trace[..., None, None]
            logarithm = logarithm + trace.log() / 2**step
        bound = logarithm.exp() - shift
    value = (power * matrices).sum((-2, -1))
    return value + (bound - value).detach()
