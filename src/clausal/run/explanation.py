"""Explanations: why an answer holds, with its proof from train by clauses, or which facts its proof lacks.

Facts that are missing are scored and ranked by the model. Only train facts are given: a fact of valid or test counts
as any other, it follows from train or it does not.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import torch

from clausal.graph.display import DisplayNames
from clausal.graph.facts import occur_in
from clausal.graph.graph import Graph
from clausal.graph.query import Fact, Query, fact_ids, name_fact, print_fact
from clausal.logic.closure import Closure
from clausal.logic.proofs import NearSupport, Proof, Prover, near_to_json, print_near, print_proof, proof_to_json
from clausal.logic.syntax import Clause
from clausal.model.predictor import LinkPredictor
from clausal.run.prediction import Answer, Entailment, candidates, score_candidates, status


class Missing(NamedTuple):
    """A fact that is missing, the model's score for it, and its rank among the objects that train does not have."""

    fact: Fact
    score: float
    rank: int


@dataclass(frozen=True)
class ScoredSupport:
    """A near support without open names, and what the model says of its missing facts."""

    support: NearSupport
    missing: tuple[Missing, ...]


def score_supports(
    predictor: LinkPredictor, graph: Graph, supports: Sequence[NearSupport], most: int
) -> list[ScoredSupport]:
    """Return the best supports: the fewest missing facts first, then those whose lowest score is the highest.

    One entity that is left open is the one that scores best; supports that leave more open are not scored.
    """
    named = [_named(predictor, graph, support) for support in supports if _open_names(support) < 2]
    facts = [[_whole(query) for query in support.missing] for support in named]
    scores = iter(_scores(predictor, graph, [fact for together in facts for fact in together]))
    lowest = [min(next(scores) for _ in together) for together in facts]
    order = sorted(range(len(named)), key=lambda place: (len(facts[place]), -lowest[place]))[:most]
    return [
        ScoredSupport(named[place], tuple(_ranked(predictor, graph, fact) for fact in facts[place])) for place in order
    ]


def _open_names(support: NearSupport) -> int:
    return sum(query.count(None) for query in support.missing)


def _named(predictor: LinkPredictor, graph: Graph, support: NearSupport) -> NearSupport:
    """Put the entity that scores best where a missing fact may have any."""
    return replace(support, missing=tuple(_best(predictor, graph, query) for query in support.missing))


def _best(predictor: LinkPredictor, graph: Graph, query: Query) -> Query:
    if None not in query:
        return query
    rows = candidates(query, graph)
    return Query(*name_fact(graph, rows[score_candidates(predictor, query, graph).argmax()]))


def _whole(query: Query) -> Fact:
    subject, relation, object = query
    assert subject is not None
    assert relation is not None
    assert object is not None
    return Fact(subject, relation, object)


@torch.no_grad()
def _scores(predictor: LinkPredictor, graph: Graph, facts: Sequence[Fact]) -> list[float]:
    if not facts:
        return []
    rows = torch.tensor([fact_ids(fact, graph) for fact in facts], device=predictor.device)
    scores: list[float] = predictor.score(rows[:, 0], rows[:, 1], rows[:, 2]).double().tolist()
    return scores


def _ranked(predictor: LinkPredictor, graph: Graph, fact: Fact) -> Missing:
    query = Query(fact.subject, fact.relation, None)
    scores = score_candidates(predictor, query, graph)
    own = graph.entities.id(fact.object)
    known = occur_in(candidates(query, graph), graph.train, len(graph.entities), len(graph.relations))
    return Missing(fact, float(scores[own]), 1 + int(np.sum(scores[~known] > scores[own])))


