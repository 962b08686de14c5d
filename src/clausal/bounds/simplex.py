"""Minimises a convex function of λ over the simplex, by Newton steps along a path of ever sharper smoothings."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

Smoothed = Callable[[Tensor, float], tuple[Tensor, Tensor, Tensor]]
"""(λ [problems, forms], τ) → value [problems], gradient [problems, forms], Hessian [problems, forms, forms]."""

TEMPERATURES = tuple(0.1 ** (1 + step) for step in range(8))
"""The τ of the smoothings in turn, where values are about 1."""
_HALVINGS = 40
"""Two weights are found to 2⁻⁴⁰."""
_NEWTON_STEPS = 12
"""Most steps for one τ."""
_CONVERGED = 1e-4
"""A τ is done where a step promises less than this share of it."""
_BACKTRACKS = 12
"""How often a step is cut to a third at most until it gains enough."""
_ENOUGH = 0.1
"""A step gains enough with this share of what its slope promises (Armijo's rule)."""
_SHORT_OF_THE_EDGE = 0.95
"""Share of the way to a weight of 0 that one step may go."""


def minimise_on_simplex(function: Smoothed, problems: Tensor) -> Tensor:
    """Return a near-minimal λ for each problem; ``problems`` [problems, forms] gives shape, dtype and device.

    The function is smoothed by τ, in units in which its values are about 1, and −τ Σ log λⱼ keeps λ inside. Each
    sharper smoothing starts from the last, so that Newton's method stays where it converges quadratically.
    """
    if problems.shape[1] == 2:
        return bisect_on_simplex(lambda weights: function(weights, TEMPERATURES[-1])[1], problems)
    weights = torch.full_like(problems, 1 / problems.shape[1])
    for temperature in TEMPERATURES:
        weights = _newton(function, weights, temperature)
    return weights


def bisect_on_simplex(gradient: Callable[[Tensor], Tensor], problems: Tensor) -> Tensor:
    """Return the minimal λ [problems, 2]: two weights are one number, whose interval the sign of the slope halves."""
    low, high = torch.zeros_like(problems[:, 0]), torch.ones_like(problems[:, 0])
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        one, other = gradient(torch.stack([middle, 1 - middle], 1)).unbind(1)
        falling = one < other
        low, high = torch.where(falling, middle, low), torch.where(falling, high, middle)
    middle = (low + high) / 2
    return torch.stack([middle, 1 - middle], 1)


def _newton(function: Smoothed, weights: Tensor, temperature: float) -> Tensor:
    value, gradient, hessian = _with_barrier(function, weights, temperature)
    for _ in range(_NEWTON_STEPS):
        direction = newton_direction(gradient, hessian)
        decrement = -(direction * gradient).sum(1)  # how much a full step is expected to gain, twice over
        converged = ~(decrement > _CONVERGED * temperature)
        if converged.all():
            break
        shrinking = torch.where(direction < 0, -weights / direction, torch.inf).amin(1)
        step = (_SHORT_OF_THE_EDGE * shrinking).clamp_max(1.0)
        for _ in range(_BACKTRACKS):
            trial = weights + step[:, None] * direction
            new_value, new_gradient, new_hessian = _with_barrier(function, trial, temperature)
            better = new_value <= value - _ENOUGH * step * decrement
            if (better | converged).all():
                break
            step = torch.where(better, step, step / 3)
        better = new_value < value
        weights = torch.where(better[:, None], trial, weights)
        value = torch.where(better, new_value, value)
        gradient = torch.where(better[:, None], new_gradient, gradient)
        hessian = torch.where(better[:, None, None], new_hessian, hessian)
        if not better.any():
            break
    return weights / weights.sum(1, keepdim=True)


def _with_barrier(function: Smoothed, weights: Tensor, temperature: float) -> tuple[Tensor, Tensor, Tensor]:
    value, gradient, hessian = function(weights, temperature)
    return (
        value - temperature * weights.log().sum(1),
        gradient - temperature / weights,
        hessian + torch.diag_embed(temperature / weights**2),
    )


def newton_direction(gradient: Tensor, hessian: Tensor) -> Tensor:
    """Solve Newton's equation among the directions [problems, forms] that keep Σ λⱼ."""
    forms = gradient.shape[1]
    if forms == 1:
        return torch.zeros_like(gradient)
    first = torch.eye(forms - 1, dtype=gradient.dtype, device=gradient.device)
    directions = torch.cat([first, -torch.ones_like(first[:1])])  # [forms, forms − 1]: the last weight gives way
    reduced = directions.T @ hessian @ directions
    step, _ = torch.linalg.solve_ex(reduced, (gradient @ directions).unsqueeze(-1))
    return -(step.squeeze(-1) @ directions.T).nan_to_num(0, 0, 0)
