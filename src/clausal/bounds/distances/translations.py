"""TransE in closed form: distances ‖u + r‖ of the differences u = x − y that a region allows.

On one pair the excess of a head t over a body e is ‖u + t‖ − ‖u + e‖ ≤ ‖t − e‖, with equality at u = −e. In L1 and on
a box each number is monotone in u, so its maximum is the allowed u nearest to −e. The squared distance is linear.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from clausal.bounds.regions import Balls, Boxes, Discs, Region
from clausal.model.domains import Sphere
from clausal.model.scorers.transe import Norm

_FAR = 1e6
"""A distance beyond every region: what is nearest to a point so far out is what lies farthest in its direction."""


@dataclass(frozen=True, eq=False)
class DifferenceBox:
    """Differences u between two limits in each number; infinite limits where nothing bounds the vectors."""

    low: Tensor  # [clauses, dim]
    high: Tensor  # [clauses, dim]

    def nearest_to(self, points: Tensor) -> Tensor:
        """Return the difference nearest to points [clauses, dim]."""
        return points.clamp(self.low, self.high)

    def farthest_from(self, points: Tensor) -> Tensor:
        """Return the difference farthest from points."""
        return torch.where((self.low - points).abs() > (self.high - points).abs(), self.low, self.high)

    def support(self, direction: Tensor) -> Tensor:
        """Return the largest ⟨direction, u⟩ [clauses]."""
        return torch.maximum(self.low * direction, self.high * direction).masked_fill(direction == 0, 0).sum(-1)


@dataclass(frozen=True, eq=False)
class DifferenceBall:
    """Differences u in a Euclidean ball, or on its sphere, as those of a constant and a vector of length 1 are."""

    centre: Tensor  # [clauses, dim]
    radius: int
    sphere: bool = False

    def nearest_to(self, points: Tensor) -> Tensor:
        """Return the difference nearest to points [clauses, dim]."""
        away = points - self.centre
        if self.sphere:
            return self.centre + self.radius * Sphere().project(away)
        return self.centre + away * (self.radius / _norm(away).clamp_min(1e-30)).clamp_max(1)

    def farthest_from(self, points: Tensor) -> Tensor:
        """Return the difference farthest from points."""
        return self.centre + self.radius * Sphere().project(self.centre - points)

    def support(self, direction: Tensor) -> Tensor:
        """Return the largest ⟨direction, u⟩ [clauses]."""
        return (self.centre * direction).sum(-1) + self.radius * torch.linalg.vector_norm(direction, dim=-1)


class Translations:
    """The distances of TransE on the slots of a region: translations compose by addition."""

    def __init__(self, norm: Norm, region: Region | None, free: int, fixed: Tensor) -> None:
        self.norm = norm
        self.composes = norm != "l2-squared"
        self.free = free
        self.fixed = fixed.squeeze(-1)  # [clauses, fixed, dim]
        self.ball = region if isinstance(region, Balls) else None
        if isinstance(region, Boxes):
            self.low, self.high = region.low.squeeze(-1), region.high.squeeze(-1)
        elif isinstance(region, Discs):
            self.low = torch.cat([-region.radius, self.fixed], 1)
            self.high = torch.cat([region.radius, self.fixed], 1)
        else:
            everywhere = self.fixed.new_full((len(fixed), free, fixed.shape[2]), torch.inf)
            self.low, self.high = torch.cat([-everywhere, self.fixed], 1), torch.cat([everywhere, self.fixed], 1)

    def farthest(self, relation: Tensor, subject: int, object: int) -> Tensor:
        """Bound the largest distance of an atom from above [clauses]."""
        differences = self._differences(subject, object)
        if isinstance(differences, DifferenceBall) and self.norm == "l1":
            centred = torch.linalg.vector_norm(differences.centre + relation, ord=1, dim=-1)
            return centred + differences.radius * relation.shape[-1] ** 0.5
        return self.length(differences.farthest_from(-relation) + relation)

    def nearest(self, relation: Tensor, subject: int, object: int) -> Tensor:
        """Bound the smallest distance of an atom from below [clauses]."""
        differences = self._differences(subject, object)
        nearest = differences.nearest_to(-relation) + relation
        if isinstance(differences, DifferenceBall) and self.norm == "l1":
            return torch.linalg.vector_norm(nearest, dim=-1)  # ‖·‖₁ ≥ ‖·‖₂
        return self.length(nearest)

    def excess(self, head: Tensor, body: Tensor, subject: int, object: int) -> Tensor:
        """Bound the largest distance(head) − distance(body) on one pair of slots [clauses]."""
        differences = self._differences(subject, object)
        if self.norm == "l2-squared":
            return 2 * differences.support(head - body) + head.square().sum(-1) - body.square().sum(-1)
        if self.norm == "l1" and isinstance(differences, DifferenceBox):
            best = differences.nearest_to(-body)
            return ((best + head).abs() - (best + body).abs()).sum(-1)
        return self.length(head - body)

    def maximiser(self, head: Tensor, body: Tensor, subject: int, object: int) -> tuple[Tensor, Tensor]:
        """Return vectors of subject and object at which the excess is large, not all of them in the region."""
        differences = self._differences(subject, object)
        difference = differences.nearest_to(-body)
        if self.norm == "l2-squared":
            difference = differences.nearest_to(_FAR * Sphere().project(head - body))
        if isinstance(differences, DifferenceBall) and differences.radius == 2:
            across = _across(difference)
            return difference / 2 + across, across - difference / 2
        low, high = self.low[:, object], self.high[:, object]
        if object >= self.free or subject == object:
            y = low if object >= self.free else torch.zeros_like(low)
        elif subject >= self.free:
            y = self.low[:, subject] - difference
        elif isinstance(differences, DifferenceBox) and self.ball is None and low.isfinite().all():
            width = (differences.high - differences.low).clamp_min(1e-30)
            y = high - (difference - differences.low) / width * (high - low)
        else:
            y = torch.zeros_like(difference)
        return y + difference, y

    def move(self, vectors: Tensor, relation: Tensor) -> Tensor:
        """Return the vector at distance 0 from vectors [clauses, dim] under a relation."""
        return vectors + relation

    def _differences(self, subject: int, object: int) -> DifferenceBox | DifferenceBall:
        """Return what x − y ranges over."""
        nothing = torch.zeros_like(self.low[:, subject])
        if subject == object:
            return DifferenceBox(nothing, nothing)
        if self.ball is None or (subject >= self.free and object >= self.free):
            return DifferenceBox(
                self.low[:, subject] - self.high[:, object], self.high[:, subject] - self.low[:, object]
            )
        x = self.low[:, subject] if subject >= self.free else nothing
        y = self.low[:, object] if object >= self.free else nothing
        free = (subject < self.free) + (object < self.free)
        return DifferenceBall(x - y, free, self.ball.sphere and free == 1)

    def length(self, difference: Tensor) -> Tensor:
        """Return the length of a difference [..., dim]."""
        if self.norm == "l2-squared":
            return difference.square().sum(-1)
        return torch.linalg.vector_norm(difference, ord=1 if self.norm == "l1" else 2, dim=-1)


def _norm(vectors: Tensor) -> Tensor:
    return torch.linalg.vector_norm(vectors, dim=-1, keepdim=True)


def _across(difference: Tensor) -> Tensor:
    """Return what, added to ±difference / 2, gives two vectors of length 1."""
    axis = torch.zeros_like(difference).scatter(-1, difference.abs().argmin(-1, keepdim=True), 1.0)
    direction = Sphere().project(difference)
    axis = axis - (axis * direction).sum(-1, keepdim=True) * direction
    return Sphere().project(axis) * (1 - _norm(difference).square() / 4).clamp_min(0).sqrt()
