"""The corners of a box, component by component: a form that is linear in every number is largest at one of them.

An atom r(X, X) is quadratic in the numbers of X. Where its curvature is negative the largest value may lie inside, so
those numbers get further points: −x² lies below its tangents, and a form made of tangents is largest where two of them
meet. Tangents at m and m′ meet halfway, where they put m·m′ for x², slightly less than it is, so the bound is valid.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

import torch
from torch import Tensor

from clausal.bounds.blocks import AtomBlocks
from clausal.bounds.regions import Boxes

MOST_CORNERS = 1 << 13
"""Components with more corners than this have no bound: their number grows exponentially with slots and size."""
_TANGENTS = (64, 32, 16, 8, 4, 2)


@dataclass(frozen=True, eq=False)
class CornerGrid:
    """The corners of every slot, in every component, and the number of them in each slot."""

    points: tuple[Tensor, ...]  # a slot each: [clauses, components, corners, size]
    squares: tuple[Tensor, ...]  # for slots of an r(X, X), x² or a little less; elsewhere not used

    @property
    def counts(self) -> tuple[int, ...]:
        """How many corners each slot has."""
        return tuple(points.shape[2] for points in self.points)

    @property
    def count(self) -> int:
        """How many corners a component has, over all slots."""
        return prod(self.counts)

    def detach(self) -> CornerGrid:
        """Return the corners in double precision without their history, for a search."""
        return CornerGrid(*(tuple(x.detach().double() for x in tables) for tables in (self.points, self.squares)))

    def clause_range(self, start: int, end: int) -> CornerGrid:
        """Return the corners of some of the clauses."""
        return CornerGrid(*(tuple(x[start:end] for x in tables) for tables in (self.points, self.squares)))

    def scores(self, atoms: AtomBlocks) -> list[Tensor]:
        """Score each atom at all corners of its slots [clauses, components, …], a dimension for each slot."""
        scores = []
        for place, (subject, object) in enumerate(zip(atoms.subjects, atoms.objects, strict=True)):
            matrix = atoms.matrices[:, place]  # [clauses, components, size, size]
            shape = [1] * len(self.points)
            shape[subject], shape[object] = self.counts[subject], self.counts[object]
            if subject == object:
                score = self._reflexive(matrix, subject)
            else:
                score = self.points[subject] @ matrix @ self.points[object].mT
                score = score if subject < object else score.mT
            scores.append(score.reshape(*matrix.shape[:2], *shape))
        return scores

    def _reflexive(self, matrix: Tensor, slot: int) -> Tensor:
        points, squares = self.points[slot], self.squares[slot]
        diagonal = matrix.diagonal(dim1=-2, dim2=-1).unsqueeze(2)
        return ((points @ matrix) * points).sum(-1) + (diagonal * (squares - points**2)).sum(-1)

    def table(self, atoms: AtomBlocks, coefficients: Tensor) -> Tensor:
        """Weigh atoms by coefficients [clauses, rows, atoms] at all corners: [clauses, rows, components, corners]."""
        total = torch.zeros((), dtype=coefficients.dtype, device=coefficients.device)
        for score, coefficient in zip(self.scores(atoms), coefficients.unbind(-1), strict=True):
            total = total + coefficient.reshape(*coefficient.shape, *[1] * (score.dim() - 1)) * score.unsqueeze(1)
        clauses, rows, _ = coefficients.shape
        components = atoms.matrices.shape[2]
        return total.expand(clauses, rows, components, *self.counts).reshape(clauses, rows, components, -1)

    def chosen(self, corners: Tensor) -> Tensor:
        """Return the points at corners [clauses, sets, components]: [clauses, sets, slots, components, size]."""
        by_slot = torch.unravel_index(corners, self.counts)
        return torch.stack([_pick(table, index) for table, index in zip(self.points, by_slot, strict=True)], 2)


def _pick(table: Tensor, index: Tensor) -> Tensor:
    """Pick [clauses, components, corners, size] at [clauses, sets, components] → [clauses, sets, components, size]."""
    index = index.movedim(1, 2).unsqueeze(-1).expand(-1, -1, -1, table.shape[-1])
    return table.gather(2, index).movedim(2, 1)


def too_many_corners(atoms: AtomBlocks, boxes: Boxes, free: int) -> bool:
    """Say whether components have more corners than can be tried."""
    corners, numbers = _corners_and_numbers(atoms, boxes, free)
    return corners * 4**numbers > MOST_CORNERS


def _corners_and_numbers(atoms: AtomBlocks, boxes: Boxes, free: int) -> tuple[int, int]:
    """Return how many corners the slots without r(X, X) have, and how many numbers the slots with it."""
    reflexive = sum(atoms.reflexive(slot) for slot in range(free))
    size = boxes.low.shape[-1]
    return 2 ** (size * (free - reflexive)), size * reflexive


def corners_of(atoms: AtomBlocks, boxes: Boxes, free: int) -> CornerGrid | None:
    """Return the corners of the boxes of the free slots, the first ones, or None where they are too many."""
    if too_many_corners(atoms, boxes, free):
        return None
    corners, numbers = _corners_and_numbers(atoms, boxes, free)
    tangents = next(count for count in _TANGENTS if corners * (count + 2) ** numbers <= MOST_CORNERS)
    points, squares = [], []
    for slot in range(boxes.low.shape[1]):
        low, high = boxes.low[:, slot], boxes.high[:, slot]
        if slot >= free:
            number, square = low.unsqueeze(-1), low.unsqueeze(-1) ** 2
        elif atoms.reflexive(slot):
            number, square = _tangent_points(low, high, tangents)
        else:
            number = square = torch.stack([low, high], -1)
        points.append(_grid(number))
        squares.append(points[-1] if square is number else _grid(square))
    return CornerGrid(tuple(points), tuple(squares))


def _tangent_points(low: Tensor, high: Tensor, tangents: int) -> tuple[Tensor, Tensor]:
    """Return both limits and the places where tangents meet, with what stands for x²; one tangent touches at 0."""
    share = torch.linspace(0, 1, tangents, dtype=low.dtype, device=low.device)
    touching = torch.lerp(low.unsqueeze(-1), high.unsqueeze(-1), share)
    nearest_zero = torch.zeros_like(low).clamp(low, high).unsqueeze(-1)
    touching = torch.cat([touching, nearest_zero], -1).sort(-1).values
    ends, before, after = torch.stack([low, high], -1), touching[..., :-1], touching[..., 1:]
    return torch.cat([ends, (before + after) / 2], -1), torch.cat([ends**2, before * after], -1)


def _grid(numbers: Tensor) -> Tensor:
    """Combine the values of each number [clauses, components, size, values] into corners [..., values^size, size]."""
    size = numbers.shape[2]
    index = torch.cartesian_prod(*[torch.arange(numbers.shape[3], device=numbers.device)] * size).reshape(-1, size)
    return torch.stack([numbers[:, :, number, index[:, number]] for number in range(size)], -1)
