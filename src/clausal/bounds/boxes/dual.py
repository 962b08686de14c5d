"""The dual bound on boxes (cube, box and hulls): D(λ) = Σᵢ max over the corners of component i of λ · forms, + λ · o.

It is used in two ways. As a certificate, ``bound_on_boxes`` finds the best λ in double precision and a point that
nearly attains the bound. As a loss, ``solve_on_boxes`` finds λ once in a while and ``largest_on_boxes`` evaluates D(λ)
in few operations that can be differentiated; any λ is valid. See "Duality" and "Boxes" in
docs/explanation/certificates.md.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import torch
from torch import Tensor

from clausal.bounds.blocks import AtomBlocks, Bound, GatheredForm, LinearForms, gather_form
from clausal.bounds.boxes.corners import CornerGrid, corners_of, too_many_corners
from clausal.bounds.boxes.mixtures import optimal_mixture, optimal_weights
from clausal.bounds.boxes.reflexive import is_quadratic, largest_quadratic
from clausal.bounds.boxes.rounding import round_mixture
from clausal.bounds.regions import Boxes
from clausal.fast import fastest
from clausal.model.threads import threads_for

_MOST_NUMBERS = 1 << 22
"""Largest table of forms at corners; more clauses than fit are treated in turn."""


@torch.no_grad()
def bound_on_boxes(atoms: AtomBlocks, forms: LinearForms, boxes: Boxes, free: int) -> Bound | None:
    """Bound max over boxes of min over forms; exact with one form. None where a component has too many corners."""
    exact_boxes = Boxes(boxes.low.double(), boxes.high.double())
    corners = corners_of(atoms.detach(), exact_boxes, free)
    if corners is None:
        return None
    parts = [_best_bound(*part) for part in _in_parts(atoms.detach(), forms, exact_boxes, corners)]
    return Bound(
        torch.cat([part.value for part in parts]).to(atoms.matrices),
        torch.cat([part.weights for part in parts]).to(atoms.matrices),
        torch.cat([part.components for part in parts]).to(atoms.matrices),
    )


def _in_parts(
    atoms: AtomBlocks, forms: LinearForms, boxes: Boxes, corners: CornerGrid
) -> Iterator[tuple[AtomBlocks, LinearForms, Boxes, CornerGrid]]:
    """Yield as many clauses at a time as have a table of at most ``_MOST_NUMBERS``."""
    clauses, _, components, _, _ = atoms.matrices.shape
    rows = max(1, _MOST_NUMBERS // (len(forms.offsets) * components * corners.count))
    for start in range(0, clauses, rows):
        end = start + rows
        some_boxes = Boxes(boxes.low[start:end], boxes.high[start:end])
        some_atoms = atoms.clause_range(start, end)
        yield some_atoms, forms.like(atoms.matrices), some_boxes, corners.clause_range(start, end)


def _best_bound(atoms: AtomBlocks, forms: LinearForms, boxes: Boxes, corners: CornerGrid) -> Bound:
    table = _table(atoms, forms, corners)
    mixture = optimal_mixture(table, _offsets(atoms, forms))
    by_corner = torch.einsum("nj,njic->nic", mixture.weights, table)
    dual = by_corner.amax(-1).sum(-1) + mixture.weights @ forms.offsets
    return Bound(dual, mixture.weights, round_mixture(atoms, forms, boxes, corners, table, mixture, dual))


def _table(atoms: AtomBlocks, forms: LinearForms, corners: CornerGrid) -> Tensor:
    """Return every form at every corner [clauses, forms, components, corners]."""
    return corners.table(atoms, forms.matrix.expand(len(atoms.matrices), -1, -1))


def _offsets(atoms: AtomBlocks, forms: LinearForms) -> Tensor:
    """Return the forms' offsets for each clause [clauses, forms]."""
    return forms.offsets.expand(len(atoms.matrices), -1)


def solve_on_boxes(atoms: AtomBlocks, forms: LinearForms, boxes: Boxes, free: int) -> tuple[Tensor, ...] | None:
    """Return the λ that makes the bound least, nothing for one form; None where a component has too many corners."""
    form = gather_form(atoms, forms, boxes.low[:, free:], free)
    if not is_quadratic(form, forms, boxes) and too_many_corners(atoms, boxes, free):
        return None
    if len(forms.offsets) == 1:
        return ()
    corners = 2 ** (free * boxes.low.shape[-1])
    with threads_for(corners * atoms.matrices.numel()):
        return (_optimal_weights(atoms, forms, boxes, free),)


