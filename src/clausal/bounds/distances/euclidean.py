"""TransE in L2: distances lie between squares, and squares have bounds, for clauses of any atoms beside constants.

Let d_a be the distances of the atoms. A clause adds those of heads and subtracts those of bodies. With l ≤ d ≤ u,

    −d ≤ −(d² + l u) / (l + u)        as (d − l)(u − d) ≥ 0, and
    d = max ⟨g, x + r − y⟩ over ‖g‖ ≤ 1, which is at most d² / 2t + t / 2 for every t > 0.

So where the distances of the body lie in given intervals, a *cell*, every form is at most a quadratic form of the
variables, whose largest value is known: on balls and spheres with g as one more variable (``balls/dual.py``), on boxes
component by component for the best t. Beyond its cell the first bound lies below −d, so that nothing has to be said of
where the cell ends. The cells with the largest bounds are halved until bound and attained value nearly meet.

In balls there is no other gap, in enough dimensions: what counts of vectors are their products with each other, and
every positive semidefinite matrix of products is that of some vectors. On boxes one component may be left, as for
block scorers.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations, product

import torch
from torch import Tensor

from clausal.bounds.balls.alternation import draw
from clausal.bounds.balls.dual import solve_dual
from clausal.bounds.blocks import AtomBlocks, Bound, LinearForms
from clausal.bounds.boxes.reflexive import box_candidates
from clausal.bounds.climbing import climbed, drawn
from clausal.bounds.distances.triangle import DistanceEdges, Edge
from clausal.bounds.regions import Balls, Boxes, Discs, Region

_FIRST_CELLS = {0: 1, 1: 8, 2: 5, 3: 3}
"""Intervals of each distance to begin with, by the number of distances of the body; more are not treated."""
_MOST_VARIABLES_IN_BOXES = 3
_ROUNDS = 12
_HALVED = 8
"""Cells that are halved in a round."""
_CLOSE = 2e-3
"""Bound and attained value are near enough if they differ by this share."""
_TINY = 1e-12
_SCALES = [0.5**step for step in range(1, 15)]
"""Steps of the search for λ and t, as shares of them."""


@torch.no_grad()
def bound_euclidean(edges: DistanceEdges, forms: LinearForms, region: Region | None) -> Bound | None:
    """Bound min over forms of minus L2 distances, nearly exactly; None where there are none, or too many of them."""
    clause = _Signs.of(edges, forms)
    if region is None or clause is None or len(clause.bodies) not in _FIRST_CELLS:
        return None
    if not clause.heads and not clause.bodies:
        return None
    place = region.intervals() if isinstance(region, Discs) else region
    if isinstance(place, Boxes) and edges.free > _MOST_VARIABLES_IN_BOXES:
        return None
    parts = [_Clause(edges, forms, place, clause, number).bound() for number in range(len(edges.relations))]
    return Bound(*(torch.stack(tensors) for tensors in zip(*parts, strict=True)))


class _Signs:
    """Which atoms are heads, whose distances count, bodies, which count against, or of one distance only."""

    def __init__(self, heads: Sequence[Edge], bodies: Sequence[Edge], still: Sequence[Edge]) -> None:
        self.heads, self.bodies, self.still = heads, bodies, still

    @staticmethod
    def of(edges: DistanceEdges, forms: LinearForms) -> _Signs | None:
        """Tell them apart; None where an atom is a head in one form and a body in another."""
        heads: list[Edge] = []
        bodies: list[Edge] = []
        still: list[Edge] = []
        for edge, coefficients in zip(edges.ends, forms.matrix.T.tolist(), strict=True):
            if edge[1] == edge[2] or min(edge[1:]) >= edges.free:
                still.append(edge)
            elif min(coefficients) < 0 < max(coefficients):
                return None
            elif any(coefficients):
                (heads if min(coefficients) < 0 else bodies).append(edge)
        return _Signs(heads, bodies, still)


class _Clause:
    """One clause: its cells, and what bounds it in a cell."""

    def __init__(
        self, edges: DistanceEdges, forms: LinearForms, region: Boxes | Balls, signs: _Signs, number: int
    ) -> None:
        self.signs, self.free = signs, edges.free
        self.fixed = edges.fixed[number].squeeze(-1)  # [fixed slots, dim]
        self.relations = edges.relations[number]  # [atoms, dim]
        self.ends = edges.ends
        self.forms = forms.like(self.relations)
        self.region: Boxes | Balls
        if isinstance(region, Boxes):
            self.region = Boxes(region.low[number : number + 1], region.high[number : number + 1])
        else:
            self.region = Balls(region.free, region.fixed[number : number + 1], region.sphere)
        limits = [
            [limit(edges.relations[:, atom], subject, object)[number] for limit in limits]
            for atom, subject, object in signs.bodies
            for limits in [(edges.distances.nearest, edges.distances.farthest)]
        ]
        self.limits = self.relations.new_tensor(limits).reshape(-1, 2)  # [bodies, 2]
        reach = [edges.distances.farthest(edges.relations[:, atom], s, o)[number] / 2 for atom, s, o in signs.heads]
        self.reach = self.relations.new_tensor(reach)  # [heads]: distances to begin a search with
        self.offsets = self.forms.offsets - self._still() @ self.forms.matrix.T

    def _still(self) -> Tensor:
        """Return the distances [atoms] of atoms that have one only, and 0 for the others."""
        found = torch.zeros_like(self.relations[:, 0])
        for atom, subject, object in self.signs.still:
            apart = self.relations[atom]
            if subject != object:
                apart = apart + self.fixed[subject - self.free] - self.fixed[object - self.free]
            found[atom] = torch.linalg.vector_norm(apart)
        return found

    def bound(self) -> tuple[Tensor, Tensor, Tensor]:
        """Return the bound, λ, and a point of all slots."""
        point, reached = self._search(drawn(self.free, self.relations.shape[1], self.relations))
        cells = self._first_cells()
        values, weights, likely = self._in_cells(cells)
        for _ in range(_ROUNDS):
            hopeful = values > reached + _CLOSE * values.amax().abs()
            if not hopeful.any() or not len(self.limits):
                break
            chosen = torch.where(hopeful, values, -torch.inf).topk(min(_HALVED, int(hopeful.sum()))).indices
            halves = _halved(cells[chosen])
            new = self._in_cells(halves)
            kept = torch.ones_like(hopeful).index_fill(0, chosen, False)
            cells = torch.cat([cells[kept], halves])
            values = torch.cat([values[kept], torch.minimum(new[0], values[chosen].repeat(2))])
            weights, likely = (torch.cat([old[kept], more]) for old, more in ((weights, new[1]), (likely, new[2])))
            other, more = self._search(likely[values.topk(min(_HALVED, len(values))).indices])
            if more > reached:
                point, reached = other, more
        return values.amax(), weights[values.argmax()], torch.cat([point, self.fixed]).unsqueeze(-1)

    def _search(self, points: Tensor) -> tuple[Tensor, Tensor]:
        """Return a point [free, dim] where min over forms is large, and what it is."""
        return climbed(points, self._attained, self._inside)

    def _inside(self, points: Tensor) -> Tensor:
        return self.region.project(points[None, ..., None])[0].squeeze(-1)

    def _first_cells(self) -> Tensor:
        """Return cells [cells, bodies, 2] that hold all distances, the finer the smaller."""
        count = _FIRST_CELLS[len(self.limits)]
        share = torch.linspace(0, 1, count + 1, dtype=self.limits.dtype, device=self.limits.device).square()
        places = torch.lerp(self.limits[:, :1], self.limits[:, 1:].clamp_min(self.limits[:, :1] + _TINY), share)
        intervals = torch.stack([places[:, :-1], places[:, 1:]], -1)  # [bodies, count, 2]
        cells = [torch.stack(one) for one in product(*intervals.unbind(0))] if len(intervals) else []
        return torch.stack(cells) if cells else intervals.new_zeros(1, 0, 2)

    def _attained(self, points: Tensor) -> Tensor:
        """Return min over forms at points [sets, free, dim] → [sets]."""
        slots = torch.cat([points, self.fixed.expand(len(points), -1, -1)], 1)
        away = [slots[:, s] + self.relations[atom] - slots[:, o] for atom, s, o in self.ends]
        distances = torch.linalg.vector_norm(torch.stack(away, 1), dim=-1)
        return (self.forms.offsets - distances @ self.forms.matrix.T).amin(-1)

    def _in_cells(self, cells: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return the bound of each cell, λ and a likely point: [cells], [cells, forms] and [cells, free, dim]."""
        scales = 1 / cells.sum(-1).clamp_min(_TINY)  # [cells, bodies]
        shifts = cells.prod(-1) * scales
        if isinstance(self.region, Balls):
            return self._in_balls(scales, shifts)
        return self._in_boxes(self.region, scales, shifts)

    def _in_balls(self, scales: Tensor, shifts: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Bound cells by the dual on balls, in the few dimensions that the vectors span."""
        assert isinstance(self.region, Balls)
        given = torch.cat([self.relations, self.fixed])
        free = self.free + len(self.signs.heads)
        basis = torch.linalg.qr(given.T, mode="complete")[0][:, : len(given) + free]  # [dim, dimensions]
        relations, fixed = self.relations @ basis, self.fixed @ basis
        dim, ones = basis.shape[1], free + len(fixed)
        terms: list[tuple[Tensor, tuple[int, int], Tensor]] = []  # by form, slots, numbers [cells or 1, dimensions]
        moved = [slot if slot < self.free else slot + free - self.free for slot in range(ones)]
        one = torch.ones(1, dim, dtype=basis.dtype, device=basis.device)
        for place, (atom, subject, object) in enumerate(self.signs.bodies):
            weights, relation, scale = self.forms.matrix[:, atom], relations[atom], scales[:, place : place + 1]
            s, o = moved[subject], moved[object]
            constant = scale * relation.square() + shifts[:, place : place + 1] / dim
            terms += [(-weights, (ones, ones), constant), (-weights, (s, s), scale * one)]
            terms += [(-weights, (o, o), scale * one), (2 * weights, (s, o), scale * one)]
            terms += [(-2 * weights, (s, ones), scale * relation), (2 * weights, (o, ones), scale * relation)]
        for place, (atom, subject, object) in enumerate(self.signs.heads):
            weights, g = -self.forms.matrix[:, atom], self.free + place
            terms += [(weights, (g, moved[subject]), one), (-weights, (g, moved[object]), one)]
            terms.append((weights, (g, ones), relations[atom].unsqueeze(0)))
        blocks = torch.stack([numbers.expand(len(scales), dim) for _, _, numbers in terms], 1)[..., None, None]
        subjects, objects = zip(*(slots for _, slots, _ in terms), strict=True)
        matrix = torch.stack([weights for weights, _, _ in terms], 1)
        known = torch.cat([fixed, one]).expand(len(scales), -1, -1).unsqueeze(-1)
        region = Balls(free, known, self.region.sphere)
        atoms, weighed = AtomBlocks(blocks, subjects, objects), LinearForms(matrix, self.offsets)
        quadratic, found = solve_dual(atoms, weighed, region, free)
        drawn = draw(quadratic, found, known, sets=1)[:, 0, : self.free].squeeze(-1) @ basis.T
        return found.value, found.weights, self._inside(drawn)

    def _in_boxes(self, region: Boxes, scales: Tensor, shifts: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Bound cells by the largest quadratic form of each component, for λ and t from a search."""
        cells, forms = len(scales), len(self.offsets)
        low, high = (limit[0, : self.free].squeeze(-1).T for limit in (region.low, region.high))  # [dim, free]
        weights = scales.new_full((cells, forms), 1 / forms)
        touching = self.reach.clamp_min(_TINY).expand(cells, -1)  # t
        value, _ = self._largest(low, high, scales, shifts, weights, touching)
        for scale in _SCALES:
            for _ in range(2):
                moves = _moves(weights, touching, scale)
                if not moves:
                    break
                tried = [torch.stack(one) for one in zip(*moves, strict=True)]  # λ and t [moves, cells, …]
                given = [one.repeat(len(moves), 1) for one in (scales, shifts)]
                found = self._largest(low, high, *given, *(one.flatten(0, 1) for one in tried))[0]
                best, place = found.view(len(moves), cells).min(0)
                better = (best < value).unsqueeze(-1)
                value = torch.minimum(best, value)
                rows = torch.arange(cells, device=place.device)
                chosen = [one[place, rows] for one in tried]
                weights, touching = torch.where(better, chosen[0], weights), torch.where(better, chosen[1], touching)
        return value, weights, self._largest(low, high, scales, shifts, weights, touching)[1]

    def _largest(
        self, low: Tensor, high: Tensor, scales: Tensor, shifts: Tensor, weights: Tensor, touching: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Return the largest weighted quadratic form [cells], and where it is [cells, free, dim]."""
        factors = weights @ self.forms.matrix  # [cells, atoms]
        constant = weights @ self.offsets
        square = scales.new_zeros(len(scales), self.free, self.free)
        linear = scales.new_zeros(len(scales), low.shape[0], self.free)
        bodies = zip(self.signs.bodies, scales.unbind(1), shifts.unbind(1), strict=True)
        heads = zip(self.signs.heads, (1 / (2 * touching)).unbind(1), (touching / 2).unbind(1), strict=True)
        for (atom, *ends), scale, shift in (*bodies, *heads):  # −factor (scale ‖x + r − y‖² + shift)
            constant = constant - factors[:, atom] * shift
            weight, known, signed = -factors[:, atom] * scale, self.relations[atom], list[tuple[int, float]]()
            for slot, sign in zip(ends, (1.0, -1.0), strict=True):
                if slot < self.free:
                    signed.append((slot, sign))
                else:
                    known = known + sign * self.fixed[slot - self.free]
            constant = constant + weight * known.square().sum()
            for slot, sign in signed:
                linear[:, :, slot] += 2 * sign * weight.unsqueeze(1) * known
                for other, factor in signed:
                    square[:, slot, other] += weight * sign * factor
        square = square.unsqueeze(1).expand(-1, low.shape[0], -1, -1)
        points = box_candidates(square, linear, low.expand_as(linear), high.expand_as(linear))
        values = ((points @ square) * points).sum(-1) + (points @ linear.unsqueeze(-1)).squeeze(-1)
        best, place = values.max(-1)
        index = place[..., None, None].expand(*place.shape, 1, points.shape[-1])
        return constant + best.sum(-1), points.gather(2, index).squeeze(2).mT


def _halved(cells: Tensor) -> Tensor:
    """Halve each cell where its bound of a distance is loosest: [cells, bodies, 2] → [2 · cells, bodies, 2]."""
    low, high = cells.unbind(-1)
    loose = (low * high).sqrt() - 2 * low * high / (low + high).clamp_min(_TINY)
    loose = torch.where(low > 0, loose, high / 4)
    place = loose.argmax(-1)
    rows = torch.arange(len(cells), device=cells.device)
    middle = (low + high)[rows, place] / 2
    below, above = cells.clone(), cells.clone()
    below[rows, place, 1] = middle
    above[rows, place, 0] = middle
    return torch.cat([below, above])


def _moves(weights: Tensor, touching: Tensor, scale: float) -> list[tuple[Tensor, Tensor]]:
    """Return λ and t nearby: some of one λ given to another, t larger or smaller, or both."""
    shifted = [weights]
    for one, other in permutations(range(weights.shape[1]), 2):
        step = torch.zeros_like(weights)
        step[:, one] = -scale * weights[:, one]
        step[:, other] = scale * weights[:, one]
        shifted.append(weights + step)
    stretched = [touching]
    for place, factor in product(range(touching.shape[1]), (1 + scale, 1 / (1 + scale))):
        changed = touching.clone()
        changed[:, place] *= factor
        stretched.append(changed)
    return list(product(shifted, stretched))[1:]
