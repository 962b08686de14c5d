"""Platt's fit is the minimum that another optimiser finds, and thresholds are those of a search over all."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import expit

from clausal.evaluation.probabilities import best_threshold, fit_platt, sigmoid

labelled = st.lists(st.tuples(st.booleans(), st.integers(-4, 4).map(float)), min_size=2, max_size=40).map(
    lambda rows: (np.array([label for label, _ in rows]), np.array([score for _, score in rows]))
)


def platt_loss(weights, labels, scores):
    true, false = labels.sum(), (~labels).sum()
    targets = np.where(labels, (true + 1) / (true + 2), 1 / (false + 2))
    p = np.clip(expit(weights[0] * scores + weights[1]), 1e-300, 1 - 1e-16)
    return -np.sum(targets * np.log(p) + (1 - targets) * np.log1p(-p))


def drawn(seed, count, scale=1.0, shift=0.0, gap=1.0):
    rng = np.random.default_rng(seed)
    labels = rng.random(count) < 0.4
    return labels, scale * (rng.normal(size=count) + gap * labels) + shift


@pytest.mark.parametrize(
    ("labels", "scores"),
    [
        drawn(0, 500),
        drawn(1, 300, scale=1e-3, shift=7.0),
        drawn(2, 300, scale=250.0, shift=-1e4),
        drawn(3, 40, gap=100.0),  # separated: without Platt's targets there is no minimum
        drawn(4, 60, gap=-1.0),
        (np.array([True, False]), np.array([1.0, -1.0])),
    ],
    ids=["plain", "small", "large", "separated", "reversed", "two"],
)
def test_newtons_minimum_is_that_of_another_optimiser(labels, scores):
    slope, intercept = fit_platt(labels, scores)
    centre, spread = scores.mean(), scores.std()
    other = minimize(
        platt_loss, [0.0, 0.0], (labels, (scores - centre) / spread), method="Nelder-Mead",
        options={"xatol": 1e-10, "fatol": 1e-12, "maxiter": 4000},
    )  # fmt: skip
    assert platt_loss([slope, intercept], labels, scores) <= other.fun + 1e-8
    assert slope * spread == pytest.approx(other.x[0], abs=1e-4)
    assert slope * centre + intercept == pytest.approx(other.x[1], abs=1e-4)


def test_the_slope_and_intercept_that_made_the_labels_are_found():
    rng = np.random.default_rng(5)
    scores = rng.normal(size=200_000)
    labels = rng.random(len(scores)) < expit(1.7 * scores - 0.4)
    assert fit_platt(labels, scores) == pytest.approx((1.7, -0.4), abs=0.03)


def test_scores_that_are_all_the_same_give_the_share_of_true_facts():
    slope, intercept = fit_platt(np.array([True] * 30 + [False] * 10), np.full(40, 3.0))
    assert sigmoid(np.array([slope * 3.0 + intercept]))[0] == pytest.approx((30 * 31 / 32 + 10 / 12) / 40)


def test_the_sigmoid_does_not_overflow():
    values = np.array([-1e300, -800.0, -1.0, 0.0, 2.0, 800.0, 1e300])
    np.testing.assert_allclose(sigmoid(values), expit(values), atol=1e-15)


@settings(deadline=None)
@given(labelled)
def test_no_threshold_is_right_more_often(rows):
    labels, scores = rows
    threshold = best_threshold(labels, scores)
    tries = np.concatenate([np.unique(scores), [np.inf]])
    best = max(((scores >= one) == labels).sum() for one in tries)
    assert np.isfinite(threshold)
    assert ((scores >= threshold) == labels).sum() == best


def test_a_threshold_lies_between_the_scores_that_it_tells_apart():
    assert best_threshold(np.array([False, True, False, True]), np.array([0.0, 3.0, 1.0, 4.0])) == 2.0
