"""TransE in L1 on boxes: a form is a sum over components, and in each one it is made of flat pieces.

A function that is linear on the pieces between the hyperplanes x − y = −r, x = c and the sides of a box is largest
at a point where as many of them meet as there are variables: every variable then has the value of a side or of a
constant, moved by relations along a path of atoms. All of these points are tried, as corners are for block scorers.
"""

from __future__ import annotations

from math import prod

import torch
from torch import Tensor

from clausal.bounds.blocks import Bound, LinearForms
from clausal.bounds.boxes.mixtures import optimal_mixture
from clausal.bounds.distances.triangle import DistanceEdges
from clausal.bounds.regions import Boxes, Discs, Region

_MOST_POINTS = 1 << 13
"""Clauses with more points than this in a component are not treated."""
_MOST_NUMBERS = 1 << 23
"""Largest table of forms at points; more clauses than fit are treated in turn."""


@torch.no_grad()
def bound_l1(edges: DistanceEdges, forms: LinearForms, region: Region | None) -> Bound | None:
    """Bound min over forms of minus L1 distances, exactly for one form; None where points are too many."""
    if not isinstance(region, Boxes | Discs):
        return None
    boxes = region.intervals() if isinstance(region, Discs) else region
    low, high = boxes.low.squeeze(-1), boxes.high.squeeze(-1)  # [clauses, slots, dim]
    values = [_values(edges, slot, low, high) for slot in range(edges.free)]  # [clauses, values, dim] each
    count = prod(one.shape[1] for one in values)
    if count > _MOST_POINTS:
        return None
    rows = max(1, _MOST_NUMBERS // (count * low.shape[-1] * (len(forms.offsets) + len(edges.ends))))
    parts = []
    for start in range(0, len(low), rows):
        some = slice(start, start + rows)
        fixed = [one.unsqueeze(1) for one in low[some, edges.free :].unbind(1)]
        parts.append(_best(edges, forms, [one[some] for one in values] + fixed, edges.relations[some]))
    return Bound(*(torch.cat(tensors) for tensors in zip(*parts, strict=True)))


def _values(edges: DistanceEdges, slot: int, low: Tensor, high: Tensor) -> Tensor:
    """Return all values that a slot has where hyperplanes meet: [clauses, values, dim]."""
    found: list[Tensor] = []

    def walk(at: int, seen: frozenset[int], moved: Tensor) -> None:
        """Collect the values of ``at``, moved to where the walk began; atoms are undone on the way."""
        found.extend([low[:, at] + moved, high[:, at] + moved] if at < edges.free else [low[:, at] + moved])
        for atom, subject, object in edges.ends:
            relation = edges.relations[:, atom]
            if at == object and subject not in seen:  # y = x + r
                walk(subject, seen | {subject}, moved + relation)
            if at == subject and object not in seen:  # x = y − r
                walk(object, seen | {object}, moved - relation)

    walk(slot, frozenset([slot]), torch.zeros_like(low[:, slot]))
    return torch.stack([value.clamp(low[:, slot], high[:, slot]) for value in found], 1)


def _best(
    edges: DistanceEdges, forms: LinearForms, values: list[Tensor], relations: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """Return the bound, λ and a point, given the values of each slot [clauses, values, dim]."""
    counts = [one.shape[1] for one in values]

    def on_grid(slot: int) -> Tensor:
        shape = [1] * len(counts)
        shape[slot] = counts[slot]
        return values[slot].mT.reshape(len(relations), -1, *shape)  # [clauses, dim, …]

    matrix = forms.like(relations).matrix
    table = torch.zeros((), dtype=relations.dtype, device=relations.device)
    for atom, subject, object in edges.ends:
        relation = relations[:, atom].reshape(*relations.shape[::2], *[1] * len(counts))
        score = -(on_grid(subject) + relation - on_grid(object)).abs()
        table = table + matrix[:, atom].reshape(1, -1, *[1] * score.dim())[..., 0] * score.unsqueeze(1)
    table = table.expand(len(relations), len(matrix), relations.shape[2], *counts).flatten(3)
    offsets = forms.like(relations).offsets.expand(len(relations), -1)
    mixture = optimal_mixture(table, offsets)
    value = torch.einsum("nj,njic->nic", mixture.weights, table).amax(-1).sum(-1) + (mixture.weights * offsets).sum(-1)
    likeliest = mixture.probabilities.argmax(-1, keepdim=True)
    chosen = torch.unravel_index(mixture.corners.gather(-1, likeliest).squeeze(-1), counts)  # [clauses, dim] each
    points = [one.gather(1, index.unsqueeze(1)).squeeze(1) for one, index in zip(values, chosen, strict=True)]
    return value, mixture.weights, torch.stack(points, 1).unsqueeze(-1)
