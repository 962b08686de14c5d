"""Two foci in every component, and one unit ball for all: the largest Σᵢ |xᵢ − pᵢ| − |xᵢ − qᵢ| with Σᵢ |xᵢ|² ≤ 1.

Let vᵢ(ρ) be the largest difference of component i within |xᵢ| ≤ ρ. It grows with ρ, so ball and sphere have the same
answer: how to share Σ ρᵢ² = 1. For every price ν ≥ 0

    Σᵢ vᵢ(ρᵢ) ≤ ν + Σᵢ maxᵨ (vᵢ(ρ) − ν ρ²),

and on an interval of radii the maximum is at most v at its upper end less ν ρ² at its lower end. Intervals that could
hold the maximum are halved again and again, and ν is the best one for what is known. The gap that is left by the price
is that of one component in all of them.
"""

from __future__ import annotations

import torch
from torch import Tensor

from clausal.bounds.distances.foci import Farthest, farther_in_ball

_INTERVALS = 24
"""Intervals of radii to begin with."""
_HALVED = 4
"""Intervals that are halved at a time, in each component."""
_ROUNDS = 12
_AT_ONCE = 1 << 14
"""Components that are treated at once; more clauses than have as many are treated in turn."""
_PRICE_STEPS = 60
"""How often the interval of the price is halved."""


def farther_within_budget(p: Tensor, q: Tensor) -> Farthest:
    """Return an upper bound of the largest sum [clauses], and a point near it: all [clauses, components, size]."""
    rows = max(1, _AT_ONCE // p.shape[1])
    parts = [_farther(*some) for some in zip(p.split(rows), q.split(rows), strict=True)]
    return Farthest(*(torch.cat(tensors) for tensors in zip(*parts, strict=True)))


def _farther(p: Tensor, q: Tensor) -> Farthest:
    share = torch.linspace(0, 1, _INTERVALS + 1, dtype=p.dtype, device=p.device)
    radii = share.square().expand(*p.shape[:2], -1)
    values = _within(p, q, radii)
    price = p.new_zeros(len(p))
    for _ in range(_ROUNDS):
        price = _best_price(radii, values)
        hopeful = _reduced(radii, values, price).topk(_HALVED, dim=-1).indices
        middles = (radii.gather(-1, hopeful) + radii.gather(-1, hopeful + 1)) / 2
        radii, order = torch.cat([radii, middles], -1).sort(-1)
        values = torch.cat([values, _within(p, q, middles)], -1).gather(-1, order).cummax(-1).values
    price = _best_price(radii, values)
    reduced = _reduced(radii, values, price)
    chosen = radii.gather(-1, reduced.argmax(-1, keepdim=True) + 1).squeeze(-1)
    chosen = chosen / torch.linalg.vector_norm(chosen, dim=-1, keepdim=True).clamp_min(1)
    return Farthest(price + reduced.amax(-1).sum(-1), farther_in_ball(p, q, chosen).point)


def _within(p: Tensor, q: Tensor, radii: Tensor) -> Tensor:
    """Return v at radii [clauses, components, radii]; in one dimension the difference is monotone, so at an end."""
    if p.shape[-1] == 1:
        ends = radii * torch.sign(q - p)
        return (ends - p).abs() - (ends - q).abs()
    shape = (*radii.shape, p.shape[-1])
    return farther_in_ball(p.unsqueeze(2).expand(shape), q.unsqueeze(2).expand(shape), radii).value


def _reduced(radii: Tensor, values: Tensor, price: Tensor) -> Tensor:
    """Bound v − ν ρ² on each interval [clauses, components, intervals]."""
    return values[..., 1:] - price[:, None, None] * radii[..., :-1].square()


def _best_price(radii: Tensor, values: Tensor) -> Tensor:
    """Return the ν [clauses] at which the bound, convex in ν, is least: where the chosen intervals spend the budget."""
    low = torch.zeros_like(values[:, 0, 0])
    # Beyond this price no interval is worth more than the first one, which costs nothing.
    high = ((values[..., 1:] - values[..., 1:2]) / radii[..., :-1].square().clamp_min(1e-30)).amax((1, 2)).clamp_min(0)
    for _ in range(_PRICE_STEPS):
        price = (low + high) / 2
        chosen = _reduced(radii, values, price).argmax(-1, keepdim=True)
        spent = radii.gather(-1, chosen).square().sum((1, 2))
        low, high = torch.where(spent > 1, price, low), torch.where(spent > 1, high, price)
    return high
