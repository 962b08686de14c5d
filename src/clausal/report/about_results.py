"""The section on results: how well the model ranks, by part and relation, and what its probabilities are worth."""

from __future__ import annotations

from clausal.drawing import Html, bar_chart, figures, join, paragraphs, table, tag
from clausal.evaluation.html import calibration_html, evaluation_rows, metrics_row, relations_html
from clausal.report.material import Material

_PARTS = {"test-I": "does not follow from train by the clauses", "test-II": "follows from train by the clauses"}
_RANKINGS = {"entailed": "what train entails first, then the model", "fused": "the model and votes of rules"}
_BARS = 12


def results_section(material: Material) -> Html:
    """Write how good the model is, and where."""
    evaluation = material.evaluation
    if evaluation is None:
        return paragraphs("There are no facts to measure the model by: the graph has neither test nor valid facts.")
    both = evaluation.filtered["both"]
    names = material.names
    found: list[object] = [
        figures(
            {
                "MRR": both["mrr"],
                "Hits@1": both["hits@1"],
                "Hits@10": both["hits@10"],
                "median rank": both["median_rank"],
                "facts": both["count"],
            }
        ),
        paragraphs(
            f"Each fact of {evaluation.split} is hidden on one side and then on the other, and ranked among all "
            f"{len(material.run.graph.entities):,} entities; other known facts are left out of the count. MRR is the "
            "mean of 1 / rank, Hits@k the share of ranks up to k.",
            *(f"{name} is what {_PARTS[name]}." for name in evaluation.parts if name in _PARTS),
        ),
        table(evaluation_rows(evaluation.to_dict())),
    ]
    if material.others:
        found += [tag("h3", "Other rankings of the same facts"), table(_ranking_rows(material))]
    if len(evaluation.relations) > 1:
        counts = sorted(evaluation.relations.items(), key=lambda item: -item[1]["count"])[:_BARS]
        bars = [(names.relation(name), metrics["mrr"]) for name, metrics in counts]
        title = f"MRR of the relations with the most facts in {evaluation.split}"
        found += [tag("h3", "By relation"), bar_chart(bars, title=title), relations_html(evaluation, names.relation)]
    if material.classification is not None:
        chart = calibration_html(material.classification)
        found += [tag("h3", "What probabilities are worth"), chart] if chart else []
    return join(found)


def _ranking_rows(material: Material) -> list[dict[str, object]]:
    assert material.evaluation is not None
    by = {"the model": material.evaluation} | {_RANKINGS[name]: one for name, one in material.others.items()}
    rows: list[dict[str, object]] = []
    for what, evaluation in by.items():
        rows.append({"ranking": what, **metrics_row(evaluation.split, evaluation.filtered["both"])})
        for part, metrics in evaluation.parts.items():
            rows.append({"ranking": what, **metrics_row(part, metrics["filtered"]["both"])})
    return rows
