"""TransE in L2 under thresholds: one variable that is to be far from one focus and near another, p(X, c) ⇒ q(X, d).

The violation is the less of two numbers, one that grows with ‖x − p‖ and one that falls with ‖x − q‖. So the best x has
the largest ‖x − p‖ for its ‖x − q‖, and lies on a path:

- **Sphere**: both squared distances are linear in ⟨x, p⟩ and ⟨x, q⟩: the arc from q / ‖q‖ to −p / ‖p‖.
- **Ball**: within some distance of q the farthest point from p is on the ray from q away from p, as long as that is
  inside, and beyond it on the sphere: the ray, if q is inside, then the arc from where it ends to −p / ‖p‖.
- **Box**: ‖x − p‖² − ‖x − q‖² is linear, so it is the path of the nearest points to q + μ (q − p), up to a corner.
  Points still farther from q are bounded by the end's distance from q and the largest distance from p.

Along a path one number grows and the other falls. They meet once, which halving finds.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from clausal.bounds.distances.foci import Farthest, across, direction, length

_HALVINGS = 100
_Path = Callable[[Tensor], Tensor]
"""Points [n, dim] at shares of the way [n, 1]."""
_Number = Callable[[Tensor], Tensor]
"""A number [n] that grows with the distance [n] from p, or falls with that from q."""


def largest_on_sphere(p: Tensor, q: Tensor, far: _Number, near: _Number) -> Farthest:
    """Return the largest min(far(‖x − p‖), near(‖x − q‖)) over unit vectors: p and q [n, dim]."""
    return _best(_arc(q, p), p, q, far, near)


def largest_in_ball(p: Tensor, q: Tensor, far: _Number, near: _Number) -> Farthest:
    """Return the same over the unit ball."""
    away = direction(q - p)
    ahead = (q * away).sum(-1, keepdim=True)
    inside = length(q, keepdim=True) < 1
    steps = (ahead.square() + 1 - q.square().sum(-1, keepdim=True)).clamp_min(0).sqrt() - ahead
    edge = torch.where(inside, q + steps * away, q)
    arc = _arc(edge, p)

    def path(share: Tensor) -> Tensor:
        on_ray = q + 2 * share * steps * away
        return torch.where(inside & (share < 0.5), on_ray, arc(torch.where(inside, 2 * share - 1, share)))

    return _best(path, p, q, far, near)


def largest_in_box(p: Tensor, q: Tensor, low: Tensor, high: Tensor, far: _Number, near: _Number) -> Farthest:
    """Return the same over a box, or a little more where the best point is beyond the end of the path."""
    away = q - p
    ends = torch.cat([(low - q) / away, (high - q) / away], -1)
    longest = torch.where(ends.isfinite(), ends, 0).amax(-1, keepdim=True).clamp_min(0)

    def path(share: Tensor) -> Tensor:
        return (q + share * longest * away).clamp(low, high)

    found, end = _best(path, p, q, far, near), path(torch.ones_like(longest))
    corner = torch.where((low - p).abs() > (high - p).abs(), low, high)
    beyond = torch.minimum(far(length(corner - p)), near(length(end - q)))
    return Farthest(torch.maximum(found.value, beyond), found.point)


def _arc(start: Tensor, p: Tensor) -> _Path:
    """Return the way on the unit sphere from a direction to that of −p, in their plane."""
    first = direction(start)
    second = direction(across(-p, first))
    angle = torch.acos((first * direction(-p)).sum(-1, keepdim=True).clamp(-1, 1))
    return lambda share: (share * angle).cos() * first + (share * angle).sin() * second


def _best(path: _Path, p: Tensor, q: Tensor, far: _Number, near: _Number) -> Farthest:
    """Return the largest min of both numbers on a path."""
    low, high = torch.zeros_like(p[:, :1]), torch.ones_like(p[:, :1])
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        point = path(middle)
        before = (far(length(point - p)) <= near(length(point - q))).unsqueeze(-1)
        low, high = torch.where(before, middle, low), torch.where(before, high, middle)
    before, after = path(low), path(high)
    return Farthest(torch.minimum(far(length(after - p)), near(length(before - q))), before)
