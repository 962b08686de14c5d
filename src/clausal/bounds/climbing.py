"""Points where a clause is violated much: steps of falling length along the gradient, from many starts."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

_STARTS, _STEPS, _STEP, _SHORTER = 16, 100, 0.4, 0.92
"""Where the search begins, how often it steps, how far, and how much less each time."""
_TINY = 1e-12


def drawn(free: int, dim: int, like: Tensor) -> Tensor:
    """Draw normal vectors to begin with [starts, free, dim]; always the same ones."""
    generator = torch.Generator().manual_seed(0)
    return torch.randn(_STARTS, free, dim, generator=generator, dtype=torch.float64).to(like)


def climbed(
    points: Tensor, attained: Callable[[Tensor], Tensor], inside: Callable[[Tensor], Tensor]
) -> tuple[Tensor, Tensor]:
    """Return the point [free, dim] with the largest value that was met from points [sets, free, dim], and the value.

    ``attained`` is what is climbed, [sets, free, dim] → [sets], and ``inside`` moves points into the region.
    """
    points = inside(points)
    best, reached = points[0], points.new_tensor(-torch.inf)
    for step in range(_STEPS):
        with torch.enable_grad():
            moving = points.detach().requires_grad_()
            values = attained(moving)
            (gradient,) = torch.autograd.grad(values.sum(), moving)
        place = values.argmax()
        if values[place] > reached:
            best, reached = points[place], values[place].detach()
        length = torch.linalg.vector_norm(gradient.flatten(1), dim=-1)[:, None, None].clamp_min(_TINY)
        points = inside(points + _STEP * _SHORTER**step * gradient / length)
    return best, reached
