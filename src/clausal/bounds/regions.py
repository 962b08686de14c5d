"""Regions: where the vectors of a clause range, slot by slot, in the components that the scorer works on.

The free slots (variables) come first and the fixed ones (constants) after them.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from clausal.model.domains import Ball, Sphere


@dataclass(frozen=True, eq=False)
class Boxes:
    """Every number of a slot between two limits; a constant has equal ones."""

    low: Tensor  # [clauses, slots, components, size]
    high: Tensor  # [clauses, slots, components, size]

    def project(self, free: Tensor) -> Tensor:
        """Return the nearest points of the region to free slots [clauses, sets, free, components, size]."""
        count = free.shape[2]
        return free.clamp(self.low[:, None, :count], self.high[:, None, :count])

    def farthest(self, directions: Tensor) -> Tensor:
        """Return the points that lie farthest in directions [clauses, sets, free, components, size]."""
        count = directions.shape[2]
        return torch.where(directions < 0, self.low[:, None, :count], self.high[:, None, :count])


@dataclass(frozen=True, eq=False)
class Balls:
    """Every free slot, as a whole vector, in the unit ball, or on the unit sphere."""

    free: int
    fixed: Tensor  # [clauses, fixed slots, components, size]
    sphere: bool = False

    def project(self, free: Tensor) -> Tensor:
        """Return the nearest points of the region to free slots [clauses, sets, free, components, size]."""
        return (Sphere() if self.sphere else Ball()).project(free.flatten(-2)).view_as(free)


@dataclass(frozen=True, eq=False)
class Discs:
    """Every component of a free slot in a centred ball: a disc, where the component is a complex number."""

    radius: Tensor  # [clauses, free slots, components]
    fixed: Tensor  # [clauses, fixed slots, components, size]

    def intervals(self) -> Boxes:
        """Return the discs as boxes, which they are where components are single numbers."""
        radius = self.radius.unsqueeze(-1)
        return Boxes(torch.cat([-radius, self.fixed], 1), torch.cat([radius, self.fixed], 1))

    def project(self, free: Tensor) -> Tensor:
        """Return the nearest points of the region to free slots [clauses, sets, free, components, size]."""
        modulus = torch.linalg.vector_norm(free, dim=-1, keepdim=True)
        tiny = torch.finfo(free.dtype).tiny
        return free * (self.radius[:, None, :, :, None] / modulus.clamp_min(tiny)).clamp_max(1)

    def farthest(self, directions: Tensor) -> Tensor:
        """Return the points that lie farthest in directions [clauses, sets, free, components, size]."""
        return self.radius[:, None, :, :, None] * Sphere().project(directions)


Region = Boxes | Balls | Discs
