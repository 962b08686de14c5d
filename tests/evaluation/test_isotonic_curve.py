"""The curve is scikit-learn's isotonic regression where bins hold all facts of one probability."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.isotonic import IsotonicRegression

from clausal.evaluation.probabilities import fit_curve


def test_the_curve_is_that_of_scikit_learn_but_for_smoothing():
    rng = np.random.default_rng(0)
    probabilities = rng.integers(12, size=40_000) / 12  # about 3,000 facts each, so that smoothing hardly shows
    labels = rng.random(len(probabilities)) < 0.5 + 0.4 * np.sin(5 * probabilities)  # which rises, falls and rises
    other = IsotonicRegression().fit(probabilities, labels)
    levels = np.unique(probabilities)
    np.testing.assert_allclose(fit_curve(labels, probabilities)(levels), other.predict(levels), atol=1e-3)


@settings(deadline=None)
@given(st.lists(st.tuples(st.booleans(), st.floats(0, 1)), min_size=1, max_size=120))
def test_the_curve_rises_within_0_and_1(rows):
    labels, probabilities = np.array([label for label, _ in rows]), np.array([p for _, p in rows])
    curve = fit_curve(labels, probabilities)
    assert np.all(np.diff(curve.start) > 0)
    assert np.all(np.diff(curve.end) >= 0)
    assert 0 < curve.end[0] <= curve.end[-1] < 1


def test_facts_that_are_all_alike_have_the_share_of_true_ones():
    curve = fit_curve(np.array([True] * 60 + [False] * 20), np.full(80, 0.5))
    assert curve(np.array([0.0, 0.5, 1.0])) == pytest.approx([61 / 82] * 3)
