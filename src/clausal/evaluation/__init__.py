"""Evaluation: ranking with tie policies and filters, its metrics, classification of labelled facts, calibration."""

from clausal.choices import Filter, Ties
from clausal.evaluation.calibration import Calibration, calibrate
from clausal.evaluation.classification import (
    Classification,
    auc_pr,
    auc_pr_trapezoid,
    auc_roc,
    classify,
    evaluate_labelled,
)
from clausal.evaluation.entailed import EntailedFirst
from clausal.evaluation.evaluate import Evaluation, evaluate
from clausal.evaluation.known import Known
from clausal.evaluation.labelled import label_facts
from clausal.evaluation.protocol import Ranker
from clausal.evaluation.ranking import rank
from clausal.evaluation.ranks import Ranks, metrics

__all__ = [
    "Calibration",
    "Classification",
    "EntailedFirst",
    "Evaluation",
    "Filter",
    "Known",
    "Ranker",
    "Ranks",
    "Ties",
    "auc_pr",
    "auc_pr_trapezoid",
    "auc_roc",
    "calibrate",
    "classify",
    "evaluate",
    "evaluate_labelled",
    "label_facts",
    "metrics",
    "rank",
]
