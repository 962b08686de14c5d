"""Domains: where entity vectors, and so adversarial vectors, live (the subspace U of the paper)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from clausal.errors import InputError

_AT_ONCE = 1 << 16
"""Rows of a table that are projected at a time."""


class Projection(NamedTuple):
    """How rows are projected: ``clip`` to [low, high], to the ``sphere`` of norm 1, or into its ``ball``."""

    kind: str = "clip"
    low: float = -float("inf")
    high: float = float("inf")


class Domain(ABC):
    """A set of vectors with a projection onto it."""

    name: str

    @property
    def projection(self) -> Projection | None:
        """The projection as fast kernels know it; None where they do not."""
        return None

    @abstractmethod
    def project(self, vectors: Tensor) -> Tensor:
        """Return the nearest vectors in the domain; differentiable almost everywhere. Shape [..., dim]."""

    @abstractmethod
    def sample(
        self,
        shape: Sequence[int],
        generator: torch.Generator | None = None,
        device: torch.device | None = None,
    ) -> Tensor:
        """Draw vectors of the given shape [..., dim] from all over the domain."""

    def never_negative(self, dim: int) -> Tensor:
        """Say of each number of a vector whether it is never negative. Shape [dim]."""
        return torch.zeros(dim, dtype=torch.bool)

    def farthest(self, directions: Tensor) -> Tensor:
        """Return the vectors of the domain that lie farthest in directions [..., dim]: they maximise ⟨direction, h⟩."""
        raise InputError(
            f"the domain '{self.name}' has no farthest vector in a direction, as it has no bound; "
            'set clauses.region = "hull" or "discs", or clauses.optimizer = "adagrad"'
        )

    @torch.no_grad()
    def project_(self, vectors: Tensor) -> Tensor:
        """Project in place: the paper's proj(h)."""
        if vectors.is_meta:  # there are no values; and torch would import its compiler to find that out
            return vectors
        for rows in (
            vectors.split(_AT_ONCE) if vectors.dim() > 1 else [vectors]
        ):  # a large table has no room for another
            rows.copy_(self.project(rows))
        return vectors

    def can_move(self, vectors: Tensor, steps: Tensor) -> Tensor:
        """Say of each number of vectors in the domain whether a step moves it; at the edge of a box some do not."""
        onto = self.projection
        if onto is None or onto.kind != "clip":
            return torch.ones_like(vectors, dtype=torch.bool)
        return ~((vectors <= onto.low) & (steps < 0) | (vectors >= onto.high) & (steps > 0))

    def contains(self, vectors: Tensor, tolerance: float = 1e-5) -> Tensor:
        """Say for each vector whether it lies in the domain. Shape [...]."""
        return (self.project(vectors) - vectors).abs().amax(-1) <= tolerance

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class Sphere(Domain):
    """The unit sphere, ‖h‖₂ = 1."""

    name = "sphere"

    @property
    def projection(self) -> Projection:
        return Projection("sphere")

    def project(self, vectors: Tensor) -> Tensor:
        norm = torch.linalg.vector_norm(vectors, dim=-1, keepdim=True)
        anywhere = vectors.shape[-1] ** -0.5  # the zero vector is equally far from every point
        return torch.where(norm == 0, anywhere, vectors / norm.clamp_min(torch.finfo(vectors.dtype).tiny))

    def farthest(self, directions: Tensor) -> Tensor:
        return self.project(directions)

    def sample(
        self,
        shape: Sequence[int],
        generator: torch.Generator | None = None,
        device: torch.device | None = None,
    ) -> Tensor:
        return self.project(torch.randn(shape, generator=generator, device=device))


class Ball(Domain):
    """The unit ball, ‖h‖₂ ≤ 1."""

    name = "ball"

    @property
    def projection(self) -> Projection:
        return Projection("ball")

    def project(self, vectors: Tensor) -> Tensor:
        norm = torch.linalg.vector_norm(vectors, dim=-1, keepdim=True)
        return vectors / norm.clamp_min(1.0)

    def farthest(self, directions: Tensor) -> Tensor:
        return Sphere().project(directions)

    def sample(
        self,
        shape: Sequence[int],
        generator: torch.Generator | None = None,
        device: torch.device | None = None,
    ) -> Tensor:
        direction = Sphere().sample(shape, generator, device)
        radius = torch.rand((*shape[:-1], 1), generator=generator, device=device) ** (1 / shape[-1])
        return direction * radius


