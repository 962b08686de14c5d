"""Answers to questions by name: every fact that could answer one is scored, and the best are named.

Each answer can say whether train has it or entails it by clauses; those that follow can come before all others.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple, TypedDict

import numpy as np
import torch
from torch import Tensor

from clausal.choices import RankingName
from clausal.errors import InputError
from clausal.evaluation import Calibration
from clausal.evaluation.protocol import score_facts
from clausal.graph.graph import Facts, Graph
from clausal.graph.query import Query, Question, query_ids, read_query
from clausal.logic.printer import print_certainty
from clausal.logic.syntax import Clause
from clausal.observer import Observer
from clausal.run.best_answers import AnswerRanker, Asking
from clausal.run.known_facts import KnownFacts, SortedFacts

if TYPE_CHECKING:
    from clausal.evaluation.consistency import Consistent

Entailed = Literal["first"]
"""What to do with the facts that train entails: put them before all others."""
Entailment = Literal["known", "entailed", "by a rule", "by rules", "raised", "removed", "predicted"]
"""Whether train has a fact, entails it by clauses without exceptions, says so by one rule or several that have some,
or none of these, so that the model alone predicts it. Of consistent scores: whether clauses raise or remove it."""


class PredictOptions(TypedDict, total=False):
    """The options of ``Run.predict``."""

    new: bool
    ranking: RankingName | None
    entailed: Entailed | None
    clauses: Sequence[Clause] | None
    consistent: bool
    observer: Observer | None


class Answer(NamedTuple):
    """One answer to a question, in names; ``split`` says where the graph has the fact, if it has it.

    ``probability`` is that of the fact among as many random corruptions, None where the run has no calibration;
    ``verdict`` says whether train has or entails the fact, where entailed answers were asked to come first, and
    ``confidence`` that of the least sure rule where it follows by rules with exceptions.
    """

    rank: int
    subject: str
    relation: str
    object: str
    score: float
    known: bool
    split: str | None
    probability: float | None = None
    verdict: Entailment | None = None
    confidence: float | None = None

    @property
    def status(self) -> str | None:
        """The verdict in words, with the confidence of rules."""
        return None if self.verdict is None else status(self.verdict, self.confidence)


def status(verdict: Entailment, confidence: float | None) -> str:
    """Write a verdict, with the confidence of the rules where they have exceptions."""
    if confidence is None or verdict not in ("by a rule", "by rules"):
        return verdict
    more = " or more" if verdict == "by rules" else ""
    return f"{verdict} of confidence {print_certainty(confidence)}{more}"


def read_queries(questions: Iterable[Question], graph: Graph) -> list[Query]:
    """Read questions; an error says which of them it is about."""

    def read(number: int, question: Question) -> Query:
        try:
            return read_query(question, graph)
        except InputError as error:
            raise InputError(f"question {number}: {error}") from None

    return [read(number, question) for number, question in enumerate(questions, 1)]


def predict(
    asking: Asking,
    graph: Graph,
    queries: Sequence[Query],
    k: int = 10,
    *,
    new: bool = False,
    closure: SortedFacts | None = None,
    calibration: Calibration | None = None,
    consistent: Consistent | None = None,
) -> list[list[Answer]]:
    """Return the k best answers to each query; ``new`` leaves out the facts that the graph has.

    Facts of ``closure`` come before all others. ``consistent`` is the ranker, where answers are to obey clauses.
    """
    if k < 1:
        raise InputError(f"k must be at least 1; got {k}")
    k = min(k, max(len(graph.entities), len(graph.relations)))
    best = asking.best([query_ids(query, graph) for query in queries], k, new=new, first=closure)
    if consistent is not None:
        from clausal.run.consistency import settled, standings

        best = [settled(one) for one in best]
    facts = np.concatenate([np.empty((0, 3), np.int64), *(one.facts for one in best)])
    splits = asking.known.split_numbers(facts)
    verdicts = None if closure is None else entailments(facts, asking.known, closure)
    chances = None
    if consistent is not None:
        scores = np.concatenate([np.empty(0), *(one.scores for one in best)])
        verdicts = standings(consistent, facts, scores, asking.known)
        chances = None if calibration is None else calibration.probabilities(scores, facts[:, 1]).tolist()
    elif calibration is not None and len(facts):
        # Scored as facts, which is what was calibrated: a model may score them otherwise as answers to a question.
        chances = calibration.probabilities(score_facts(asking.ranker, facts), facts[:, 1]).tolist()
    answers = [
        Answer(
            rank=rank,
            subject=graph.entities[subject],
            relation=graph.relations[relation],
            object=graph.entities[object],
            score=score,
            known=split >= 0,
            split=asking.known.split_name(split),
            probability=None if chances is None else chances[place],
            verdict=None if verdicts is None else verdicts[place],
        )
        for place, (rank, score, (subject, relation, object), split) in enumerate(
            zip(
                [rank for one in best for rank in range(1, 1 + len(one.scores))],
                [score for one in best for score in one.scores.tolist()],
                facts.tolist(),
                splits.tolist(),
                strict=True,
            )
        )
    ]
    ends = np.cumsum([len(one.scores) for one in best]).tolist()
    return [answers[end - len(one.scores) : end] for one, end in zip(best, ends, strict=True)]


def entailments(
    facts: Facts, known: KnownFacts, closure: SortedFacts, certain: SortedFacts | None = None
) -> list[Entailment]:
    """Say of each fact whether train has it, it is in the closure, or neither.

    ``certain`` is what follows by clauses without exceptions, and tells the rest of the closure from it.
    """
    names: list[Entailment] = ["known", "entailed", "by rules", "predicted"]
    follows = np.where((closure if certain is None else certain).has(facts), 1, 2)
    places = np.where(known.train.has(facts), 0, np.where(closure.has(facts), follows, 3))
    return [names[place] for place in places.tolist()]


def candidates(query: Query, graph: Graph) -> np.ndarray:
    """Return every fact that could answer the query, as ids [candidates, 3]."""
    sizes = (len(graph.entities), len(graph.relations), len(graph.entities))
    columns = [
        np.arange(size) if given is None else np.array([given])
        for given, size in zip(query_ids(query, graph), sizes, strict=True)
    ]
    return np.stack(np.broadcast_arrays(*columns), 1)


@torch.no_grad()
def score_candidates(predictor: AnswerRanker, query: Query, graph: Graph) -> np.ndarray:
    """Score every fact that could answer the query. Shape [candidates]."""

    def tensor(given: int | None) -> Tensor:
        return torch.tensor([given], device=predictor.device)

    subject, relation, object = query_ids(query, graph)
    if subject is None:
        scores = predictor.score_subjects(tensor(relation), tensor(object))[0]
    elif object is None:
        scores = predictor.score_objects(tensor(subject), tensor(relation))[0]
    elif relation is None:
        scores = predictor.score_relations(tensor(subject), tensor(object))[0]
    else:
        scores = predictor.score(tensor(subject), tensor(relation), tensor(object))
    return scores.double().cpu().numpy()
