"""Rounds a mixture of corners to a point of the boxes at which the smallest form is nearly as large as the bound.

At the optimal λ few components are truly mixed: with J forms the mixture is a vertex of a linear program with J
constraints beside one for each component, so that at most J − 1 components have more than one corner. Three steps:

1. Each component is given one of its corners, drawn with its probability (``_draw``).
2. Single components change corner as long as the smallest form gains (``_change_single_components``).
3. All numbers move at once (``_move``): around a point the forms are nearly linear, and the largest minⱼ of linear
   forms on a box is a mixture problem, number by number. Its solution needs no rounding, as a mixture of the two limits
   of a number is a number between them. Steps are kept short, as in any trust-region method.

"Rounding: the attained value" in docs/explanation/certificates.md has how near to the bound this comes.
"""

from __future__ import annotations

import torch
from torch import Tensor

from clausal.bounds.blocks import AtomBlocks, LinearForms, attained, best_set
from clausal.bounds.boxes.corners import CornerGrid
from clausal.bounds.boxes.mixtures import Mixture, optimal_mixture
from clausal.bounds.regions import Boxes

_SETS = 4
"""How many points are drawn for each clause."""
_MOVES = 12
"""Most steps in which all numbers move."""
_NEAR_ENOUGH = 1e-6
"""A point is good enough where the smallest form is within this share of the bound."""
_FIRST_REACH = 0.5
"""How far a number may move in the first step, as a share of its box."""
_LEAST_REACH = 1e-3
"""A point is left alone where steps have become shorter than this share of the box."""
_LONGER, _SHORTER = 2.0, 0.25
"""What the reach is multiplied by after a step that gained, and after one that did not."""
_NO_GAIN = 1e-12
"""A change of a corner that gains less than this share of the largest value is rounding."""
_GOLDEN = 0.6180339887498949
"""The golden ratio less 1: its multiples modulo 1 are spread evenly."""


def round_mixture(
    atoms: AtomBlocks,
    forms: LinearForms,
    boxes: Boxes,
    corners: CornerGrid,
    table: Tensor,
    mixture: Mixture,
    dual: Tensor,
) -> Tensor:
    """Return a point of the boxes [clauses, slots, components, size] for the optimal mixture of the forms' table."""
    if len(forms.offsets) == 1:
        return corners.chosen(mixture.corners.movedim(2, 1)).squeeze(1)
    drawn = _draw(mixture)
    chosen = torch.cat([_change_single_components(table, forms.offsets, drawn), drawn], 1)
    components = corners.chosen(chosen)
    reach = torch.full_like(components[:, :, 0, 0, 0], _FIRST_REACH)  # [clauses, sets]
    for _ in range(_MOVES):
        reached = attained(atoms, forms, components).amax(1)
        improvable = (dual - reached > _NEAR_ENOUGH * dual.abs()) & (reach > _LEAST_REACH).any(1)
        (open_,) = torch.nonzero(improvable, as_tuple=True)
        if not len(open_):
            break
        some_atoms = AtomBlocks(atoms.matrices[open_], atoms.subjects, atoms.objects)
        some_boxes = Boxes(boxes.low[open_], boxes.high[open_])
        components[open_], reach[open_] = _move(some_atoms, forms, some_boxes, components[open_], reach[open_])
    return best_set(atoms, forms, components)


def _draw(mixture: Mixture) -> Tensor:
    """Draw corners [clauses, sets, components] with their probabilities; evenly spread numbers stand for chance."""
    _, components, choices = mixture.corners.shape
    device = mixture.corners.device
    sets, places = torch.arange(_SETS, device=device)[:, None], torch.arange(components, device=device)
    uniform = ((sets + 0.5) / _SETS + _GOLDEN * places).frac().to(mixture.probabilities)  # [sets, components]
    cumulative = mixture.probabilities.cumsum(-1).unsqueeze(1)  # [clauses, 1, components, choices]
    choice = (uniform.unsqueeze(-1) > cumulative).sum(-1).clamp_max(choices - 1)  # [clauses, sets, components]
    return mixture.corners.unsqueeze(1).expand(-1, _SETS, -1, -1).gather(-1, choice.unsqueeze(-1)).squeeze(-1)


def _change_single_components(table: Tensor, offsets: Tensor, chosen: Tensor) -> Tensor:
    """Change the corner of the component that raises the smallest form most, until none does."""
    clauses, _, components, corners = table.shape
    for _ in range(2 * components):
        current = _values_at(table, chosen)  # [clauses, forms, sets, components]
        total = current.sum(-1) + offsets[:, None]
        smallest = torch.full((), torch.inf, dtype=table.dtype, device=table.device)
        for form in range(table.shape[1]):
            without = total[:, form, :, None] - current[:, form]  # [clauses, sets, components]
            smallest = torch.minimum(smallest, without.unsqueeze(-1) + table[:, form].unsqueeze(1))
        best, place = smallest.reshape(clauses, -1, components * corners).max(-1)
        gains = best > total.amin(1) + _NO_GAIN * table.abs().amax()
        if not gains.any():
            break
        component, corner = (place // corners).unsqueeze(-1), (place % corners).unsqueeze(-1)
        corner = torch.where(gains.unsqueeze(-1), corner, chosen.gather(-1, component))
        chosen = chosen.scatter(-1, component, corner)
    return chosen


def _values_at(table: Tensor, chosen: Tensor) -> Tensor:
    """Return each form's value in each component: [clauses, forms, sets, components]."""
    index = chosen.movedim(1, 2).unsqueeze(1).expand(-1, table.shape[1], -1, -1)
    return table.gather(-1, index).mT


def _move(
    atoms: AtomBlocks, forms: LinearForms, boxes: Boxes, components: Tensor, reach: Tensor
) -> tuple[Tensor, Tensor]:
    """Step to the best point of the linearised forms near by, if it raises the smallest form.

    ``reach`` [clauses, sets], a share of the box, is how far a number may move.
    """
    low, high = (limit.unsqueeze(1).expand_as(components).flatten(2) for limit in (boxes.low, boxes.high))
    here = components.flatten(2)
    farthest = reach.unsqueeze(-1) * (high - low)
    ends = torch.stack([torch.maximum(here - farthest, low), torch.minimum(here + farthest, high)], -1)
    values, gradients = _linearised(atoms, forms, components)
    steps = gradients.unsqueeze(-1) * (ends - here.unsqueeze(-1)).unsqueeze(2)  # [clauses, sets, forms, numbers, 2]
    mixture = optimal_mixture(steps.flatten(0, 1), values.flatten(0, 1))
    numbers = (ends.flatten(0, 1).gather(-1, mixture.corners) * mixture.probabilities).sum(-1)
    moved = torch.minimum(torch.maximum(numbers.view_as(here), low), high).view_as(components)
    better = attained(atoms, forms, moved) > attained(atoms, forms, components)
    components = torch.where(better[:, :, None, None, None], moved, components)
    return components, torch.where(better, _LONGER * reach, _SHORTER * reach).clamp_max(1.0)


def _linearised(atoms: AtomBlocks, forms: LinearForms, components: Tensor) -> tuple[Tensor, Tensor]:
    """Return the forms' values [clauses, sets, forms] and gradients [clauses, sets, forms, numbers]."""
    values = atoms.scores(components) @ forms.matrix.T + forms.offsets
    by_slot = [atoms.slot_gradients(components, slot) for slot in range(components.shape[2])]
    gradients = torch.einsum("ja,nkavip->nkjvip", forms.matrix, torch.stack(by_slot, 3))
    return values, gradients.flatten(3)
