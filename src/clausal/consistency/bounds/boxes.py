"""The dual bound on boxes (cube, box and hulls): D(λ) = Σᵢ max over the corners of component i of λ · forms + λ · o."""

from __future__ import annotations

import torch
from torch import Tensor

from clausal.consistency.bounds.blocks import AtomBlocks, Bound
from clausal.consistency.bounds.corners import Corners, corners_of
from clausal.consistency.bounds.mixtures import optimal_mixture
from clausal.consistency.bounds.rounding import round_mixture
from clausal.consistency.forms import LinearForms
from clausal.consistency.regions import Boxes

_MOST_NUMBERS = 1 << 22
"""Largest table of forms at corners; more clauses than fit are treated in turn."""


def bound_on_boxes(atoms: AtomBlocks, forms: LinearForms, boxes: Boxes, weights: Tensor | None = None) -> Bound | None:
    """Bound max over boxes of min over forms; exact with one form. None where a component has too many corners.

    Given ``weights`` [clauses, forms] the bound is that of this λ, the components are its plain maximiser, and
    nothing is searched: the way to use the bound as a loss.
    """
    corners = corners_of(atoms, boxes)
    if corners is None:
        return None
    forms = forms.like(atoms.matrices)
    if weights is not None:
        return _bound_at(atoms, forms, corners, weights)
    clauses, components = len(atoms.matrices), atoms.matrices.shape[2]
    rows = max(1, _MOST_NUMBERS // (len(forms.offsets) * components * corners.count))
    parts = [
        _best_bound(
            atoms.clause_range(start, start + rows),
            forms,
            Boxes(boxes.low[start : start + rows], boxes.high[start : start + rows]),
            corners.clause_range(start, start + rows),
        )
        for start in range(0, clauses, rows)
    ]
    return Bound(
        torch.cat([part.value for part in parts]),
        torch.cat([part.weights for part in parts]),
        torch.cat([part.components for part in parts]),
    )


def _bound_at(atoms: AtomBlocks, forms: LinearForms, corners: Corners, weights: Tensor) -> Bound:
    """Return the bound for a given λ."""
    coefficients = weights @ forms.matrix  # [clauses, atoms]
    with torch.no_grad():
        best = corners.table(atoms, coefficients.unsqueeze(1)).squeeze(1).argmax(-1, keepdim=True)
    scores = corners.expected(atoms, best, torch.ones_like(best, dtype=coefficients.dtype))
    value = (coefficients * scores).sum(1) + weights @ forms.offsets
    return Bound(value, weights, corners.chosen(best.movedim(2, 1)).squeeze(1).detach())


def _best_bound(atoms: AtomBlocks, forms: LinearForms, boxes: Boxes, corners: Corners) -> Bound:
    """Solve for λ in double precision and differentiate at the optimal mixture of corners.

    Where two corners of a component tie at the optimal λ neither gives the gradient of the bound: it is that of their
    mixture, which balances the forms.
    """
    with torch.no_grad():
        exact_atoms, exact_corners = atoms.detach(), corners.detach()
        exact_forms = forms.like(exact_atoms.matrices)
        table = exact_corners.table(exact_atoms, exact_forms.matrix.expand(len(atoms.matrices), -1, -1))
        mixture = optimal_mixture(table, exact_forms.offsets.expand(len(table), -1))
        dual = _dual(table, exact_forms.offsets, mixture.weights)
        exact_boxes = Boxes(boxes.low.detach().double(), boxes.high.detach().double())
        components = round_mixture(exact_atoms, exact_forms, exact_boxes, exact_corners, table, mixture, dual)
    weights, probabilities = mixture.weights.to(atoms.matrices), mixture.probabilities.to(atoms.matrices)
    scores = corners.expected(atoms, mixture.corners, probabilities)
    mixed = (weights @ forms.matrix * scores).sum(1)
    return Bound(mixed + (dual.to(mixed) - mixed).detach(), weights, components.to(atoms.matrices))


def _dual(table: Tensor, offsets: Tensor, weights: Tensor) -> Tensor:
    return torch.einsum("nj,njic->nic", weights, table).amax(-1).sum(-1) + weights @ offsets
