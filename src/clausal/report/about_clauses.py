"""The section on clauses: how each holds in the data and in the model, and what the clauses changed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from clausal.drawing import Html, figures, join, paragraphs, table, tag
from clausal.graph.display import DisplayNames
from clausal.graph.facts import occur_in
from clausal.logic.html import clause_html
from clausal.report.material import Material
from clausal.run import ClauseCertificate
from clausal.run.clause_uses import clause_uses
from clausal.run.html import verdict_html

SHOWN = 500


def clauses_section(material: Material) -> Html:
    """Write each clause with confidence, verdict, bound and worst example."""
    clauses = material.run.clauses
    if not clauses:
        return paragraphs("The run was trained without clauses.")
    found: list[object] = []
    if material.certified is not None:
        about = material.certified.about
        found.append(figures({"clauses": len(clauses), **material.certified.verdicts}))
        if about is not None:
            found.append(paragraphs(_meaning(about.region, about.semantics, about.tolerance)))
    rows = [_row(material, place) for place in range(min(SHOWN, len(clauses)))]
    more = len(clauses) - len(rows)
    found += [table(rows), paragraphs(f"and {more:,} more clauses; clausal certify prints them all" if more else "")]
    return join(found)


def _meaning(region: str, semantics: str, tolerance: float) -> str:
    return (
        "Confidence is the share of what a clause predicts in train that train has. 'Holds for all' is a proof: no "
        f"entity whose vector lies in the region ({region}), known or new, can violate the clause by more than "
        f"{tolerance:g} under {semantics} semantics. The largest violation of any such entity lies between attained "
        "and bound. 'Violated' means that real entities of this graph violate it; the worst ones are named. 'Holds for "
        "decisions' means that they do by some score, but that the model accepts no body without its head; broken "
        "decisions are those that it accepts."
    )


def _row(material: Material, place: int) -> dict[str, Any]:
    names = material.names
    clause = material.run.clauses[place]
    measured = material.measures[place] if place < len(material.measures) else None
    one = None if material.certified is None else material.certified.clauses[place]
    entities = None if one is None else one.entities
    certificate = {
        "verdict": None if one is None else verdict_html(one.verdict),
        "attained": None if one is None else one.attained,
        "bound": None if one is None else one.bound,
        "violations %": None if entities is None else 100 * entities.rate,
        "broken decisions": None if one is None or one.decisions is None else one.decisions.broken,
    }
    return {
        "#": place + 1,
        "clause": join([clause_html(clause, names), _example(one, names)]),
        **(certificate if material.certified is not None else {}),
        "confidence": None if measured is None else measured.confidence,
        "in train": None if measured is None else f"{measured.support:,} of {measured.body:,}",
        "weight": clause.weight,
    }


def _example(one: ClauseCertificate | None, names: DisplayNames) -> Html:
    """Write where a clause is violated most, or why that is not known."""
    if one is None or (one.verdict != "violated" and not one.unchecked):
        return Html("")
    if one.unchecked:
        return tag("div", f"not checked over the entities: {one.unchecked}", class_="muted")
    example = None if one.entities is None else one.entities.example
    return Html("") if example is None else tag("div", f"worst: {example.text(names)}", class_="muted")


def changes_section(material: Material) -> Html:
    """Write what the clauses changed: what follows from them, the inconsistency left, and what a race measured."""
    if not material.run.clauses:
        return Html("")
    found: list[object] = [paragraphs(_follows(material), _inconsistency(material))]
    race = material.run.metrics.get("clauses")
    rows = [row for row in race if isinstance(row, Mapping)] if isinstance(race, list) else []
    if rows:
        columns = ("clause", "kind", "confidence", "used", "weight", "valid facts", "mrr without", "mrr with")
        uses = clause_uses(material.run)
        if len(uses) == len(rows):
            rows = [{**row, "used": used} for row, used in zip(rows, uses, strict=True)]
        shown = [{name: _plain(row.get(name)) for name in columns} for row in rows[:SHOWN]]
        found += [
            tag("h3", "Each clause in the race for settings"),
            paragraphs("MRR is of the valid facts of the clause's head, without and with the clauses in the loss."),
            table(shown),
        ]
    else:
        found.append(
            paragraphs(
                "How much better the model is with its clauses shows beside one trained without them: "
                "clausal compare RUN OTHER."
            )
        )
    return join(found)


def _plain(value: object) -> object:
    return value if value is None or isinstance(value, bool | int | float) else str(value)


def _follows(material: Material) -> str:
    closure, graph, split = material.closure, material.run.graph, material.split
    if closure is None:
        return ""
    text = f"{len(closure.derived):,} facts that train lacks follow from it by the clauses."
    if split is None:
        return text
    facts = graph.splits[split]
    inside = int(occur_in(facts, closure.derived, len(graph.entities), len(graph.relations)).sum())
    return f"{text} {inside:,} of the {len(facts):,} facts of {split} are among them."


def _inconsistency(material: Material) -> str:
    values = [
        record["inconsistency"] for record in material.log if isinstance(record.get("inconsistency"), int | float)
    ]
    if not values or not max(values):
        return ""
    most, last = max(values), values[-1]
    return (
        f"Inconsistency with the clauses, as the adversary found it, went from {most:.3g} at its worst to {last:.3g}."
    )
