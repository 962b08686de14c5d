"""Triple classification: how well scores tell labelled facts apart, and how good their probabilities are.

Areas under the precision-recall and the ROC curve need scores alone. With a calibration there are also labels (accuracy
and F1) and probabilities: log loss, Brier score and expected calibration error.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from clausal.errors import InputError
from clausal.evaluation.calibration import Calibration
from clausal.evaluation.labelled import Labels
from clausal.evaluation.protocol import Ranker, score_facts
from clausal.graph.graph import Facts
from clausal.graph.vocabulary import Names

BINS = 15
"""Bins of equal width from 0 to 1 for the expected calibration error."""

Measures = dict[str, float | None]
"""Measures by name; None for areas under curves where labels are all true or all false."""


def auc_pr(labels: ArrayLike, scores: ArrayLike) -> float:
    """Return the average precision, Σ (Rₙ − Rₙ₋₁)·Pₙ over the distinct scores from high to low.

    Facts with equal scores enter together, so their order does not matter. Precision is not interpolated: the
    area under straight lines between the points can be far larger where scores tie, and would reward a
    predictor that cannot decide.
    """
    true, false = _cumulative(labels, scores)
    gains = np.diff(true, prepend=0)
    return float(np.sum(gains * true / (true + false)) / true[-1])


def auc_pr_trapezoid(labels: ArrayLike, scores: ArrayLike) -> float:
    """Return the area under straight lines between the points of the precision-recall curve, from (0, 1) on.

    Some papers report this for the area; ``auc_pr`` says why it is not the better measure.
    """
    true, false = _cumulative(labels, scores)
    precision, recall = true / (true + false), true / true[-1]
    between = (precision + np.concatenate([[1.0], precision[:-1]])) / 2
    return float(np.sum(np.diff(recall, prepend=0) * between))


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


class Bin(NamedTuple):
    """Facts of similar probability: how many there are, their mean probability, and the share that is true."""

    facts: int
    probability: float
    true: float


def reliability(labels: NDArray[np.bool_], probabilities: NDArray[np.float64], bins: int = BINS) -> list[Bin]:
    """Return the facts by probability, in bins of equal width from 0 to 1; bins without facts are left out."""
    places = np.minimum((probabilities * bins).astype(np.int64), bins - 1)
    counts, sums, true = (
        np.bincount(places, weights=weights, minlength=bins) for weights in (None, probabilities, labels)
    )
    return [Bin(int(n), float(p / n), float(t / n)) for n, p, t in zip(counts, sums, true, strict=True) if n]


def expected_calibration_error(labels: NDArray[np.bool_], probabilities: NDArray[np.float64]) -> float:
    """Return the mean distance of probability and share of true facts over the bins (Guo et al. 2017)."""
    distances = [one.facts * abs(one.probability - one.true) for one in reliability(labels, probabilities)]
    return float(sum(distances) / len(labels))


def brier_score(labels: NDArray[np.bool_], probabilities: NDArray[np.float64]) -> float:
    """Return the mean of (probability − label)²."""
    return float(np.mean((probabilities - labels) ** 2))


def log_loss(labels: NDArray[np.bool_], probabilities: NDArray[np.float64]) -> float:
    """Return the mean of −log of the probability given to the label."""
    given = np.where(labels, probabilities, 1 - probabilities)
    return float(-np.mean(np.log(np.maximum(given, np.finfo(np.float64).tiny))))


@dataclass(frozen=True, eq=False)
class Classification:
    """Labelled facts with their scores, and what these say about the labels."""

    facts: Facts
    labels: Labels
    scores: NDArray[np.float64]
    calibration: Calibration | None
    names: Names

    @cached_property
    def probabilities(self) -> NDArray[np.float64] | None:
        """The probability that each fact is true; None without a calibration."""
        if self.calibration is None:
            return None
        return self.calibration.probabilities(self.scores, self.facts[:, 1])

    @cached_property
    def measures(self) -> Measures:
        """Areas under curves and, with a calibration, accuracy, F1, log loss, Brier score and calibration error."""
        areas = {"auc_pr": auc_pr(self.labels, self.scores), "auc_roc": auc_roc(self.labels, self.scores)}
        return {**areas, **self._calibrated(np.ones(len(self.labels), dtype=np.bool_))}

    @cached_property
    def relations(self) -> dict[str, Measures]:
        """The measures of each relation; areas are None where its facts are all true or all false."""
        found: dict[str, Measures] = {}
        for relation in np.unique(self.facts[:, 1]).tolist():
            rows = self.facts[:, 1] == relation
            labels, scores = self.labels[rows], self.scores[rows]
            both = labels.any() and not labels.all()
            areas = {"auc_pr": auc_pr(labels, scores), "auc_roc": auc_roc(labels, scores)} if both else {}
            found[self.names[relation]] = {"auc_pr": None, "auc_roc": None, **areas, **self._calibrated(rows)}
        return found

    @property
    def reliability(self) -> list[Bin]:
        """The facts by probability, each bin with the share of true facts; empty without a calibration."""
        return [] if self.probabilities is None else reliability(self.labels, self.probabilities)

    def to_dict(self, *, per_relation: bool = False) -> dict[str, Any]:
        """Return what ``clausal evaluate --classify --format json`` prints."""
        relations = {"relations": self.relations} if per_relation else {}
        return {**self.measures, **relations, "reliability": [one._asdict() for one in self.reliability]}

    def _calibrated(self, rows: NDArray[np.bool_]) -> Measures:
        """Return what a calibration says about some of the facts, and how many they are."""
        labels, measures = self.labels[rows], {}
        if self.calibration is not None and self.probabilities is not None:
            taken = self.calibration.taken_for_true(self.scores, self.facts[:, 1])[rows]
            probabilities = self.probabilities[rows]
            measures = {
                "accuracy": float(np.mean(taken == labels)),
                "f1": 2 * int((taken & labels).sum()) / max(1, int(taken.sum() + labels.sum())),
                "log_loss": log_loss(labels, probabilities),
                "brier": brier_score(labels, probabilities),
                "ece": expected_calibration_error(labels, probabilities),
            }
        return {**measures, "count": len(labels), "positives": int(labels.sum())}


def classify(
    predictor: Ranker, facts: Facts, labels: ArrayLike, names: Names, calibration: Calibration | None = None
) -> Classification:
    """Score labelled facts; ``names`` are those of the relations."""
    return Classification(facts, np.asarray(labels), score_facts(predictor, facts), calibration, names)


def evaluate_labelled(predictor: Ranker, facts: Facts, labels: ArrayLike) -> dict[str, float]:
    """Score labelled facts and return ``{"auc_pr", "auc_pr_trapezoid", "auc_roc", "count", "positives"}``."""
    scores = score_facts(predictor, facts)
    return {
        "auc_pr": auc_pr(labels, scores),
        "auc_pr_trapezoid": auc_pr_trapezoid(labels, scores),
        "auc_roc": auc_roc(labels, scores),
        "count": len(scores),
        "positives": int(np.sum(np.asarray(labels))),
    }