@torch.no_grad()
def _optimal_weights(atoms: AtomBlocks, forms: LinearForms, boxes: Boxes, free: int) -> Tensor:
    """Return the λ [clauses, forms] that makes the bound least, without a point."""
    exact_boxes = Boxes(boxes.low.double(), boxes.high.double())
    corners = corners_of(atoms.detach(), exact_boxes, free)
    assert corners is not None
    parts = _in_parts(atoms.detach(), forms, exact_boxes, corners)
    weights = []
    for some_atoms, some_forms, _, some_corners in parts:
        given = _table(some_atoms, some_forms, some_corners), _offsets(some_atoms, some_forms)
        weights.append(fastest(optimal_weights, *given)(*given))
    return torch.cat(weights).to(atoms.matrices)


def largest_on_boxes(
    atoms: AtomBlocks, forms: LinearForms, boxes: Boxes, free: int, weights: Tensor | None = None
) -> Tensor:
    """Return D(λ) [clauses], differentiable in atoms and constants; λ [clauses, forms] is not needed for one form."""
    form = gather_form(atoms, forms, boxes.low[:, free:], free, weights)
    if not form.squares:
        return _best_corners(form, boxes.low[:, :free], boxes.high[:, :free])
    if is_quadratic(form, forms, boxes):
        return largest_quadratic(form, boxes)[0]
    corners = corners_of(atoms, boxes, free)
    assert corners is not None
    linear_forms = forms.like(atoms.matrices)
    weights = torch.ones_like(form.constant).unsqueeze(1) if weights is None else weights
    table = corners.table(atoms, (weights @ linear_forms.matrix).unsqueeze(1))
    return table.amax(-1).sum((1, 2)) + weights @ linear_forms.offsets


def _best_corners(form: GatheredForm, low: Tensor, high: Tensor) -> Tensor:
    """Return Σᵢ max over corners [clauses] of a form without squares in slots [clauses, free, components, size]."""
    layout = low.shape[1], low.shape[3], low.device
    if low.stride(0) == low.stride(2) == 0:  # expanded: the same for all clauses and components, as a domain is
        points = torch.where(_bits(*layout), high[0, :, 0], low[0, :, 0])  # [corners, free, size]
    else:
        form, points = _on_unit_cube(form, low, high), _unit_cube(*layout, low.dtype)
    features = [(points[:, v, :, None] * points[:, w, None, :]).flatten(1) for v, w in form.pairs]
    corners = torch.cat([*features, *(points[:, slot] for slot in form.linear)], 1)  # [corners, numbers]
    coefficients = torch.cat([*(matrix.flatten(2) for matrix in form.pairs.values()), *form.linear.values()], 2)
    with torch.no_grad():
        best = (coefficients.flatten(0, 1) @ corners.T).argmax(1)
        chosen = corners[best].view_as(coefficients)
    return form.constant + (chosen * coefficients).sum((1, 2))


def _on_unit_cube(form: GatheredForm, low: Tensor, high: Tensor) -> GatheredForm:
    """Write a form in u with x = low + (high − low) u, so that all components have the same corners."""
    width = high - low
    result, linear = GatheredForm(form.constant), dict(form.linear)
    for (one, other), matrix in form.pairs.items():
        by_one = (matrix * low[:, other].unsqueeze(-2)).sum(-1)
        by_other = (matrix * low[:, one].unsqueeze(-1)).sum(-2)
        result.pairs[one, other] = width[:, one].unsqueeze(-1) * matrix * width[:, other].unsqueeze(-2)
        linear[one] = linear[one] + by_one if one in linear else by_one
        linear[other] = linear[other] + by_other if other in linear else by_other
        result.constant = result.constant - (by_one * low[:, one]).sum((1, 2))  # counted twice below
    for slot, vector in linear.items():
        result.linear[slot] = vector * width[:, slot]
        result.constant = result.constant + (vector * low[:, slot]).sum((1, 2))
    return result


@cache
def _bits(slots: int, size: int, device: torch.device) -> Tensor:
    """Return which numbers are high at each corner [corners, slots, size]."""
    numbers, places = torch.arange(2 ** (slots * size), device=device), torch.arange(slots * size, device=device)
    return ((numbers[:, None] >> places) % 2 == 1).view(-1, slots, size)


@cache
def _unit_cube(slots: int, size: int, device: torch.device, dtype: torch.dtype) -> Tensor:
    """Return the corners of the unit cube [corners, slots, size]."""
    return _bits(slots, size, device).to(dtype)
