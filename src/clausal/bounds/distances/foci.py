"""How much farther a point can be from one focus than from another: the largest ‖x − p‖ − ‖x − q‖ over a region.

By the triangle inequality it is at most ‖p − q‖, which is attained on the ray from q away from p. Where the region does
not meet this ray:

- **Box.** Let B = ‖x − q‖² and ℓ = ‖x − p‖² − B, which is linear in x. The difference √(B + ℓ) − √B grows with ℓ and,
  where it is positive, falls with B. So the best x has the smallest B for its ℓ: it is the point of the box nearest to
  q + μ (q − p) for some μ ≥ 0. These points form a path of straight pieces. On one piece some numbers move and the
  others add a constant a to ‖x − p‖² and b to B, and the slope is 0 only where (1 + μ)² b = μ² a.
- **Rectangle**, for the sign of the result counts where components are added up. Away from the ray the gradient, a
  difference of two unit vectors, is never 0: the largest value is on an edge. There the slope is 0 where the foci
  are seen at equal angles, (t − p₁) / |p₂| = ± (t − q₁) / |q₂| with distances p₂, q₂ from the edge's line.
- **Ball and sphere.** For the same reason the largest value is on the sphere. There both squared distances are linear
  in ⟨x, p⟩ and ⟨x, q⟩, one falls and the other grows, so the best x lies in the plane of p and q: one angle is left.
  Its slope is 0 at roots of a polynomial of degree 6 in e^{iφ}.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch import Tensor

_TINY = 1e-30
_MOST_NUMBERS = 1 << 23
"""Numbers of points on the paths of boxes; more clauses than have as many are treated in turn."""
_SAME = 1e-12
"""Foci nearer to each other or to 0 than this share of the radius have no polynomial worth solving."""
_ANGLES = 24
"""Angles that are tried beside the roots, for foci where the roots are not to be had."""


class Farthest(NamedTuple):
    """The largest difference, and where it is."""

    value: Tensor  # [...]
    point: Tensor  # [..., size]


def farther_in_box(p: Tensor, q: Tensor, low: Tensor, high: Tensor) -> Farthest:
    """Return the largest ‖x − p‖ − ‖x − q‖, or 0 if that is negative, over a box of any size: all [n, dim]."""
    rows = max(1, _MOST_NUMBERS // (4 * p.shape[1] ** 2))
    parts = [_in_box(*some) for some in zip(*(one.split(rows) for one in (p, q, low, high)), strict=True)]
    return Farthest(*(torch.cat(tensors) for tensors in zip(*parts, strict=True)))


def _in_box(p: Tensor, q: Tensor, low: Tensor, high: Tensor) -> Farthest:
    away = q - p
    ends = torch.cat([(low - q) / away, (high - q) / away], -1)
    stops = torch.where(ends.isfinite(), ends, 0).clamp_min(0)
    stops = torch.cat([stops, torch.zeros_like(stops[:, :1])], -1).sort(-1).values  # [n, stops]
    p, q, low, high, away = (one.unsqueeze(1) for one in (p, q, low, high, away))

    def path(places: Tensor) -> Tensor:
        return (q + places.unsqueeze(-1) * away).clamp(low, high)  # [n, places, dim]

    before, after = stops[:, :-1], stops[:, 1:]
    between = q + ((before + after) / 2).unsqueeze(-1) * away
    still = (between <= low) | (between >= high)
    fixed = between.clamp(low, high)
    a = torch.where(still, (fixed - p).square(), 0).sum(-1).sqrt()
    b = torch.where(still, (fixed - q).square(), 0).sum(-1).sqrt()
    level = torch.where(a > b, b / (a - b).clamp_min(_TINY), after)
    points = path(torch.cat([stops, torch.minimum(torch.maximum(level, before), after)], 1))
    best = _best(points, p, q)
    return Farthest(best.value.clamp_min(0), best.point)


def farther_in_rectangle(p: Tensor, q: Tensor, low: Tensor, high: Tensor) -> Farthest:
    """Return the largest |x − p| − |x − q| over rectangles in the plane, also if it is negative: all [..., 2]."""
    candidates = []
    for along, across in ((0, 1), (1, 0)):
        for side in (low[..., across], high[..., across]):
            p_off, q_off = (side - p[..., across]).abs(), (side - q[..., across]).abs()
            levels = [
                (p[..., along] * q_off - sign * q[..., along] * p_off) / (q_off - sign * p_off) for sign in (1, -1)
            ]
            for place in (low[..., along], high[..., along], *levels):
                place = torch.where(place.isfinite(), place, low[..., along])
                place = torch.minimum(torch.maximum(place, low[..., along]), high[..., along])
                candidates.append(torch.stack([place, side] if along == 0 else [side, place], -1))
    return _best(torch.stack(candidates, -2), p.unsqueeze(-2), q.unsqueeze(-2))


def farther_in_ball(p: Tensor, q: Tensor, radius: Tensor) -> Farthest:
    """Return the largest ‖x − p‖ − ‖x − q‖ over balls around 0, or spheres: p and q [..., size], radius [...]."""
    first = direction(torch.where(length(q, keepdim=True) > 0, q, p))
    second = direction(across(p, first))
    flat = (
        torch.stack([(p * first).sum(-1), (p * second).sum(-1)], -1),
        torch.stack([(q * first).sum(-1), torch.zeros_like(radius)], -1),
    )
    angles = _angles(*flat, radius).unsqueeze(-1)
    points = radius[..., None, None] * (angles.cos() * first.unsqueeze(-2) + angles.sin() * second.unsqueeze(-2))
    return _best(points, p.unsqueeze(-2), q.unsqueeze(-2))


def _angles(p: Tensor, q: Tensor, radius: Tensor) -> Tensor:
    """Return angles on circles, among them the best one: p and q in the plane → [..., angles]."""
    size_p, size_q = length(p), length(q)
    turn_p, turn_q = torch.atan2(p[..., 1], p[..., 0]), torch.atan2(q[..., 1], q[..., 0])
    a, b = radius.square() + size_p.square(), 2 * radius * size_p
    c, d = radius.square() + size_q.square(), 2 * radius * size_q
    # b² sin²(φ − φp) (c − d cos(φ − φq)) = d² sin²(φ − φq) (a − b cos(φ − φp)), in powers −3 … 3 of e^{iφ}
    terms = _convolved(b.square(), turn_p, c, d, turn_q) - _convolved(d.square(), turn_q, a, b, turn_p)
    scale = radius.square() * (size_p + size_q)
    fine = (torch.minimum(b, d) > _SAME * scale.sqrt()) & (length(p - q) > _SAME * (size_p + size_q))
    dummy = torch.zeros_like(terms)
    dummy[..., 0], dummy[..., -1] = -1, 1
    terms = torch.where((fine & (terms[..., -1].abs() > 0)).unsqueeze(-1), terms, dummy)
    companion = torch.zeros(*terms.shape[:-1], 6, 6, dtype=terms.dtype, device=terms.device)
    companion[..., 1:, :-1] = torch.eye(5, dtype=terms.dtype, device=terms.device)
    companion[..., :, -1] = -terms[..., :-1] / terms[..., -1:]
    roots = torch.linalg.eigvals(companion).angle()
    tried = torch.linspace(0, 2 * math.pi, _ANGLES + 1, dtype=radius.dtype, device=radius.device)[:-1]
    ends = torch.stack([turn_q, turn_p + math.pi], -1)
    return torch.cat([roots, ends, tried.expand(*radius.shape, -1)], -1)


def _convolved(factor: Tensor, turn: Tensor, constant: Tensor, slope: Tensor, other: Tensor) -> Tensor:
    """Return factor sin²(φ − turn) (constant − slope cos(φ − other)) as coefficients of e^{−3iφ} … e^{3iφ}."""
    one, two = torch.exp(-1j * other), torch.exp(-2j * turn)
    square = [-factor * two.conj() / 4, None, factor / 2 + 0j, None, -factor * two / 4]
    line = [-slope * one.conj() / 2, constant + 0j, -slope * one / 2]
    total = [torch.zeros_like(one) for _ in range(7)]
    for i, s in enumerate(square):
        for j, t in enumerate(line):
            if s is not None:
                total[i + j] = total[i + j] + s * t
    return torch.stack(total, -1)


def _best(points: Tensor, p: Tensor, q: Tensor) -> Farthest:
    """Return the best of points [..., points, size]."""
    value, place = (length(points - p) - length(points - q)).max(-1)
    index = place[..., None, None].expand(*place.shape, 1, points.shape[-1])
    return Farthest(value, points.gather(-2, index).squeeze(-2))


def across(vectors: Tensor, first: Tensor) -> Tensor:
    """Return the part of vectors that is orthogonal to unit vectors; where nothing is left, another such direction."""
    part = vectors - (vectors * first).sum(-1, keepdim=True) * first
    if vectors.shape[-1] == 1:
        return torch.zeros_like(part)
    axis = torch.zeros_like(first).scatter(-1, first.abs().argmin(-1, keepdim=True), 1.0)
    axis = axis - (axis * first).sum(-1, keepdim=True) * first
    return torch.where(length(part, keepdim=True) > _SAME * length(vectors, keepdim=True), part, axis)


def direction(vectors: Tensor) -> Tensor:
    """Return unit vectors; for 0 an axis."""
    size = length(vectors, keepdim=True)
    axis = torch.zeros_like(vectors)
    axis[..., 0] = 1.0
    return torch.where(size > 0, vectors / size.clamp_min(_TINY), axis)


def length(vectors: Tensor, keepdim: bool = False) -> Tensor:
    """Return ‖·‖."""
    return torch.linalg.vector_norm(vectors, dim=-1, keepdim=keepdim)
