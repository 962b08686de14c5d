"""Weights that minimise the loss of lists, none below its bound: Newton's method for all groups at once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from clausal.fusion.lists import Reals
from clausal.fusion.moments import Moments

_MOST_STEPS = 30
_SWEEPS = 60
_CONVERGED = 1e-4
"""A fit is done where a step promises to gain less than this, per list."""
_RIDGE = 1e-9


@dataclass(frozen=True, eq=False)
class Prior:
    """What weights are drawn to, a vector for each group or one for all, and how strongly (a precision)."""

    mean: Reals
    """[groups, features]"""
    precision: Reals
    """[features, features]"""

    def moments(self, weights: Reals) -> Moments:
        """Return the penalty of each group's weights, with its gradient and curvature."""
        off = weights - self.mean
        gradient = off @ self.precision
        loss = 0.5 * np.einsum("gk,gk->g", gradient, off)
        return Moments(loss, gradient, np.broadcast_to(self.precision, (len(weights), *self.precision.shape)))


def minimise(measure: Callable[[Reals], Moments], prior: Prior, start: Reals, least: Reals, lists: int) -> Reals:
    """Return the weights [groups, features] that minimise loss and penalty, none below ``least`` [features]."""

    def objective(weights: Reals) -> Moments:
        data, penalty = measure(weights), prior.moments(weights)
        return Moments(data.loss + penalty.loss, data.gradient + penalty.gradient, data.curvature + penalty.curvature)

    weights = np.maximum(start, least)
    now = objective(weights)
    for _ in range(_MOST_STEPS):
        step = _bounded_step(now, weights, least)
        promised = -np.einsum("gk,gk->g", now.gradient, step) - 0.5 * np.einsum(
            "gk,gkj,gj->g", step, now.curvature, step
        )
        if promised.sum() <= _CONVERGED * lists:
            return weights
        share = np.ones(len(weights))
        while True:
            tried = weights + share[:, None] * step
            then = objective(tried)
            worse = ~(then.loss <= now.loss + 1e-9 * np.abs(now.loss)) & (share > 0)
            if not worse.any():
                break
            share[worse] = np.where(share[worse] > 1e-3, share[worse] / 4, 0.0)
        weights, now = tried, then
    return weights


def _bounded_step(now: Moments, weights: Reals, least: Reals) -> Reals:
    """Return the step to the least point of the parabola at ``weights`` within the bounds, by coordinate descent."""
    curvature = now.curvature + _RIDGE * np.eye(weights.shape[1])
    step, slope = np.zeros_like(weights), now.gradient.copy()
    lowest = least - weights
    for _ in range(_SWEEPS):
        largest = 0.0
        for k in range(weights.shape[1]):
            wanted = np.maximum(step[:, k] - slope[:, k] / curvature[:, k, k], lowest[:, k])
            change = wanted - step[:, k]
            step[:, k] = wanted
            slope += change[:, None] * curvature[:, :, k]
            largest = max(largest, float(np.abs(change).max(initial=0.0)))
        if largest < 1e-7:
            break
    return step
