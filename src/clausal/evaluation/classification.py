"""Triple classification of labelled facts: areas under curves and, with a calibration, labels and probabilities."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from clausal.evaluation.areas import auc_pr, auc_roc
from clausal.evaluation.calibration import Calibration
from clausal.evaluation.labelled import Labels
from clausal.evaluation.protocol import Ranker, score_facts
from clausal.evaluation.reliability import Bin, brier_score, expected_calibration_error, log_loss, reliability
from clausal.graph.graph import Facts
from clausal.graph.vocabulary import Names

Measures = dict[str, float | None]


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
    """Score labelled facts and return ``{"auc_pr", "auc_roc", "count", "positives"}``."""
    scores = score_facts(predictor, facts)
    return {
        "auc_pr": auc_pr(labels, scores),
        "auc_roc": auc_roc(labels, scores),
        "count": len(scores),
        "positives": int(np.sum(np.asarray(labels))),
    }
