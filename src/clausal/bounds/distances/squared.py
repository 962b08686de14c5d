"""TransE in squared L2 as a block scorer, whose bounds are at hand: −‖x + r − y‖² is bilinear in x, y and ones.

Squares and products of the same vectors add up over atoms: where a body and a head have as many of them, as in
p(X, c) ⇒ q(X, d), they are gone, and a linear form is left.
"""

from __future__ import annotations

from collections import defaultdict

import torch
from torch import Tensor

from clausal.bounds.balls.dual import bound_on_balls
from clausal.bounds.balls.spectral import bound_by_spectrum
from clausal.bounds.blocks import AtomBlocks, Bound, LinearForms
from clausal.bounds.boxes.dual import bound_on_boxes
from clausal.bounds.boxes.reflexive import bound_quadratics
from clausal.bounds.distances.triangle import DistanceEdges
from clausal.bounds.regions import Balls, Boxes, Discs, Region


def bound_squared(edges: DistanceEdges, forms: LinearForms, region: Region | None) -> Bound | None:
    """Bound min over forms of minus squared distances; None where nothing bounds the vectors."""
    if region is None:
        return None
    atoms, expanded = _expanded(edges, forms)
    place = _with_ones(region.intervals() if isinstance(region, Discs) else region, edges.fixed)
    free = edges.free
    if isinstance(place, Boxes):
        bound = bound_quadratics(atoms, expanded, place, free) or bound_on_boxes(atoms, expanded, place, free)
    else:
        bound = bound_by_spectrum(atoms, expanded, place, free) or bound_on_balls(atoms, expanded, place, free)
    if bound is None:
        return None
    return Bound(bound.value, bound.weights, bound.components[:, :-1])


def _expanded(edges: DistanceEdges, forms: LinearForms) -> tuple[AtomBlocks, LinearForms]:
    """Write every distance as −x² − y² + 2xy − 2rx + 2ry − r², and forms by their coefficients."""
    ones = edges.free + edges.fixed.shape[1]
    products: dict[tuple[int, int], Tensor] = defaultdict(lambda: forms.offsets.new_zeros(len(forms.offsets)))
    terms: list[tuple[Tensor, tuple[int, int], Tensor]] = []  # coefficients by form, slots, the block's numbers
    for (atom, subject, object), weights in zip(edges.ends, forms.matrix.T, strict=True):
        relation = edges.relations[:, atom]
        if not weights.any():
            continue
        terms.append((-weights, (ones, ones), relation.square()))
        if subject != object:
            products[subject, subject] = products[subject, subject] - weights
            products[object, object] = products[object, object] - weights
            pair = min(subject, object), max(subject, object)
            products[pair] = products[pair] + 2 * weights
            terms += [(-2 * weights, (subject, ones), relation), (2 * weights, (object, ones), relation)]
    one = torch.ones_like(edges.relations[:, 0])
    terms += [(weights, slots, one) for slots, weights in products.items() if weights.any()]
    blocks = torch.stack([numbers for _, _, numbers in terms], 1)[..., None, None]
    subjects, objects = zip(*(slots for _, slots, _ in terms), strict=True)
    matrix = torch.stack([weights for weights, _, _ in terms], 1)
    return AtomBlocks(blocks, subjects, objects), LinearForms(matrix, forms.offsets)


def _with_ones(region: Boxes | Balls, fixed: Tensor) -> Boxes | Balls:
    """Return the region with one more fixed slot, of ones."""
    shape = (len(fixed), 1, *fixed.shape[2:])
    if isinstance(region, Boxes):
        return Boxes(*(torch.cat([limit, limit.new_ones(shape)], 1) for limit in (region.low, region.high)))
    return Balls(region.free, torch.cat([fixed, fixed.new_ones(shape)], 1), region.sphere)
