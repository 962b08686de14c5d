"""Areas under the precision-recall and the ROC curve of labelled facts."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from clausal.errors import InputError


def auc_pr(labels: ArrayLike, scores: ArrayLike) -> float:
    """Return the average precision, Σ (Rₙ − Rₙ₋₁)·Pₙ over the distinct scores from high to low.

    Facts with equal scores enter together, so their order does not matter. Precision is not interpolated: the
    area under straight lines between the points can be far larger where scores tie, and would reward a
    predictor that cannot decide.
    """
    true, false = _cumulative(labels, scores)
    gains = np.diff(true, prepend=0)
    return float(np.sum(gains * true / (true + false)) / true[-1])


def auc_roc(labels: ArrayLike, scores: ArrayLike) -> float:
    """Return the probability that a true fact scores above a false one, ties counting half."""
    true, false = _cumulative(labels, scores)
    below = false[-1] - false  # false facts that score less than each distinct score
    won = np.diff(true, prepend=0) * (below + 0.5 * np.diff(false, prepend=0))
    return float(np.sum(won) / (true[-1] * false[-1]))


def _cumulative(labels: ArrayLike, scores: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Count the true and the false facts that score at least each distinct score, from high to low."""
    truth, values = np.asarray(labels), np.asarray(scores, dtype=np.float64)
    if truth.shape != values.shape or truth.ndim != 1:
        raise InputError(f"expected one label per score; found {truth.size} labels and {values.size} scores")
    if not np.isin(truth, (0, 1)).all():
        raise InputError("labels must be 0 (false) or 1 (true)")
    if np.isnan(values).any():
        raise InputError("scores must be numbers; found NaN")
    positives = int(truth.sum())
    if positives in (0, len(truth)):
        kind = "true" if positives else "false"
        raise InputError(
            f"all {len(truth)} labelled facts are {kind}; areas under curves need true and false facts"
            if len(truth)
            else "there are no labelled facts; areas under curves need true and false facts"
        )
    order = np.argsort(-values, kind="stable")
    last_of_ties = np.append(np.flatnonzero(np.diff(values[order])), len(order) - 1)
    true = np.cumsum(truth[order].astype(np.float64))
    return true[last_of_ties], (last_of_ties + 1) - true[last_of_ties]
