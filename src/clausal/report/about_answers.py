"""The section with sample answers: questions drawn at random, what the model says, and why."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from clausal.choices import RankingName
from clausal.drawing import Html, join, paragraphs, tag
from clausal.graph.query import Fact, Question, name_fact
from clausal.report.material import Material
from clausal.run import Answer, Run
from clausal.run.html import answers_html, explanation_html

QUESTIONS = 6
_ANSWERS = 5
_EXPLAINED = 2
_RANKED = {
    "model": "Answers are in the order of the model's scores.",
    "entailed": "What train has or entails comes first, then the model's order.",
    "fused": "Answers are in the order of the model and votes of rules.",
}


def answers_section(material: Material) -> Html:
    """Ask questions whose answers are facts of test, or of train where there are none, and explain the answers."""
    run, split = material.run, material.split or "train"
    facts = sample_facts(run, split)
    if not facts:
        return paragraphs("The graph has no facts to ask about.")
    ranking: RankingName = "entailed" if material.closure is not None else "fused" if run.is_fused else "model"
    questions: list[Question] = [(fact.subject, fact.relation, None) for fact in facts]
    found: list[object] = [
        paragraphs(
            f"Questions from facts of {split}, drawn at random, not chosen for how they come out. " + _RANKED[ranking]
        )
    ]
    for fact, answers in zip(facts, run.predict(questions, k=_ANSWERS, ranking=ranking), strict=True):
        found.append(_one(material, fact, answers))
    return join(found)


def _one(material: Material, fact: Fact, answers: Sequence[Answer]) -> Html:
    run = material.run
    names = material.names
    found: list[object] = [
        tag("h3", f"{names.relation(fact.relation)}({names.entity(fact.subject)}, ?)"),
        paragraphs(f"{material.split or 'train'} says {names.entity(fact.object)}."),
        answers_html(answers, names),
    ]
    if material.closure is not None:
        open_ones = [one for one in answers if one.split != "train"][:_EXPLAINED]
        found += [explanation_html(one, names) for one in run.explain(open_ones)]
    return join(found)


def sample_facts(run: Run, split: str, most: int = QUESTIONS) -> list[Fact]:
    """Draw facts of a split, the same ones each time: one of each relation, and of few relations several."""
    facts = run.graph.splits[split]
    order = np.random.default_rng(0).permutation(len(facts))
    first: list[Sequence[int]] = []
    rest: list[Sequence[int]] = []
    seen: set[int] = set()
    for row in facts[order[: 100 * most]].tolist():
        (rest if row[1] in seen else first).append(row)
        seen.add(row[1])
    return [name_fact(run.graph, row) for row in [*first, *rest][:most]]
