"""Why an answer has its fused score: what the model and each rule contributed, with an instance of each rule."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from clausal.fusion.evidence import BEST, FEATURES, MODEL, VOTES, Evidence, vote_features
from clausal.fusion.naming import attribute_clause, edge_fact, path_clause, path_instance
from clausal.fusion.questions import model_scores
from clausal.fusion.ranker import Fused
from clausal.graph.display import DisplayNames
from clausal.graph.graph import Graph
from clausal.graph.query import Fact, print_fact
from clausal.logic.mining import SOME
from clausal.logic.parser import parse_clause
from clausal.logic.printer import print_clause


@dataclass(frozen=True)
class Contribution:
    """One part of a fused score: of the model, of a rule, or of how often train has the answer in this place.

    A rule has its ``clause``, its ``confidence`` with the counts behind it, and the facts of train that it used.
    """

    of: str
    value: float
    clause: str | None = None
    confidence: float | None = None
    support: float | None = None
    predictions: float | None = None
    facts: tuple[Fact, ...] = ()

    def __str__(self) -> str:
        return self.text()

    def text(self, names: DisplayNames | None = None) -> str:
        """Return the part as lines, by display names where they are given."""
        if self.clause is None:
            return f"{self.value:+.3f}  {self.of}"
        clause = self.clause if names is None else print_clause(parse_clause(self.clause), names)
        counts = f"{self.support:,.0f} of {self.predictions:,.0f} predictions are facts of train"
        proof = "".join(f"\n          {print_fact(fact, names)}" for fact in self.facts)
        return f"{self.value:+.3f}  {clause}  (confidence {self.confidence:.3f}: {counts}){proof}"

    def to_json(self) -> dict[str, Any]:
        """Return a JSON object."""
        values = {**vars(self), "facts": [fact._asdict() for fact in self.facts]}
        return {name: value for name, value in values.items() if value not in (None, [])}


@dataclass(frozen=True)
class FusedExplanation:
    """The contributions to the fused score of an answer, the largest first; they sum to the score."""

    rank: int
    fact: Fact
    score: float
    contributions: tuple[Contribution, ...]

    def __str__(self) -> str:
        return self.text()

    def text(self, names: DisplayNames | None = None) -> str:
        """Return the explanation as lines, by display names where they are given."""
        number = f"{self.rank}. "
        lines = [f"{number}{print_fact(self.fact, names)}  score {self.score:.3f}"]
        return "\n".join([*lines, *(" " * len(number) + one.text(names) for one in self.contributions)])

    def to_json(self) -> dict[str, Any]:
        """Return a JSON object."""
        return {"contributions": [one.to_json() for one in self.contributions]}


def contributions(
    ranker: Fused, graph: Graph, entity: int, label: int, answer: int, share: float = 1.0
) -> list[Contribution]:
    """Return what makes up the score of an answer to the question (entity, label, ?), each part times ``share``."""
    evidence, weights = ranker.evidence, share * ranker.weights[label]
    asked, labels = np.array([entity]), np.array([label])
    score = float(model_scores(ranker.predictor, asked, labels)[0, answer])
    found = [Contribution(MODEL, float(weights[0]) * score)]
    votes = evidence.voting.votes(asked, labels)
    place = np.flatnonzero(votes.answers == answer)
    if len(place):
        values = vote_features(votes)[place[0]]
        for kind, name in enumerate(VOTES):
            value = float(weights[1 + kind] * values[kind])
            if not value:
                continue
            rule = _best_rule(evidence, graph, kind, entity, label, answer) if name in BEST else None
            found.append(Contribution(name, value) if rule is None else Contribution(name, value, **rule))
    often = float(evidence.frequency(label)[answer])
    _, others = evidence.linked(asked)
    rest = ((often > 0), often, bool((others == answer).any()))
    for name, weight, value in zip(FEATURES[-3:], weights[-3:].tolist(), rest, strict=True):
        if weight * value:
            found.append(Contribution(name, float(weight * value)))
    return sorted(found, key=lambda one: -abs(one.value))


def _best_rule(
    evidence: Evidence, graph: Graph, kind: int, entity: int, label: int, answer: int
) -> dict[str, Any] | None:
    """Return the most confident rule of a kind that votes for an answer, as arguments of a contribution."""
    if kind == 0:
        return _best_path(evidence, graph, entity, label, answer)
    back = (label + evidence.relations) % (2 * evidence.relations)
    if kind == 1:
        return _best_attribute(evidence, graph, entity, label, answer, asked=True)
    return _best_attribute(evidence, graph, answer, back, entity, asked=False)


def _best_path(evidence: Evidence, graph: Graph, entity: int, label: int, answer: int) -> dict[str, Any] | None:
    paths = evidence.rules.paths
    start, end = (entity, answer) if label < evidence.relations else (answer, entity)
    side = label // evidence.relations
    confidence = paths.answer_confidence[:, side]
    rules = np.flatnonzero(paths.heads == label % evidence.relations)
    for rule in rules[np.argsort(-confidence[rules], kind="stable")].tolist():
        path = path_instance(evidence, paths.bodies[rule], start, end)
        if path is not None:
            labels = [int(one) for one in paths.bodies[rule] if one >= 0]
            return {
                "clause": path_clause(graph, int(paths.heads[rule]), paths.bodies[rule]),
                "confidence": float(confidence[rule]),
                "support": float(paths.support[rule]),
                "predictions": float(paths.known[rule, side]),
                "facts": tuple(edge_fact(graph, *edge) for edge in zip(path, labels, path[1:], strict=False)),
            }
    return None


def _best_attribute(
    evidence: Evidence, graph: Graph, holder: int, label: int, entity: int, *, asked: bool
) -> dict[str, Any] | None:
    """Return the best rule that says of ``holder``, by one of its attributes, that it has (label, entity)."""
    rules, edges = evidence.rules.beside_a_model, evidence.edges
    first, last = np.searchsorted(edges.source, [holder, holder + 1])
    held = {
        (int(one), int(other)) for one, other in zip(edges.label[first:last], edges.target[first:last], strict=True)
    }
    held = {(one, other) for one, other in held if other != holder}
    held |= {(one, SOME) for one, _ in held} | ({(label, SOME)} if asked else set())
    head = np.flatnonzero((rules.attribute_label == label) & (rules.attribute_entity == entity))
    candidates = np.flatnonzero(np.isin(rules.heads, head))
    confidence = rules.confidence
    for rule in candidates[np.argsort(-confidence[candidates], kind="stable")].tolist():
        body = int(rules.bodies[rule])
        pair = int(rules.attribute_label[body]), int(rules.attribute_entity[body])
        if pair in held:
            return {
                "clause": attribute_clause(graph, rules, rule),
                "confidence": float(confidence[rule]),
                "support": float(rules.support[rule]),
                "predictions": float(rules.entities_with[body]),
                "facts": _body_facts(evidence, graph, holder, *pair),
            }
    return None


def _body_facts(evidence: Evidence, graph: Graph, holder: int, label: int, entity: int) -> tuple[Fact, ...]:
    """Return the fact that gives an entity its attribute; of one that matters to no rule, the first that train has."""
    if entity == SOME:
        source, target = evidence.edges.of_label[label]
        others = [one for one in target[source == holder].tolist() if one != holder]
        if not others:
            return ()  # the question itself says that there is one
        entity = others[0]
    return (edge_fact(graph, holder, label, entity),)
