"""RotatE in closed form: distances Σᵢ |xᵢ e^{iθᵢ} − yᵢ| of components whose moduli a region limits.

On one pair the excess of a head t over a body e is at most Σᵢ |xᵢ| cᵢ with cᵢ = |e^{itᵢ} − e^{ieᵢ}|, with equality at
y = x e^{ie}; and as rotations turn about both ends, |yᵢ| can stand for |xᵢ|.
"""

from __future__ import annotations

import torch
from torch import Tensor

from clausal.bounds.regions import Balls, Boxes, Discs, Region


class Rotations:
    """The distances of RotatE on the slots of a region: rotations compose by adding angles."""

    composes = True

    def __init__(self, region: Region | None, free: int, fixed: Tensor) -> None:
        self.region = region
        self.free = free
        self.fixed = fixed  # [clauses, fixed, components, 2]
        self.ball = region if isinstance(region, Balls) else None
        modulus = torch.linalg.vector_norm(fixed, dim=-1)
        if isinstance(region, Boxes):
            self.outer = torch.maximum(region.low.abs(), region.high.abs())  # [clauses, slots, components, 2]
            self.largest = torch.linalg.vector_norm(self.outer, dim=-1)  # [clauses, slots, components]
            inner = torch.zeros_like(region.low).clamp(region.low, region.high)
            self.smallest = torch.linalg.vector_norm(inner, dim=-1)
        else:
            shape = (len(fixed), free, fixed.shape[2])
            radius = region.radius if isinstance(region, Discs) else modulus.new_full(shape, torch.inf)
            self.largest = torch.cat([radius, modulus], 1)
            self.smallest = torch.cat([torch.zeros_like(radius), modulus], 1)

    def farthest(self, relation: Tensor, subject: int, object: int) -> Tensor:
        """Bound the largest distance of an atom from above [clauses]."""
        if subject == object:
            return self._weighted(chord(relation), subject)
        if (limits := self._beside_constant(relation, subject, object)) is not None:
            focus, low, high = limits
            return torch.linalg.vector_norm(torch.maximum((low - focus).abs(), (high - focus).abs()), dim=-1).sum(-1)
        ones = torch.ones_like(relation)
        return self._weighted(ones, subject) + self._weighted(ones, object)

    def nearest(self, relation: Tensor, subject: int, object: int) -> Tensor:
        """Bound the smallest distance of an atom from below [clauses]."""
        if subject == object:
            return -self._weighted(-chord(relation), subject)
        if (limits := self._beside_constant(relation, subject, object)) is not None:
            focus, low, high = limits
            return torch.linalg.vector_norm(focus.clamp(low, high) - focus, dim=-1).sum(-1)
        gaps = torch.maximum(
            self.smallest[:, subject] - self.largest[:, object], self.smallest[:, object] - self.largest[:, subject]
        )
        return gaps.clamp_min(0).sum(-1)

    def excess(self, head: Tensor, body: Tensor, subject: int, object: int) -> Tensor:
        """Bound the largest distance(head) − distance(body) on one pair of slots [clauses]."""
        if subject == object:
            return self._weighted(chord(head) - chord(body), subject)
        chords = chord(head - body)
        if self.ball is None:
            smaller = torch.minimum(self.largest[:, subject], self.largest[:, object])
            return (smaller * chords).masked_fill(chords == 0, 0).sum(-1)
        return torch.minimum(self._weighted(chords, subject), self._weighted(chords, object))

    def maximiser(self, head: Tensor, body: Tensor, subject: int, object: int) -> tuple[Tensor, Tensor]:
        """Return vectors of subject and object at which the excess is large, not all of them in the region."""
        if subject == object:
            x = self._aligned(chord(head) - chord(body), subject)
            return x, x
        if object >= self.free > subject:
            y = self.fixed[:, object - self.free]
            return _rotated(y, -body), y
        x = self.fixed[:, subject - self.free] if subject >= self.free else self._aligned(chord(head - body), subject)
        return x, _rotated(x, body)

    def move(self, vectors: Tensor, relation: Tensor) -> Tensor:
        """Return the vector at distance 0 from vectors [clauses, components, 2] under a relation."""
        return _rotated(vectors, relation)

    def length(self, difference: Tensor) -> Tensor:
        """Return the sum of moduli of a difference [..., components, 2]."""
        return torch.linalg.vector_norm(difference, dim=-1).sum(-1)

    def _beside_constant(self, relation: Tensor, subject: int, object: int) -> tuple[Tensor, Tensor, Tensor] | None:
        """Return a constant turned to where the other slot has distance 0, and the box of that slot; else None."""
        if not isinstance(self.region, Boxes) or (subject < self.free and object < self.free):
            return None
        fixed, other, way = (subject, object, 1) if subject >= self.free else (object, subject, -1)
        focus = _rotated(self.fixed[:, fixed - self.free], way * relation)
        return focus, self.region.low[:, other], self.region.high[:, other]

    def _weighted(self, weights: Tensor, slot: int) -> Tensor:
        """Return the largest Σᵢ weightsᵢ |xᵢ| over a slot."""
        if self.ball is None or slot >= self.free:
            terms = torch.where(weights > 0, self.largest[:, slot] * weights, self.smallest[:, slot] * weights)
            return terms.masked_fill(weights == 0, 0).sum(-1)
        inside = torch.linalg.vector_norm(weights.clamp_min(0), dim=-1)
        return torch.where(inside > 0, inside, weights.amax(-1)) if self.ball.sphere else inside

    def _aligned(self, weights: Tensor, slot: int) -> Tensor:
        """Return the vector of a slot with the largest Σᵢ weightsᵢ |xᵢ|, where there is one."""
        real, nothing = weights.clamp_min(0), torch.zeros_like(weights)
        if isinstance(self.region, Boxes):
            low, high = self.region.low[:, slot], self.region.high[:, slot]
            outer = torch.where(low.abs() > high.abs(), low, high)
            return torch.where(weights.unsqueeze(-1) > 0, outer, torch.zeros_like(low).clamp(low, high))
        if isinstance(self.region, Discs):
            real = torch.where(weights > 0, self.largest[:, slot], nothing)
        elif self.ball is not None:
            norm = torch.linalg.vector_norm(real, dim=-1, keepdim=True)
            best = torch.zeros_like(real).scatter(-1, weights.argmax(-1, keepdim=True), 1.0)
            real = torch.where(norm > 0, real / norm.clamp_min(1e-30), best)
        return torch.stack([real, nothing], -1)


def chord(angles: Tensor) -> Tensor:
    """Return |e^{iθ} − 1|."""
    return 2 * (angles / 2).sin().abs()


def _rotated(vectors: Tensor, angles: Tensor) -> Tensor:
    cos, sin, (real, imag) = angles.cos(), angles.sin(), vectors.unbind(-1)
    return torch.stack([cos * real - sin * imag, sin * real + cos * imag], -1)
