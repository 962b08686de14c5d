"""Evaluations and classifications as HTML."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from clausal.drawing import Html, join, paragraphs, reliability_chart, table
from clausal.evaluation.classification import Classification
from clausal.evaluation.evaluate import Evaluation

SHOWN = {"mrr": "MRR", "hits@1": "Hits@1", "hits@3": "Hits@3", "hits@10": "Hits@10", "mean_rank": "mean rank"}
SHOWN_RELATIONS = 100


def metrics_row(label: str, metrics: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row of a table of metrics."""
    return {"facts ranked": label, "facts": metrics["count"], **{title: metrics[key] for key, title in SHOWN.items()}}


def evaluation_rows(result: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the rows of what ``Evaluation.to_dict`` returned: the split, its parts, and its two sides."""
    split = str(result["split"])
    rows = [metrics_row(split, result["filtered"]["both"])]
    rows += [metrics_row(part, found["filtered"]["both"]) for part, found in result["parts"].items()]
    return rows + [metrics_row(f"{split}, {side}s", result["filtered"][side]) for side in ("subject", "object")]


def evaluation_html(evaluation: Evaluation) -> Html:
    """Write the metrics of an evaluation, and those of its relations where it has them."""
    about = (
        f"filtered ranking by {evaluation.ranking}, {evaluation.ties} ties, {evaluation.filter} filter; "
        "both sides of each fact are ranked"
    )
    return join([table(evaluation_rows(evaluation.to_dict())), paragraphs(about), relations_html(evaluation)])


def relations_html(evaluation: Evaluation, shown: Callable[[str], str] = str) -> Html:
    """Write the metrics of each relation, those with the most facts first."""
    order = sorted(evaluation.relations.items(), key=lambda item: -item[1]["count"])
    rows = [metrics_row(shown(name), metrics) for name, metrics in order[:SHOWN_RELATIONS]]
    rows = [{"relation": row.pop("facts ranked"), **row} for row in rows]
    more = len(order) - len(rows)
    return join([table(rows), paragraphs(f"and {more:,} more relations" if more > 0 else "")])


def calibration_html(found: Classification) -> Html:
    """Draw how far the probabilities of labelled facts can be trusted; nothing where they cannot be told apart."""
    if found.probabilities is None or found.labels.all():  # a graph that has every fact has no corruptions
        return Html("")
    measures = found.measures
    about = (
        f"{measures['count']:,} facts, {measures['positives']:,} of them true and the others random corruptions. "
        f"Expected calibration error {measures['ece']:.3f}, Brier score {measures['brier']:.3f}; "
        f"{measures['accuracy']:.1%} are taken for what they are."
    )
    title = "how many facts of a probability are true; on the dashed line probabilities are right"
    return join([reliability_chart(found.reliability, title=title), paragraphs(about)])