@dataclass(frozen=True, eq=False)
class Explanation:
    """An answer with its proof from train, or without one, and then what nearly supports it."""

    answer: Answer
    proof: Proof | None
    near: tuple[ScoredSupport, ...] = ()

    @property
    def verdict(self) -> Entailment:
        """Whether train has the answer, entails it by clauses, says so by rules with exceptions, or does not."""
        return _verdict(self.proof)

    @property
    def confidence(self) -> float | None:
        """The confidence of the least sure rule, where the answer follows by rules with exceptions."""
        return _confidence(self.proof)

    @property
    def status(self) -> str:
        """The verdict in words, with the confidence of rules."""
        return status(self.verdict, self.confidence)

    def __str__(self) -> str:
        return self.text()

    def _repr_html_(self) -> str:
        from clausal.drawing import notebook
        from clausal.run.html import explanation_html

        return notebook(explanation_html(self))

    def text(self, names: DisplayNames | None = None) -> str:
        """Return the explanation as lines, by display names where they are given."""
        number = f"{self.answer.rank}. "
        lines = self._lines(names)
        return "\n".join((" " * len(number) if place else number) + line for place, line in enumerate(lines))

    def _lines(self, names: DisplayNames | None) -> list[str]:
        if self.proof is not None:
            return print_proof(self.proof, names).splitlines()
        fact = print_fact(_fact(self.answer), names)
        if not self.near:
            return [f"{fact}  not entailed, and no clause nearly supports it"]
        lines = [f"{fact}  not entailed; nearest to it:"]
        for near in self.near:
            notes = [f", score {one.score:.3f}, rank {one.rank:,}" for one in near.missing]
            lines += print_near(near.support, notes, names).splitlines()
        return lines

    def to_json(self) -> dict[str, Any]:
        """Return a JSON object: the verdict, the proof or null, and what nearly supports the answer."""
        near = [
            near_to_json(one.support)
            | {"missing": [{**fact._asdict(), "score": score, "rank": rank} for fact, score, rank in one.missing]}
            for one in self.near
        ]
        proof = None if self.proof is None else proof_to_json(self.proof)
        return {"verdict": self.verdict, "confidence": self.confidence, "proof": proof, "near": near}


def explain(
    predictor: LinkPredictor,
    graph: Graph,
    clauses: Sequence[Clause],
    closure: Closure,
    answers: Sequence[Answer],
    most: int = 3,
) -> list[Explanation]:
    """Explain answers by clauses and the closure under them; ``most`` bounds the near supports of each."""
    prover = Prover(graph, clauses, closure)

    def explanation(answer: Answer) -> Explanation:
        fact = _fact(answer)
        proof = prover.prove(fact)
        near = [] if proof is not None else score_supports(predictor, graph, prover.near(fact), most)
        return Explanation(answer, proof, tuple(near))

    return [explanation(answer) for answer in answers]


def _fact(answer: Answer) -> Fact:
    return Fact(answer.subject, answer.relation, answer.object)


def _verdict(proof: Proof | None) -> Entailment:
    if proof is None:
        return "predicted"
    if proof.given:
        return "known"
    if proof.certainty == 1:
        return "entailed"
    return "by a rule" if sum(clause.certainty < 1 for clause in proof.clauses()) == 1 else "by rules"


def _confidence(proof: Proof | None) -> float | None:
    return None if proof is None or proof.certainty == 1 else proof.certainty


def prove_answers(
    answers: Sequence[Answer], graph: Graph, clauses: Sequence[Clause], closure: Closure
) -> Iterator[tuple[Answer, Proof | None]]:
    """Yield answers, those that follow with their proofs, which tell certain clauses from rules with exceptions."""
    prover = Prover(graph, clauses, closure)
    for answer in answers:
        proof = prover.prove(_fact(answer)) if answer.verdict in ("entailed", "by rules") else None
        told = answer if proof is None else answer._replace(verdict=_verdict(proof), confidence=_confidence(proof))
        yield told, proof


def with_rules(answers: Sequence[Answer], graph: Graph, clauses: Sequence[Clause], closure: Closure) -> list[Answer]:
    """Tell the answers that certain clauses entail from those that follow only by rules with exceptions."""
    if all(clause.certainty == 1 for clause in clauses) or all(one.verdict != "entailed" for one in answers):
        return list(answers)
    return [answer for answer, _ in prove_answers(answers, graph, clauses, closure)]
