"""Bounds for scorers that are minus a distance, TransE and RotatE, by the triangle inequality.

A body whose atoms lead from the head's subject to its object is, as a sum, at least as far as its relations composed:
the sum of the vectors or of the angles. So b₁ + b₂ − h is at most the excess of the head over that one relation. What
has no such path is bounded atom by atom.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from clausal.bounds.blocks import Bound, LinearForms
from clausal.bounds.distances.rotations import Rotations
from clausal.bounds.distances.translations import Translations
from clausal.bounds.regions import Boxes, Region
from clausal.model.scorers import RotatE, TransE

Edge = tuple[int, int, int]
"""An atom, its subject's slot and its object's."""
_FAR = 1e6
"""A distance beyond every region."""
_Path = list[tuple[int, int]]
"""Atoms in turn, each with 1 where it is walked from subject to object, else −1."""


class Distances(Protocol):
    """What ``Translations`` and ``Rotations`` know."""

    composes: bool

    def farthest(self, relation: Tensor, subject: int, object: int) -> Tensor: ...
    def nearest(self, relation: Tensor, subject: int, object: int) -> Tensor: ...
    def excess(self, head: Tensor, body: Tensor, subject: int, object: int) -> Tensor: ...
    def maximiser(self, head: Tensor, body: Tensor, subject: int, object: int) -> tuple[Tensor, Tensor]: ...
    def move(self, vectors: Tensor, relation: Tensor) -> Tensor: ...
    def length(self, difference: Tensor) -> Tensor: ...


@dataclass(frozen=True, eq=False)
class DistanceEdges:
    """The atoms of clauses of one shape as distances between slots."""

    distances: Distances
    relations: Tensor  # [clauses, atoms, relation_dim]
    ends: list[Edge]
    fixed: Tensor  # [clauses, fixed slots, components, size]
    free: int

    @staticmethod
    def of(
        scorer: TransE | RotatE,
        relations: Tensor,
        subjects: Sequence[int],
        objects: Sequence[int],
        region: Region | None,
        fixed: Tensor,
        free: int,
    ) -> DistanceEdges:
        """Say which distances the scorer's are, in a region, between the slots of each atom."""
        distances: Distances = (
            Translations(scorer.norm, region, free, fixed)
            if isinstance(scorer, TransE)
            else Rotations(region, free, fixed)
        )
        ends = [(atom, *slots) for atom, slots in enumerate(zip(subjects, objects, strict=True))]
        return DistanceEdges(distances, relations, ends, fixed, free)

    def focus(self, edge: Edge) -> Tensor:
        """Return where the variable of an atom has distance 0 from the atom's constant [clauses, components, size]."""
        atom, subject, object = edge
        constant, way = (subject, 1) if subject >= self.free else (object, -1)
        relation, fixed = way * self.relations[:, atom], self.fixed[:, constant - self.free]
        vectors = fixed.squeeze(-1) if isinstance(self.distances, Translations) else fixed
        return self.distances.move(vectors, relation).view_as(fixed)

    def linear(self, number: int) -> tuple[Tensor, Tensor]:
        """Return α [atoms, components, free] and κ [atoms, components] of a clause: its distances are Σ |α · x + κ|."""
        translations = isinstance(self.distances, Translations)
        relations, fixed = self.relations[number], self.fixed[number]
        fixed = fixed.squeeze(-1) if translations else torch.view_as_complex(fixed.contiguous())
        alpha = fixed.new_zeros(*relations.shape, self.free)
        kappa = fixed.new_zeros(relations.shape)
        for atom, subject, object in self.ends:
            ones = torch.ones_like(relations[atom])
            turn = ones if translations else torch.polar(ones, relations[atom])
            if translations:
                kappa[atom] += relations[atom]
            for slot, factor in ((subject, turn), (object, -torch.ones_like(turn))):
                if slot < self.free:
                    alpha[atom, :, slot] += factor
                else:
                    kappa[atom] += factor * fixed[slot - self.free]
        return alpha, kappa

    def attained(self, forms: LinearForms, components: Tensor) -> Tensor:
        """Return min over forms [clauses] at vectors of all slots [clauses, slots, components, size]."""
        slots = components.squeeze(-1) if isinstance(self.distances, Translations) else components
        scores = [
            -self.distances.length(self.distances.move(slots[:, subject], self.relations[:, atom]) - slots[:, object])
            for atom, subject, object in self.ends
        ]
        like = forms.like(self.relations)
        return (torch.stack(scores, -1) @ like.matrix.T + like.offsets).amin(-1)


def bound_by_triangle(edges: DistanceEdges, forms: LinearForms, region: Region | None) -> Bound:
    """Bound min over forms by its smallest form, each form by the triangle inequality."""
    distances, relations, fixed = edges.distances, edges.relations, edges.fixed
    values = _form_values(distances, relations, edges.ends, forms)
    weights = torch.zeros_like(values).scatter(1, values.argmin(1, keepdim=True), 1.0)
    points = fixed.new_zeros(len(fixed), edges.free, *fixed.shape[2:])
    for coefficients in forms.matrix.tolist():
        points = _points_beside_constants(edges, coefficients, region, points)
        for path in _paths(edges.ends, coefficients, distances.composes)[:1]:
            points = _point(distances, relations, edges.ends, coefficients, path, points)
    points = (region.project(points.unsqueeze(1)).squeeze(1) if region else points).detach()
    return Bound(values.amin(1), weights, torch.cat([points, fixed], 1))


