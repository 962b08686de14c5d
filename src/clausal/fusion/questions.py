"""Held-out facts as questions, with the lists of candidates that a fusion is fitted on."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray

from clausal.evaluation.known import Known, object_queries, subject_queries
from clausal.evaluation.protocol import Ranker, scoring
from clausal.fusion.drawing import draw_lists
from clausal.fusion.evidence import Evidence
from clausal.fusion.lists import Ids, Lists, join_lists
from clausal.graph.graph import Facts
from clausal.observer import Observer

MOST_FACTS = 20_000
"""Facts that a fusion is fitted on; of more, as many are drawn."""
_MEMORY = 256 * 2**20


def model_scores(predictor: Ranker, entities: Ids, labels: Ids) -> torch.Tensor:
    """Return the model's scores of all entities as answers to questions (entity, label, ?): [questions, entities]."""
    relations = predictor.num_relations
    scores = torch.empty(len(entities), predictor.num_entities, device=predictor.device)
    asked = torch.from_numpy(entities).to(predictor.device)
    relation = torch.from_numpy(labels % relations).to(predictor.device)
    objects = torch.from_numpy(labels < relations).to(predictor.device)
    with scoring(predictor):
        if bool(objects.any()):
            scores[objects] = predictor.score_objects(asked[objects], relation[objects]).float()
        if not bool(objects.all()):
            scores[~objects] = predictor.score_subjects(relation[~objects], asked[~objects]).float()
    return scores


def collect_lists(
    predictor: Ranker,
    evidence: Evidence,
    facts: Facts,
    known: Facts,
    *,
    seed: int = 0,
    observer: Observer | None = None,
) -> Lists:
    """Ask for the subject and for the object of each fact, and list the candidates for the answer.

    Other answers that are ``known`` are no candidates.
    """
    entities, relations = evidence.entities, evidence.relations
    rng = np.random.default_rng(seed)
    chosen = np.arange(len(facts))
    if len(facts) > MOST_FACTS:
        chosen = np.sort(rng.choice(len(facts), MOST_FACTS, replace=False))
    index = Known(known, entities, relations, asked=facts[chosen])
    subject, relation, object = facts[chosen].astype(np.int64).T
    asked, labels = np.concatenate([subject, object]), np.concatenate([relation, relation + relations])
    answers, places = np.concatenate([object, subject]), np.tile(chosen, 2)
    order = np.argsort(labels, kind="stable")
    size = max(1, _MEMORY // (8 * entities))
    parts = []
    for start in range(0, len(order), size):
        rows = order[start : start + size]
        parts.append(
            draw_lists(
                model_scores(predictor, asked[rows], labels[rows]).cpu().numpy(),
                evidence,
                asked[rows],
                labels[rows],
                answers[rows],
                _hidden(index, facts[places[rows]], rows < len(chosen), entities, relations),
                rng.integers(2**31, size=len(rows)),
                places[rows],
            )
        )
        if observer is not None:
            observer.advanced("questions", min(start + size, len(order)), len(order), "questions")
    return join_lists(parts)


def _hidden(index: Known, facts: Facts, objects: NDArray[np.bool_], entities: int, relations: int) -> tuple[Ids, Ids]:
    """Return the known answers to questions, the fact's own too: where those of each start, and all of them."""
    rows, found = [], []
    for side, answers, queries in (
        (objects, index.objects, object_queries(facts, relations)),
        (~objects, index.subjects, subject_queries(facts, entities)),
    ):
        here = np.flatnonzero(side)
        known, counts = answers.find(queries[here])
        rows.append(np.repeat(here, counts))
        found.append(known)
    place, entity = np.concatenate(rows), np.concatenate(found).astype(np.int64)
    order = np.argsort(place, kind="stable")
    return np.searchsorted(place[order], np.arange(len(facts) + 1)), entity[order]
