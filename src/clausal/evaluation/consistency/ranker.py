"""A ranker whose answers obey clauses: every fact scores at least what they demand, and constraints remove the weaker."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import torch
from torch import Tensor

from clausal.evaluation.consistency.closure import Closure
from clausal.evaluation.consistency.demands import demands_of
from clausal.evaluation.consistency.facts import fact_scores
from clausal.evaluation.known import Known
from clausal.evaluation.protocol import Ranker, check_facts, scoring
from clausal.graph.graph import Facts, Graph
from clausal.logic.rules import LeftOut
from clausal.logic.syntax import Clause
from clausal.observer import Observer

CERTAIN = 2.0**126
"""Scores in a list of answers from which facts are certain: they come before all others, in their own order."""
_STEP = 2.0**-23
_NUMBERS_AT_ONCE = 1 << 24


class Consistent:
    """Another ranker's facts, raised to what clauses demand of them; what they forbid scores −∞.

    Facts of train, and what follows from them, are certain: they come before all others, in the order of the ranker's
    own scores. A fact has one score from both sides. Rankings by votes keep their order for relations that no clause
    speaks of.
    """

    def __init__(
        self,
        ranker: Ranker,
        graph: Graph,
        clauses: Sequence[Clause],
        *,
        certain: Facts | None = None,
        memory: int | None = None,
        observer: Observer | None = None,
    ) -> None:
        certain = graph.train if certain is None else certain
        check_facts(certain, ranker)
        self.ranker = ranker
        self.ranking = f"{getattr(ranker, 'ranking', 'model')}, consistent"
        self.num_entities, self.num_relations = ranker.num_entities, ranker.num_relations
        self.device = ranker.device
        self.facts = fact_scores(ranker)
        self.demands = demands_of(clauses, graph.entities, graph.relations)
        self.closure = Closure(
            self.facts,
            self.demands,
            Known(certain, self.num_entities, self.num_relations),
            entities=self.num_entities,
            device=self.device,
            memory=memory,
            observer=observer,
        )

    @property
    def left_out(self) -> tuple[LeftOut, ...]:
        """The clauses that demand nothing of single facts, and why."""
        return self.demands.left_out

    def prepare(self, relations: Iterable[int]) -> None:
        """Compute whole tables for relations of which many facts will be asked for."""
        with scoring(self.ranker):
            for relation in relations:
                self.closure.keep(relation)
                if relation in self.demands.opposed:
                    self.closure.keep(relation + self.num_relations)

    def rows(self, relation: int, turned: bool, ids: Tensor) -> Tensor:
        """Return the scores of (id, r, ?), or of (?, r, id) if turned: ids [b] → [b, entities]; +∞ is certain."""
        with scoring(self.ranker):
            scores = self.closure.answers(relation, turned, ids)
            if relation in self.demands.opposed:
                scores = _removed(scores, self.closure.answers(relation + self.num_relations, turned, ids))
        return scores

    def score(self, subjects: Tensor, relations: Tensor, objects: Tensor) -> Tensor:
        """Score facts by their ids, which broadcast; +∞ is certain, and −∞ is removed."""
        columns = torch.broadcast_tensors(subjects, relations, objects)
        subject, relation, object = (column.reshape(-1) for column in columns)
        found = torch.empty(len(subject), dtype=self.closure.dtype, device=self.device)
        with scoring(self.ranker):
            for one in relation.unique().tolist():
                here = relation == one
                pair = subject[here], object[here]
                scores = self.closure.pairs(one, *pair)
                if one in self.demands.opposed:
                    scores = _removed(scores, self.closure.pairs(one + self.num_relations, *pair))
                found[here] = scores
        return found.reshape(columns[0].shape)

    def score_objects(self, subjects: Tensor, relations: Tensor) -> Tensor:
        """Score all entities as the object of (s, r, ?): ids [queries], scores [queries, entities]."""
        return self._answers(relations, False, subjects)

    def score_subjects(self, relations: Tensor, objects: Tensor) -> Tensor:
        """Score all entities as the subject of (?, r, o): ids [queries], scores [queries, entities]."""
        return self._answers(relations, True, objects)

    def score_relations(self, subjects: Tensor, objects: Tensor) -> Tensor:
        """Score every relation: ids [b], [b] → [b, relations]."""
        relations = torch.arange(self.num_relations, device=self.device)
        scores = self.score(subjects.unsqueeze(-1), relations, objects.unsqueeze(-1))
        with scoring(self.ranker):
            own = torch.stack([self.facts.pairs(one, subjects, objects) for one in relations.tolist()], 1)
        return certain_first(scores, own)

    def own(self, facts: Facts) -> Tensor:
        """Return the scores that facts have without the clauses [facts]."""
        subject, relation, object = torch.from_numpy(facts.astype(np.int64)).to(self.device).unbind(1)
        found = torch.empty(len(subject), dtype=self.closure.dtype, device=self.device)
        with scoring(self.ranker):
            for one in relation.unique().tolist():
                here = relation == one
                found[here] = self.facts.pairs(one, subject[here], object[here])
        return found

    def _answers(self, relations: Tensor, turned: bool, ids: Tensor) -> Tensor:
        found = torch.empty(len(ids), self.num_entities, dtype=self.closure.dtype, device=self.device)
        for relation in relations.unique().tolist():
            places = (relations == relation).nonzero().squeeze(1)
            for some in places.split(max(1, _NUMBERS_AT_ONCE // max(1, self.num_entities))):
                found[some] = self._of_relation(relation, turned, ids[some])
        return found

    def _of_relation(self, relation: int, turned: bool, ids: Tensor) -> Tensor:
        scores = self.rows(relation, turned, ids)
        places = scores.isposinf().nonzero()
        own = self.facts.pairs(relation, *_pair(ids[places[:, 0]], places[:, 1], turned))
        return _put_first(scores, places, own)


def certain_first(scores: Tensor, own: Tensor) -> Tensor:
    """Put what is certain in each row before all else, in the order of own scores."""
    places = scores.isposinf().nonzero()
    return _put_first(scores, places, own[places[:, 0], places[:, 1]])


def _pair(asked: Tensor, answers: Tensor, turned: bool) -> tuple[Tensor, Tensor]:
    return (answers, asked) if turned else (asked, answers)


def _removed(scores: Tensor, against: Tensor) -> Tensor:
    """Remove facts against which there is as much as for them; what is certain stays."""
    return torch.where((against >= scores) & ~scores.isposinf(), -torch.inf, scores)


def _put_first(scores: Tensor, places: Tensor, own: Tensor) -> Tensor:
    """Give the places [k, 2] finite scores above all others, in each row in the order of their own."""
    if len(places):
        values, order = own.sort(stable=True)
        order = order[places[order, 0].sort(stable=True).indices]
        rows, values = places[order, 0], own[order]
        new_row = torch.cat([rows.new_ones(1, dtype=torch.bool), rows[1:] != rows[:-1]])
        higher = torch.cat([rows.new_ones(1, dtype=torch.bool), values[1:] > values[:-1]]) & ~new_row
        level = higher.long().cumsum(0)
        first = level[new_row].repeat_interleave(new_row.nonzero().squeeze(1).diff(append=rows.new_tensor([len(rows)])))
        scores[places[order, 0], places[order, 1]] = (CERTAIN * (1 + _STEP * (level - first).double())).to(scores.dtype)
    return scores
