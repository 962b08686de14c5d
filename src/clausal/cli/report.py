"""Metrics as rows of a table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from clausal.evaluation import Classification

_COLUMNS = {
    "mrr": "MRR",
    "hits@1": "Hits@1",
    "hits@3": "Hits@3",
    "hits@5": "Hits@5",
    "hits@10": "Hits@10",
    "mean_rank": "mean rank",
    "median_rank": "median rank",
    "count": "facts",
}
_CLASSIFICATION = {
    "accuracy": "accuracy",
    "f1": "F1",
    "auc_pr": "AUC-PR",
    "auc_roc": "AUC-ROC",
    "log_loss": "log loss",
    "brier": "Brier",
    "ece": "ECE",
    "count": "facts",
    "positives": "true",
}


def metric_row(label: str, metrics: Mapping[str, Any], **first: Any) -> dict[str, Any]:
    """Return one row of metrics under their printed names."""
    return {"facts ranked": label, **first, **{title: metrics[key] for key, title in _COLUMNS.items()}}


def evaluation_rows(result: Mapping[str, Any], *, raw: bool = False) -> list[dict[str, Any]]:
    """Return the rows of an evaluation: the split, its sides, its parts, its relations, and raw if wanted."""
    split = str(result["split"])
    rows = [metric_row(split, result["filtered"]["both"])]
    rows += [metric_row(f"{split}, {side}s", result["filtered"][side]) for side in ("subject", "object")]
    rows += [metric_row(part, metrics["filtered"]["both"]) for part, metrics in result["parts"].items()]
    if raw:
        rows.append(metric_row(f"{split}, raw", result["raw"]["both"]))
        rows += [metric_row(f"{part}, raw", metrics["raw"]["both"]) for part, metrics in result["parts"].items()]
    rows += [metric_row(name, metrics) for name, metrics in result["relations"].items()]
    return rows


def classification_rows(result: Classification, what: str, relations: bool) -> list[dict[str, Any]]:
    """Return the rows of a classification: all its facts, and those of each relation if wanted."""
    groups = {what: result.measures, **(result.relations if relations else {})}
    return [
        {"facts classified": name, **{title: found[key] for key, title in _CLASSIFICATION.items() if key in found}}
        for name, found in groups.items()
    ]