def largest_of_distances(edges: DistanceEdges, forms: LinearForms) -> Tensor:
    """Return the same bound [clauses] without a point, as a loss."""
    return _form_values(edges.distances, edges.relations, edges.ends, forms).amin(1)


def _form_values(distances: Distances, relations: Tensor, edges: Sequence[Edge], forms: LinearForms) -> Tensor:
    """Bound every form [clauses, forms], by the best of its paths or atom by atom."""
    values = []
    for coefficients, offset in zip(forms.matrix.tolist(), forms.offsets.tolist(), strict=True):
        paths = _paths(edges, coefficients, distances.composes)
        options = [_form_value(distances, relations, edges, coefficients, path) for path in [None, *paths]]
        values.append(torch.stack(options).amin(0) + offset)
    return torch.stack(values, 1)


def _form_value(
    distances: Distances, relations: Tensor, edges: Sequence[Edge], coefficients: list[float], path: _Path | None
) -> Tensor:
    """Bound Σ coefficientsₐ φₐ: the head and the atoms of the path together, the others each alone."""
    total = torch.zeros_like(relations[:, 0, 0])
    treated = set()
    if path is not None:
        head, subject, object = _head(edges, coefficients)
        total = total + distances.excess(relations[:, head], _composed(relations, path), subject, object)
        treated = {head, *(atom for atom, _ in path)}
    for (atom, subject, object), coefficient in zip(edges, coefficients, strict=True):
        if coefficient < 0 and atom not in treated:
            total = total - coefficient * distances.farthest(relations[:, atom], subject, object)
        elif coefficient > 0 and atom not in treated:
            total = total - coefficient * distances.nearest(relations[:, atom], subject, object)
    return total


def _point(
    distances: Distances,
    relations: Tensor,
    edges: Sequence[Edge],
    coefficients: list[float],
    path: _Path,
    points: Tensor,
) -> Tensor:
    """Set the slots along a path so that its atoms are at distance 0, as far as they can, and the head is far."""
    head, subject, object = _head(edges, coefficients)
    x, y = distances.maximiser(relations[:, head], _composed(relations, path), subject, object)
    points = points.clone()
    vectors = x
    for atom, direction in path[:-1]:
        vectors = distances.move(vectors, direction * relations[:, atom])
        _, start, end = edges[atom]
        _set(points, end if direction > 0 else start, vectors)
    _set(points, object, y)
    _set(points, subject, x)
    return points


def _points_beside_constants(
    edges: DistanceEdges, coefficients: list[float], region: Region | None, points: Tensor
) -> Tensor:
    """Set the only variable of a form that has it in one atom, beside a constant: near it in a body, far in a head."""
    moving = [
        (edge, weight)
        for edge, weight in zip(edges.ends, coefficients, strict=True)
        if weight and edge[1] != edge[2] and min(edge[1:]) < edges.free
    ]
    if len(moving) != 1 or max(moving[0][0][1:]) < edges.free:
        return points
    edge, weight = moving[0]
    focus, slot = edges.focus(edge), min(edge[1:])
    centre = (region.low[:, slot] + region.high[:, slot]) / 2 if isinstance(region, Boxes) else torch.zeros_like(focus)
    points = points.clone()
    _set(points, slot, focus if weight > 0 else centre + _FAR * (centre - focus))
    return points


def _set(points: Tensor, slot: int, vectors: Tensor) -> None:
    if slot < points.shape[1]:  # constants stay
        points[:, slot] = vectors.detach().view_as(points[:, slot])


def _composed(relations: Tensor, path: _Path) -> Tensor:
    return torch.stack([direction * relations[:, atom] for atom, direction in path]).sum(0)


def _head(edges: Sequence[Edge], coefficients: list[float]) -> Edge:
    (head,) = [edge for edge, coefficient in zip(edges, coefficients, strict=True) if coefficient < 0]
    return head


def _paths(edges: Sequence[Edge], coefficients: list[float], composes: bool) -> list[_Path]:
    """Return the ways from the subject to the object of the only negative atom, over positive ones of its weight."""
    if [c for c in coefficients if c < 0] != [-1.0]:
        return []
    _, subject, object = _head(edges, coefficients)
    steps = [edge for edge, coefficient in zip(edges, coefficients, strict=True) if coefficient == 1.0]

    def walk(at: int, path: _Path) -> list[_Path]:
        if path and (at == object or not composes):
            return [path] if at == object else []
        used = {atom for atom, _ in path}
        forward = [(atom, 1, end) for atom, start, end in steps if start == at and atom not in used]
        backward = [(atom, -1, start) for atom, start, end in steps if end == at != start and atom not in used]
        return [found for atom, way, end in forward + backward for found in walk(end, [*path, (atom, way)])]

    return walk(subject, [])
