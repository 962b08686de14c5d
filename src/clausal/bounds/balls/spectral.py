"""Closed forms on balls, spheres and discs: the paper's table for the sphere, for every scorer that has blocks.

A form of one pair of variables, Σᵢ xᵢᵀ Mᵢ yᵢ, is at most maxᵢ σmax(Mᵢ) on unit balls and Σᵢ ρᵢ ρ′ᵢ σmax(Mᵢ) on discs.
In one variable it is the largest eigenvalue, or a norm where constants make it linear. Variables without a common atom
add up.
"""

from __future__ import annotations

import torch
from torch import Tensor

from clausal.bounds.blocks import AtomBlocks, Bound, GatheredForm, LinearForms, gather_form
from clausal.bounds.regions import Balls, Discs


def bound_by_spectrum(atoms: AtomBlocks, forms: LinearForms, region: Balls | Discs, free: int) -> Bound | None:
    """Return the largest value of one form, exactly; None for several forms, or where variables are entangled."""
    if len(forms.offsets) > 1:
        return None
    form = gather_form(atoms, forms, region.fixed, free)
    if not form.separate:
        return None
    value = largest_of_separate(form, region)
    points = _maximiser(form, region, atoms.matrices.new_zeros(len(value), free, *atoms.matrices.shape[2:4]))
    return Bound(value, value.new_ones(len(value), 1), torch.cat([points, region.fixed], 1).detach())


def largest_of_separate(form: GatheredForm, region: Balls | Discs) -> Tensor:
    """Return the largest value [clauses] of terms without a common slot, differentiable."""
    value = form.constant
    for (one, other), matrix in form.pairs.items():
        value = value + _over_components(largest_singular_value(matrix), region, one, other)
    for slot, matrix in form.squares.items():
        value = value + _over_components(largest_eigenvalue(matrix), region, slot, slot)
    for slot, vector in form.linear.items():
        norms = torch.linalg.vector_norm(vector, dim=-1)
        if isinstance(region, Discs):
            value = value + (region.radius[:, slot] * norms).sum(-1)
        else:
            value = value + torch.linalg.vector_norm(norms, dim=-1)
    return value


def largest_singular_value(matrices: Tensor) -> Tensor:
    """Return σmax of [..., size, size]; of a complex number as a matrix, its modulus."""
    if matrices.shape[-1] == 1:
        return matrices[..., 0, 0].abs()
    if matrices.shape[-1] > 2:
        return torch.linalg.matrix_norm(matrices, ord=2)
    (a, b), (c, d) = (row.unbind(-1) for row in matrices.unbind(-2))
    norm = torch.linalg.vector_norm
    return (norm(torch.stack([a + d, b - c]), dim=0) + norm(torch.stack([a - d, b + c]), dim=0)) / 2


def largest_eigenvalue(matrices: Tensor) -> Tensor:
    """Return λmax of the symmetric part of [..., size, size]."""
    if matrices.shape[-1] == 1:
        return matrices[..., 0, 0]
    if matrices.shape[-1] > 2:
        return torch.linalg.eigvalsh((matrices + matrices.mT) / 2)[..., -1]
    (a, b), (c, d) = (row.unbind(-1) for row in matrices.unbind(-2))
    return (a + d + torch.linalg.vector_norm(torch.stack([a - d, b + c]), dim=0)) / 2


def _over_components(values: Tensor, region: Balls | Discs, one: int, other: int) -> Tensor:
    """Return the largest value [clauses, components] → [clauses]: of one component on balls, of all on discs."""
    if isinstance(region, Discs):
        return (region.radius[:, one] * region.radius[:, other] * values.clamp_min(0)).sum(-1)
    best = values.amax(-1)
    return best if region.sphere else best.clamp_min(0)


@torch.no_grad()
def _maximiser(form: GatheredForm, region: Balls | Discs, points: Tensor) -> Tensor:
    for (one, other), matrix in form.pairs.items():
        left, values, right = torch.linalg.svd(matrix)
        chosen = _chosen(values[..., 0], region)
        points[:, one] = chosen * left[..., 0] * _radius(region, one)
        points[:, other] = chosen * right[..., 0, :] * _radius(region, other)
    for slot, matrix in form.squares.items():
        values, vectors = torch.linalg.eigh((matrix + matrix.mT) / 2)
        points[:, slot] = _chosen(values[..., -1], region) * vectors[..., -1] * _radius(region, slot)
    for slot, vector in form.linear.items():
        length = torch.linalg.vector_norm(vector, dim=(1, 2) if isinstance(region, Balls) else 2, keepdim=True)
        points[:, slot] = vector / length.clamp_min(1e-30) * _radius(region, slot)
    return region.project(points.unsqueeze(1)).squeeze(1)


def _chosen(values: Tensor, region: Balls | Discs) -> Tensor:
    """Mark the components that a maximiser uses [clauses, components, 1]: those of positive value, or the best."""
    if isinstance(region, Discs):
        return (values > 0).unsqueeze(-1).to(values)
    best = torch.zeros_like(values).scatter(1, values.argmax(1, keepdim=True), 1.0)
    return (best if region.sphere else best * (values > 0)).unsqueeze(-1)


def _radius(region: Balls | Discs, slot: int) -> Tensor | float:
    return 1.0 if isinstance(region, Balls) else region.radius[:, slot].unsqueeze(-1)