class Box(Domain):
    """A box, low ≤ hᵢ ≤ high in every component."""

    name = "box"

    def __init__(self, low: float = -1.0, high: float = 1.0) -> None:
        if not low < high:
            raise InputError(f"model.box: the lower bound {low} must be below the upper bound {high}")
        self.low, self.high = low, high

    @property
    def projection(self) -> Projection:
        return Projection("clip", self.low, self.high)

    def never_negative(self, dim: int) -> Tensor:
        return torch.full((dim,), self.low >= 0)

    def project(self, vectors: Tensor) -> Tensor:
        return vectors.clamp(self.low, self.high)

    def farthest(self, directions: Tensor) -> Tensor:
        # What does not matter goes up, where it can matter to another vector that it is multiplied with.
        return torch.full_like(directions, self.high).masked_fill(directions < 0, self.low)

    def sample(
        self,
        shape: Sequence[int],
        generator: torch.Generator | None = None,
        device: torch.device | None = None,
    ) -> Tensor:
        return self.low + (self.high - self.low) * torch.rand(shape, generator=generator, device=device)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.low}, {self.high})"


class Cube(Box):
    """The unit cube, 0 ≤ hᵢ ≤ 1."""

    name = "cube"

    def __init__(self) -> None:
        super().__init__(0.0, 1.0)

    def __repr__(self) -> str:
        return "Cube()"


class Cone(Domain):
    """All vectors without negative numbers, hᵢ ≥ 0: the cube without its upper bound.

    A share of the components can be ``free`` to be negative: the last ones of each of the ``parts`` that a scorer cuts
    vectors into, such as real and imaginary parts.
    """

    name = "cone"

    def __init__(self, free: float = 0.0, parts: int = 1) -> None:
        if not 0 <= free < 1:
            raise InputError(f"model.free: the share {free} of free components must be at least 0 and below 1")
        self.free, self.parts = free, parts
        self._bounds: dict[int, Tensor] = {}

    @property
    def projection(self) -> Projection | None:
        return None if self.free else Projection("clip", 0.0)

    def never_negative(self, dim: int) -> Tensor:
        components = dim // self.parts
        return (torch.arange(components) < round((1 - self.free) * components)).repeat(self.parts)

    def project(self, vectors: Tensor) -> Tensor:
        if not self.free:
            return vectors.clamp_min(0.0)
        return torch.maximum(vectors, self.lowest(vectors))

    def can_move(self, vectors: Tensor, steps: Tensor) -> Tensor:
        return ~((vectors <= self.lowest(vectors)) & (steps < 0))

    def sample(
        self,
        shape: Sequence[int],
        generator: torch.Generator | None = None,
        device: torch.device | None = None,
    ) -> Tensor:
        drawn = torch.randn(shape, generator=generator, device=device)
        return torch.where(self.never_negative(shape[-1]).to(drawn.device), drawn.abs(), drawn)

    def lowest(self, vectors: Tensor) -> Tensor:
        """Return the lower bounds [dim] of numbers of vectors [..., dim]."""
        dim = vectors.shape[-1]
        if dim not in self._bounds or self._bounds[dim].device != vectors.device:
            never = self.never_negative(dim).to(vectors.device)
            self._bounds[dim] = torch.zeros(dim, device=vectors.device).masked_fill(~never, -torch.inf)
        return self._bounds[dim].to(vectors.dtype)

    def __repr__(self) -> str:
        return f"Cone({self.free}, {self.parts})" if self.free else "Cone()"


class Unbounded(Domain):
    """All of ℝᵏ: no projection."""

    name = "none"

    @property
    def projection(self) -> Projection:
        return Projection()

    def project(self, vectors: Tensor) -> Tensor:
        return vectors

    def project_(self, vectors: Tensor) -> Tensor:
        return vectors

    def sample(
        self,
        shape: Sequence[int],
        generator: torch.Generator | None = None,
        device: torch.device | None = None,
    ) -> Tensor:
        return torch.randn(shape, generator=generator, device=device)


DOMAINS: dict[str, type[Domain]] = {kind.name: kind for kind in (Sphere, Cube, Ball, Box, Cone, Unbounded)}
