"""What a run says as HTML: answers with their status, explanations, certificates, and the run itself."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from clausal.drawing import Html, figures, html, join, paragraphs, table, tag
from clausal.evaluation.html import evaluation_rows
from clausal.graph.display import DisplayNames
from clausal.graph.html import name_html
from clausal.logic.html import clause_html
from clausal.run.prediction import Answer
from clausal.run.verdicts import ClauseCertificate

if TYPE_CHECKING:
    from clausal.run.certification import Certification
    from clausal.run.explanation import Explanation
    from clausal.run.run import Run

_GOOD = ("holds for all", "holds on this graph", "holds for decisions", "known", "entailed")
_BAD = ("violated", "not for all")


def answers_html(answers: Sequence[Answer], names: DisplayNames | None = None) -> Html:
    """Write answers as a table: the fact, its score, its probability, and whether it is known, follows or neither."""
    chances = any(one.probability is not None for one in answers)
    return table([_answer_row(one, names, chances) for one in answers])


def _answer_row(answer: Answer, names: DisplayNames | None, chances: bool) -> dict[str, Any]:
    chance = {} if not chances else {"probability": answer.probability}
    return {
        "#": answer.rank,
        "subject": _entity(answer.subject, names),
        "relation": answer.relation if names is None else name_html(answer.relation, names.relation(answer.relation)),
        "object": _entity(answer.object, names),
        "score": answer.score,
        **chance,
        "status": verdict_html(status_of(answer)),
    }


def _entity(name: str, names: DisplayNames | None) -> Html:
    return html(name) if names is None else name_html(name, names.entity(name))


def status_of(answer: Answer) -> str:
    """Say in a word or two where an answer comes from."""
    if answer.split is not None:
        return f"known, in {answer.split}"
    return answer.status or "predicted"


def verdict_html(verdict: str) -> Html:
    """Write a verdict in the colour of its kind; the words say it too."""
    kind = "good" if verdict.startswith(_GOOD) else "bad" if verdict in _BAD else ""
    return tag("span", verdict, class_=f"verdict {kind}".strip())


def explanation_html(explanation: Explanation, names: DisplayNames | None = None) -> Html:
    """Write why an answer holds, or what its proof lacks."""
    return tag("pre", explanation.text(names), class_="proof")


def certification_html(found: Certification, names: DisplayNames | None = None) -> Html:
    """Write the certificates of clauses, and how many have which verdict."""
    about = f"region {found.region}, {found.semantics} semantics, tolerance {found.tolerance:g}"
    rows = [certificate_row(place, one, names) for place, one in enumerate(found.clauses, 1)]
    return join([figures({"clauses": len(found.clauses), **found.verdicts}), table(rows), paragraphs(about)])


def certificate_row(place: int, one: ClauseCertificate, names: DisplayNames | None = None) -> dict[str, Any]:
    """Return what is known of a clause as a row of a table."""
    found = one.entities
    example = one.unchecked or ""
    if found is not None and found.example is not None and one.verdict == "violated":
        example = found.example.text(names)
    return {
        "#": place,
        "clause": clause_html(one.clause, names),
        "verdict": verdict_html(one.verdict),
        "attained": one.attained,
        "bound": one.bound,
        "violations %": None if found is None else 100 * found.rate,
        "broken decisions": None if one.decisions is None else one.decisions.broken,
        "worst example": example,
    }


def run_html(run: Run) -> Html:
    """Write what a run is: its model, its graph, how it was trained and how well it ranks."""
    found = run.metrics.get("training")
    training = found if isinstance(found, dict) else {}
    split = next((name for name in ("test", "valid") if name in run.metrics), None)
    parts: list[object] = [
        figures(
            {
                "model": run.settings.model.scorer,
                "dim": run.settings.model.dim,
                "clauses": len(run.clauses),
                "entities": len(run.graph.entities),
                "relations": len(run.graph.relations),
                "epochs": training.get("epochs"),
                "seconds": training.get("seconds"),
            }
        )
    ]
    if split is not None:
        with suppress(KeyError, TypeError, AttributeError):  # of a file that is not what it should be
            parts.append(table(evaluation_rows(run.metrics[split])))
    about = f"trained on {run.graph.name}" + (f", in {run.path}" if run.path is not None else "")
    return join([*parts, paragraphs(about, "rules vote: ask with ranking='fused'" if run.is_fused else "")])
