"""The fit of a fusion: weights for all questions, and for each relation and direction, drawn to those for all.

How strongly they are drawn is chosen by cross-fitting: lists are ranked by weights that were fitted on the others.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from clausal.fusion.lists import Lists, Reals
from clausal.fusion.moments import Moments, expected_ranks, moments
from clausal.fusion.newton import Prior, minimise
from clausal.observer import Observer

STRENGTHS = (np.inf, 300.0, 100.0, 30.0, 10.0)
"""How many questions the weights for all count as in the fit of one relation; the first has no weights of its own."""
FOLDS = 4
_BEYOND_NOISE = 1.0
"""Standard errors that a gain must have to be believed: settings and epoch of the model were chosen on the same valid
facts, on which it is therefore better than elsewhere, and votes were not."""
_PRIOR_QUESTIONS = 2.0
"""How many questions the default weights count as in the fit for all: it matters where there are few facts."""


@dataclass(frozen=True, eq=False)
class Fit:
    """Weights, and the ranks that tell how well they do on questions that they were not fitted on."""

    weights: Reals
    """[groups, features]"""
    shared: Reals
    """[features] the weights for all, which those of groups were drawn to."""
    strength: float
    ranks: Reals
    """[lists] ranks of the answers by cross-fitting."""
    model_ranks: Reals
    """[lists] ranks by the first feature alone."""
    gain: float
    """Mean reciprocal rank by cross-fitting less that of the first feature alone."""
    error: float
    """Standard error of the gain."""

    @property
    def gains(self) -> bool:
        """Whether the fusion is better than the model beyond noise."""
        return self.gain > _BEYOND_NOISE * self.error


def fit(
    lists: Lists,
    default: Reals,
    least: Reals,
    *,
    strengths: tuple[float, ...] = STRENGTHS,
    seed: int = 0,
    observer: Observer | None = None,
) -> Fit:
    """Fit weights to lists, none below ``least`` [features]; the first feature is the model's score."""
    fitting = _Fitting(lists, default, least)
    facts = np.unique(lists.facts)
    folds = np.random.default_rng(seed).permutation(len(facts)) % min(FOLDS, len(facts))
    fold_of = folds[np.searchsorted(facts, lists.facts)]
    everything = np.ones(len(lists), np.bool_)
    shared = fitting.shared(everything, default)
    ranks = np.empty((len(strengths), len(lists)))
    for fold in range(int(folds.max()) + 1):
        held, used = fold_of == fold, fold_of != fold
        own_shared = fitting.shared(used, shared)
        weights = np.tile(own_shared, (lists.num_groups, 1))
        for place, strength in enumerate(strengths):
            weights = fitting.groups(used, own_shared, weights, strength)
            ranks[place, held] = expected_ranks(lists, weights)[held]
            if observer is not None:
                done = fold * len(strengths) + place + 1
                observer.advanced("fitting", done, (int(folds.max()) + 1) * len(strengths), "fits")
    best = int(np.argmax((1 / ranks).mean(axis=1)))
    weights = np.tile(shared, (lists.num_groups, 1))
    for strength in strengths[: best + 1]:
        weights = fitting.groups(everything, shared, weights, strength)
    model = np.zeros_like(weights)
    model[:, 0] = 1
    model_ranks = expected_ranks(lists, model)
    gain, error = paired_gain(1 / ranks[best], 1 / model_ranks, lists.facts)
    return Fit(weights, shared, strengths[best], ranks[best], model_ranks, gain, error)


def paired_gain(one: Reals, other: Reals, facts: NDArray[np.int64]) -> tuple[float, float]:
    """Return the mean difference of two measures of questions, and its standard error; a fact's two are one case."""
    _, places = np.unique(facts, return_inverse=True)
    sizes = np.bincount(places)
    sums = np.bincount(places, weights=one - other)
    gain = float(sums.sum() / len(one))
    spread = np.sqrt(np.sum((sums - gain * sizes) ** 2))
    return gain, float(spread / len(one) * np.sqrt(len(sizes) / max(1, len(sizes) - 1)))


@dataclass(frozen=True, eq=False)
class _Fitting:
    lists: Lists
    default: Reals
    least: Reals

    def shared(self, used: NDArray[np.bool_], start: Reals) -> Reals:
        """Fit one vector of weights for all groups."""
        groups = self.lists.num_groups

        def measure(weights: Reals) -> Moments:
            return moments(self.lists, np.tile(weights, (groups, 1)), used).total()

        precision = _PRIOR_QUESTIONS * np.diag(np.diag(self._mean_curvature(used, self.default)))
        return minimise(measure, Prior(self.default[None], precision), start[None], self.least, int(used.sum()))[0]

    def groups(self, used: NDArray[np.bool_], shared: Reals, start: Reals, strength: float) -> Reals:
        """Fit weights for each group, drawn to the shared ones."""
        if not np.isfinite(strength):
            return np.tile(shared, (self.lists.num_groups, 1))
        precision = strength * self._mean_curvature(used, shared)
        prior = Prior(shared[None], precision)
        return minimise(partial(moments, self.lists, used=used), prior, start, self.least, int(used.sum()))

    def _mean_curvature(self, used: NDArray[np.bool_], weights: Reals) -> Reals:
        """Return the curvature of a list's loss, on average over the lists."""
        found = moments(self.lists, np.tile(weights, (self.lists.num_groups, 1)), used).total()
        return found.curvature[0] / max(1, int(used.sum())) + 1e-6 * np.eye(len(weights))
