"""Evaluation: ranking with tie policies and filters, its metrics, and classification of labelled facts."""

from clausal.evaluation.classification import auc_pr, auc_roc, evaluate_labelled
from clausal.evaluation.entailed import EntailedFirst
from clausal.evaluation.evaluate import Evaluation, evaluate
from clausal.evaluation.known import Known
from clausal.evaluation.metrics import metrics
from clausal.evaluation.protocol import Ranker
from clausal.evaluation.ranking import rank
from clausal.evaluation.ranks import Ranks

__all__ = [
    "EntailedFirst",
    "Evaluation",
    "Known",
    "Ranker",
    "Ranks",
    "auc_pr",
    "auc_roc",
    "evaluate",
    "evaluate_labelled",
    "metrics",
    "rank",
]
