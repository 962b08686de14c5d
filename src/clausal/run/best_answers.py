"""The best answers to many questions at once, in ids: questions of a kind are scored together.

A model that is linear in what is asked for answers by the largest products of a query with the vectors of all entities;
any other ranker scores all candidates, some questions at a time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from clausal.evaluation.largest import Hidden, Ids, Largest, LargestProducts, Values
from clausal.evaluation.protocol import Ranker, not_numbers, scoring
from clausal.evaluation.shared import shared_table
from clausal.model.predictor import LinkPredictor
from clausal.model.row_table import RowTable
from clausal.model.scorers.base import MultilinearScorer
from clausal.run.known_facts import KnownFacts, SortedFacts

if TYPE_CHECKING:
    from clausal.evaluation.index import VectorIndex

_SCORES_AT_ONCE = 1 << 22
_RELATIONS_AT_ONCE = 1 << 15

QuestionIds = tuple[int | None, int | None, int | None]
"""Ids of subject, relation and object; None for what is asked. Without a None it is a whole fact."""


class AnswerRanker(Ranker, Protocol):
    """A ranker that can also be asked which relation two entities have."""

    def score_relations(self, subjects: Tensor, objects: Tensor) -> Tensor:
        """Score every relation: ids [b], [b] → [b, relations]."""


class BestFacts(NamedTuple):
    """The facts that answer a question best, best first."""

    facts: Ids  # [at most k, 3]
    scores: Values  # [at most k]


class _Scored(Protocol):
    """Questions with scores for all candidates, computed already or not."""

    def find(self, k: int, hidden: Hidden) -> list[Largest]:
        """Return the k best candidates of each question that are not hidden from it."""

    def scores(self, questions: Ids, ids: Ids) -> Values:
        """Return the scores of pairs of a question and a candidate."""


class _Products(NamedTuple):
    queries: Tensor
    products: LargestProducts

    def find(self, k: int, hidden: Hidden) -> list[Largest]:
        return self.products.find(self.queries, k, hidden)

    def scores(self, questions: Ids, ids: Ids) -> Values:
        return self.products.scores(self.queries, questions, ids)


class _Rows:
    def __init__(self, scores: Tensor) -> None:
        self._rows: Values = scores.double().cpu().numpy()  # [questions, candidates]
        if np.isnan(self._rows).any():
            raise not_numbers()

    def find(self, k: int, hidden: Hidden) -> list[Largest]:
        order = np.argsort(hidden.queries, kind="stable")
        starts = np.searchsorted(hidden.queries[order], np.arange(len(self._rows) + 1))
        left_out = hidden.ids[order]
        return [
            best_of(row, k, left_out[start:end])
            for row, start, end in zip(self._rows, starts[:-1], starts[1:], strict=True)
        ]

    def scores(self, questions: Ids, ids: Ids) -> Values:
        found: Values = self._rows[questions, ids]
        return found


def best_of(scores: Values, k: int, left_out: Ids) -> Largest:
    """Return the k best of some candidates [candidates]; of equal ones those of the lowest ids."""
    offered = np.ones(len(scores), np.bool_)
    offered[left_out] = False
    ids = np.flatnonzero(offered)
    values = scores[ids]
    if len(ids) > k:
        least = np.partition(values, len(ids) - k)[len(ids) - k]
        ids, values = ids[values >= least], values[values >= least]
    order = np.lexsort((ids, -values))[:k]
    return Largest(ids[order], values[order])


class _Dealt(NamedTuple):
    """Candidates that are dealt over processes: the best of all are among the best that each finds of its own."""

    own: _Scored
    table: RowTable

    def find(self, k: int, hidden: Hidden) -> list[Largest]:
        own, places = self._own(hidden.ids)
        found = self.own.find(k, Hidden(hidden.queries[own], places))
        ids = self.table.dealing.own_ids().cpu().numpy()
        pairs = np.full((len(found), k, 2), -1.0)  # an id and its score; float64 has room for every id
        for row, one in enumerate(found):
            pairs[row, : len(one.ids), 0], pairs[row, : len(one.ids), 1] = ids[one.ids], one.scores
        everywhere = self.table.peers.from_all(torch.from_numpy(pairs).to(self.table.weight.device)).cpu().numpy()
        return [_best_pairs(some.reshape(-1, 2), k) for some in everywhere.swapaxes(0, 1)]

    def scores(self, questions: Ids, ids: Ids) -> Values:
        own, places = self._own(ids)
        found = np.zeros(len(ids))
        found[own] = self.own.scores(questions[own], places)
        summed: Values = self.table.peers.sum_(torch.from_numpy(found).to(self.table.weight.device)).cpu().numpy()
        return summed  # of which one process has each, and the others add 0

    def _own(self, ids: Ids) -> tuple[NDArray[np.bool_], Ids]:
        """Say which ids are of this process, and where these lie in its table."""
        dealing, every = self.table.dealing, torch.from_numpy(ids)
        own = dealing.owners(every) == dealing.rank
        return own.numpy(), dealing.places(every[own]).numpy()


def _best_pairs(pairs: Values, k: int) -> Largest:
    ids, scores = pairs[pairs[:, 0] >= 0].T
    order = np.lexsort((ids, -scores))[:k]
    return Largest(ids[order].astype(np.int64), scores[order])


@dataclass(frozen=True, eq=False)
class Asking:
    """Answers questions by a ranker; ``products`` are with the vectors of the ranker's entities, if it is linear."""

    ranker: AnswerRanker
    known: KnownFacts
    products: LargestProducts | None = None

    def best(
        self, questions: Sequence[QuestionIds], k: int, *, new: bool = False, first: SortedFacts | None = None
    ) -> list[BestFacts]:
        """Return the k best facts for each question, without those of the graph if ``new``.

        Facts of ``first`` come before all others.
        """
        found: dict[int, BestFacts] = {}
        kinds = [question.index(None) if None in question else -1 for question in questions]
        with scoring(self.ranker):
            for kind, size in (
                (0, self._rows_at_once),
                (2, self._rows_at_once),
                (1, self._pairs_at_once),
                (-1, 1 << 15),
            ):
                places = [place for place, one in enumerate(kinds) if one == kind]
                for start in range(0, len(places), size):
                    some = places[start : start + size]
                    ids = np.array([[-1 if one is None else one for one in questions[place]] for place in some])
                    found |= zip(some, self._of_kind(kind, ids, k, new, first), strict=True)
        return [found[place] for place in range(len(questions))]

    @property
    def _rows_at_once(self) -> int:
        return _SCORES_AT_ONCE if self.products else max(1, _SCORES_AT_ONCE // max(1, self.ranker.num_entities))

    @property
    def _pairs_at_once(self) -> int:
        return max(1, _RELATIONS_AT_ONCE // max(1, self.ranker.num_relations))

    def _of_kind(self, kind: int, ids: Ids, k: int, new: bool, first: SortedFacts | None) -> list[BestFacts]:
        """Answer questions that all ask for the same place of a fact, or for none (−1). Ids are [questions, 3]."""
        hidden = _together([self._pairs(kind, ids, split) for split in self.known.splits] if new else [])
        scored = self._scored(kind, ids)
        if first is None:
            best = scored.find(k, hidden)
        else:
            before = _without(self._pairs(kind, ids, first), hidden)
            best = _put_first(before, scored.scores(*before), scored.find(k, _together([hidden, before])), k)
        return [BestFacts(_facts(kind, row, one.ids), one.scores) for row, one in zip(ids, best, strict=True)]

    def _scored(self, kind: int, ids: Ids) -> _Scored:
        ranker = self.ranker
        subjects, relations, objects = torch.from_numpy(ids).to(ranker.device).unbind(1)
        if kind == 1:
            return _Rows(ranker.score_relations(subjects, objects))
        if kind == -1:
            return _Rows(ranker.score(subjects, relations, objects).unsqueeze(1))
        table = shared_table(ranker)
        scored = self._scored_here(kind, subjects, relations, objects)
        return scored if table is None else _Dealt(scored, table)

    def _scored_here(self, kind: int, subjects: Tensor, relations: Tensor, objects: Tensor) -> _Scored:
        """Score all entities as subjects (0) or as objects (2), or those that this process has."""
        ranker = self.ranker
        if self.products is not None and isinstance(ranker, LinkPredictor):
            if kind == 2:
                return _Products(ranker.query_objects(ranker.encode(subjects), relations), self.products)
            return _Products(ranker.query_subjects(relations, ranker.encode(objects)), self.products)
        if kind == 2:
            return _Rows(ranker.score_objects(subjects, relations))
        return _Rows(ranker.score_subjects(relations, objects))

    def _pairs(self, kind: int, ids: Ids, facts: SortedFacts) -> Hidden:
        """Return the answers among some facts: pairs of the place of a question and a candidate."""
        subjects, relations, objects = ids.T
        if kind == 2:
            return Hidden(*facts.objects(subjects, relations))
        if kind == 0:
            return Hidden(*facts.subjects(relations, objects))
        candidates = 1 if kind == -1 else self.ranker.num_relations
        rows = np.repeat(ids, candidates, axis=0)
        if kind == 1:
            rows[:, 1] = np.tile(np.arange(candidates), len(ids))
        places = np.flatnonzero(facts.has(rows))
        return Hidden(places // candidates, places % candidates)


def products_of(predictor: LinkPredictor, index: VectorIndex | None = None) -> LargestProducts | None:
    """Return the products with the entities of a predictor, whose encoder is a table; None where it is not linear.

    They are looked for by an index of inner products, where one is given.
    """
    if not isinstance(predictor.scorer, MultilinearScorer) or predictor.of_pairs:
        return None
    if index is None or index.metric != "dot":
        return LargestProducts(predictor.encode_all())
    from clausal.evaluation.index import IndexedProducts

    return IndexedProducts(predictor.encode_all(), index)


def _facts(kind: int, question: Ids, answers: Ids) -> Ids:
    facts = np.tile(question, (len(answers), 1))
    if kind >= 0:
        facts[:, kind] = answers
    return facts


def _together(pairs: Sequence[Hidden]) -> Hidden:
    nothing = np.empty(0, np.int64)
    return Hidden(
        *(np.concatenate([nothing, *columns]) for columns in (zip(*pairs, strict=True) if pairs else ((), ())))
    )


def _without(pairs: Hidden, others: Hidden) -> Hidden:
    """Return each pair once, unless it is one of the others."""
    width = 1 + max(pairs.ids.max(initial=0), others.ids.max(initial=0))
    keys = np.setdiff1d(pairs.queries * width + pairs.ids, others.queries * width + others.ids)
    return Hidden(keys // width, keys % width)


def _put_first(before: Hidden, scores: Values, others: Sequence[Largest], k: int) -> list[Largest]:
    """Put the pairs, which are in the order of their questions, in front of the other answers."""
    starts = np.searchsorted(before.queries, np.arange(len(others) + 1))
    found = []
    for rest, start, end in zip(others, starts[:-1], starts[1:], strict=True):
        ids, values = before.ids[start:end], scores[start:end]
        order = np.lexsort((ids, -values))[:k]
        ids, values = np.append(ids[order], rest.ids)[:k], np.append(values[order], rest.scores)[:k]
        found.append(Largest(ids, values))
    return found
