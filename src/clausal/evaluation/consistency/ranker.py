"""A ranker whose answers obey clauses: a fact scores at least what they demand, and constraints remove the weaker."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from threading import RLock

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from clausal.evaluation.consistency.closure import Closure
from clausal.evaluation.consistency.demands import demands_of
from clausal.evaluation.consistency.facts import FactScores, fact_scores
from clausal.evaluation.known import Known
from clausal.evaluation.protocol import Ranker, check_facts, scoring
from clausal.graph.graph import Facts, Graph
from clausal.graph.vocabulary import Names
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
        self.per_question = bool(getattr(ranker, "per_question", False))
        self._lock = RLock()  # tables that one thread is computing are of no use to another
        self.demands = demands_of(clauses, graph.entities, graph.relations)
        spoken_of = sum(map(self.demands.touches, range(self.num_relations)))
        self.facts = fact_scores(ranker, relations=spoken_of, observer=observer)
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

    def parts(self, facts: Facts) -> list[NDArray[np.int64]]:
        """Return the places of facts to be ranked together: those of a relation with tables of its own, or all."""
        relations = np.unique(facts[:, 1])
        if not self.per_question:
            self.prepare(facts)
            return [np.arange(len(facts))]
        apart = [relation for relation in relations.tolist() if self.demands.touches(relation)]
        places = [np.flatnonzero(~np.isin(facts[:, 1], apart)), *(np.flatnonzero(facts[:, 1] == one) for one in apart)]
        return [part for part in places if len(part)]

    def prepare(self, facts: Facts) -> None:
        """Compute what will be asked for about facts, relations with the same scores together."""
        ends: dict[int, list[Facts]] = {}
        for relation in np.unique(facts[:, 1]).tolist():
            own = facts[facts[:, 1] == relation][:, [0, 2]]
            for symbol in (relation, relation + self.num_relations)[: 1 + (relation in self.demands.opposed)]:
                standing, turned = self.demands.same[symbol]
                ends.setdefault(standing, []).append(own[:, ::-1] if turned else own)
        with self._lock, scoring(self.ranker):
            for symbol, pairs in ends.items():
                both = np.concatenate(pairs).astype(np.int64).T
                self.closure.prepare(symbol, *(torch.from_numpy(np.unique(ids)).to(self.device) for ids in both))

    def rows(self, relation: int, turned: bool, ids: Tensor) -> Tensor:
        """Return the scores of (id, r, ?), or of (?, r, id) if turned: ids [b] → [b, entities]; +∞ is certain."""
        with self._lock, scoring(self.ranker):
            return _consistent_rows(self.closure, relation, turned, ids)

    def score(self, subjects: Tensor, relations: Tensor, objects: Tensor) -> Tensor:
        """Score facts by their ids, which broadcast; +∞ is certain, and −∞ is removed."""
        columns = torch.broadcast_tensors(subjects, relations, objects)
        subject, relation, object = (column.reshape(-1) for column in columns)
        found = torch.empty(len(subject), dtype=self.closure.dtype, device=self.device)
        with self._lock, scoring(self.ranker):
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
        with self._lock, scoring(self.ranker):
            own = torch.stack([self.facts.pairs(one, subjects, objects) for one in relations.tolist()], 1)
        return certain_first(scores, own)

    def own(self, facts: NDArray[np.integer]) -> Tensor:
        """Return the scores that facts have without the clauses [facts]."""
        subject, relation, object = torch.from_numpy(facts.astype(np.int64)).to(self.device).unbind(1)
        found = torch.empty(len(subject), dtype=self.closure.dtype, device=self.device)
        with self._lock, scoring(self.ranker):
            for one in relation.unique().tolist():
                here = relation == one
                found[here] = self.facts.pairs(one, subject[here], object[here])
        return found

    def _answers(self, relations: Tensor, turned: bool, ids: Tensor) -> Tensor:
        by_edges = torch.tensor([self._by_edges_alone(one) for one in range(self.num_relations)], device=self.device)
        simple = by_edges[relations]
        answer = self._as_asked if self.per_question else self._by_edges
        if simple.all():
            return answer(relations, turned, ids)
        found = torch.empty(len(ids), self.num_entities, dtype=self.closure.dtype, device=self.device)
        found[simple] = answer(relations[simple], turned, ids[simple])
        for relation in relations[~simple].unique().tolist():
            places = (relations == relation).nonzero().squeeze(1)
            for some in places.split(max(1, _NUMBERS_AT_ONCE // max(1, self.num_entities))):
                found[some] = self._of_relation(relation, turned, ids[some])
        return found

    def _by_edges_alone(self, relation: int) -> bool:
        """Say whether a relation's scores are the largest of a few rows, or those that it has anyway."""
        if self.per_question:
            return not self.demands.touches(relation)
        return relation not in self.demands.opposed and not self.demands.of(relation)

    def _as_asked(self, relations: Tensor, turned: bool, ids: Tensor) -> Tensor:
        """Answer questions about relations that no clause speaks of as the ranker does; what is known comes first."""
        with self._lock, scoring(self.ranker):
            ask = self.ranker
            scores = ask.score_subjects(relations, ids) if turned else ask.score_objects(ids, relations)
            known = self.closure.known_answers(relations, turned, ids)
        return _put_first(scores, known, scores[known[:, 0], known[:, 1]])

    def _by_edges(self, relations: Tensor, turned: bool, ids: Tensor) -> Tensor:
        with self._lock, scoring(self.ranker):
            found = self.closure.by_edges(relations, turned, ids)
        return _put_first(*found)

    def _of_relation(self, relation: int, turned: bool, ids: Tensor) -> Tensor:
        scores = self.rows(relation, turned, ids)
        places = scores.isposinf().nonzero()
        own = self.facts.pairs(relation, *_pair(ids[places[:, 0]], places[:, 1], turned))
        return _put_first(scores, places, own)


def closed_rows(
    facts: FactScores,
    clauses: Sequence[Clause],
    known: Known,
    entities: Names,
    relations: Names,
    device: torch.device,
    observer: Observer | None = None,
) -> Callable[[int, bool, Tensor], Tensor]:
    """Return the consistent scores of facts of any kind as a function: relation, turned, ids [b] → [b, entities]."""
    demands = demands_of(clauses, entities, relations)
    closure = Closure(facts, demands, known, entities=len(entities), device=device, observer=observer)

    def rows(relation: int, turned: bool, ids: Tensor) -> Tensor:
        closure.keep(relation)
        return _consistent_rows(closure, relation, turned, ids)

    return rows


def _consistent_rows(closure: Closure, relation: int, turned: bool, ids: Tensor) -> Tensor:
    scores = closure.answers(relation, turned, ids)
    if relation not in closure.demands.opposed:
        return scores
    return _removed(scores, closure.answers(relation + closure.demands.relations, turned, ids))


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
