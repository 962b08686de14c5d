"""The dual bound on boxes (cube, box and hulls): D(λ) = Σᵢ max over the corners of component i of λ · forms + λ · o."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from clausal.consistency.bounds.blocks import AtomBlocks, Bound
from clausal.consistency.bounds.boxes.corners import Corners, corners_of
from clausal.consistency.bounds.boxes.mixtures import optimal_mixture
from clausal.consistency.bounds.boxes.rounding import round_mixture
from clausal.consistency.forms import LinearForms
from clausal.consistency.regions import Boxes

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


@torch.no_grad()
def optimal_weights(atoms: AtomBlocks, forms: LinearForms, boxes: Boxes, free: int) -> Tensor:
    """Return the λ [clauses, forms] that makes the bound least, without a point."""
    exact_boxes = Boxes(boxes.low.double(), boxes.high.double())
    corners = corners_of(atoms.detach(), exact_boxes, free)
    assert corners is not None
    parts = _in_parts(atoms.detach(), forms, exact_boxes, corners)
    weights = [
        optimal_mixture(_table(some_atoms, some_forms, some_corners), _offsets(some_atoms, some_forms)).weights
        for some_atoms, some_forms, _, some_corners in parts
    ]
    return torch.cat(weights).to(atoms.matrices)


def _in_parts(
    atoms: AtomBlocks, forms: LinearForms, boxes: Boxes, corners: Corners
) -> Iterator[tuple[AtomBlocks, LinearForms, Boxes, Corners]]:
    """Yield as many clauses at a time as have a table of bearable size."""
    clauses, _, components, _, _ = atoms.matrices.shape
    rows = max(1, _MOST_NUMBERS // (len(forms.offsets) * components * corners.count))
    for start in range(0, clauses, rows):
        end = start + rows
        some_boxes = Boxes(boxes.low[start:end], boxes.high[start:end])
        some_atoms = atoms.clause_range(start, end)
        yield some_atoms, forms.like(atoms.matrices), some_boxes, corners.clause_range(start, end)


def _best_bound(atoms: AtomBlocks, forms: LinearForms, boxes: Boxes, corners: Corners) -> Bound:
    table = _table(atoms, forms, corners)
    mixture = optimal_mixture(table, _offsets(atoms, forms))
    by_corner = torch.einsum("nj,njic->nic", mixture.weights, table)
    dual = by_corner.amax(-1).sum(-1) + mixture.weights @ forms.offsets
    return Bound(dual, mixture.weights, round_mixture(atoms, forms, boxes, corners, table, mixture, dual))


def _table(atoms: AtomBlocks, forms: LinearForms, corners: Corners) -> Tensor:
    """Return every form at every corner [clauses, forms, components, corners]."""
    return corners.table(atoms, forms.matrix.expand(len(atoms.matrices), -1, -1))


def _offsets(atoms: AtomBlocks, forms: LinearForms) -> Tensor:
    return forms.offsets.expand(len(atoms.matrices), -1)
