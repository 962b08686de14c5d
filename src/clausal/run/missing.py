"""What nearly supports an answer, as the model sees it: how it scores and ranks the facts that are missing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import torch

from clausal.graph.facts import occur_in
from clausal.graph.graph import Graph
from clausal.graph.query import Fact, Query, fact_ids, name_fact
from clausal.logic.proofs import NearSupport
from clausal.model.predictor import LinkPredictor
from clausal.run.prediction import candidates, score_candidates


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
