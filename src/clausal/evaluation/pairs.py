"""All pairs of entities that score at least so much in a relation: exact, block by block, whatever their number.

A model that is linear in subject and object scores all pairs by matrix products. Rows and columns go from the longest
to the shortest vector, and what is too short to reach the score is never multiplied: ⟨x, y⟩ ≤ ‖x‖ ‖y‖. A product is off
by rounding, so pairs that come within its bound are found too; whoever asks scores them again, one by one.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from clausal.evaluation.protocol import Ranker, scoring
from clausal.fast import fastest
from clausal.model.predictor import LinkPredictor
from clausal.model.scorers.base import MultilinearScorer
from clausal.model.tensors import inner_products

_SCORES_AT_ONCE = 1 << 22
_ROUNDING = 1e-4
"""How far the score of a fact may be from that of an answer, relative to its size, where no bound is known."""
_REDUCED = {"highest": 0.0, "high": 2.0**-9, "medium": 2.0**-6}
"""How far products may be off beyond float32, as a share of both lengths, by ``torch.get_float32_matmul_precision``."""

Ids = NDArray[np.int64]


class Pairs(NamedTuple):
    """Pairs of entities [pairs] that may score enough, and how many pairs were decided on to find them."""

    subjects: Ids
    objects: Ids
    decided: int


class PairFinder(Protocol):
    """Finds all pairs that reach a score."""

    def reaching(self, relation: int, least: float) -> Iterator[Pairs]:
        """Yield every pair that scores at least ``least`` in a relation, once, with some that score less."""


def pair_finder(ranker: Ranker) -> PairFinder:
    """Return what finds pairs by a ranker: by products where it is linear, else by all its scores."""
    linear = isinstance(ranker, LinkPredictor) and isinstance(ranker.scorer, MultilinearScorer)
    if linear and not ranker.of_pairs:  # type: ignore[attr-defined]
        return _ByProducts(ranker)  # type: ignore[arg-type]
    return _ByScores(ranker)


class _Factors(NamedTuple):
    """Rows and columns whose products are the scores of a relation, each with its lengths, the longest first."""

    rows: Tensor
    row_ids: Tensor
    row_lengths: Tensor
    columns: Tensor
    column_ids: Tensor
    column_lengths: Tensor


class _ByProducts:
    def __init__(self, predictor: LinkPredictor) -> None:
        self.predictor = predictor

    @cached_property
    def _entities(self) -> tuple[Tensor, Tensor, Tensor]:
        """The entities, the longest vector first: vectors, ids and lengths."""
        return _longest_first(self.predictor.encode_all().detach())

    def _factors(self, relation: int) -> _Factors:
        predictor, ids = self.predictor, self._entities[1]
        vectors = self._entities[0]
        relations = torch.full((len(ids),), relation, device=ids.device)
        rows = predictor.query_objects(vectors, relations)
        if predictor.rows_per_relation == 1:
            return _Factors(*_longest_first(rows, ids), *self._entities)
        # The score of a fact is the mean of both readings: ⟨q(s), o⟩ / 2 + ⟨s, q⁻¹(o)⟩ / 2.
        back = predictor.query_subjects(relations, vectors)
        both = torch.cat([rows, vectors], 1) / 2, torch.cat([vectors, back], 1)
        return _Factors(*_longest_first(both[0], ids), *_longest_first(both[1], ids))

    @torch.no_grad()
    def reaching(self, relation: int, least: float) -> Iterator[Pairs]:
        factors = self._factors(relation)
        count = len(factors.rows)
        size = max(1, _SCORES_AT_ONCE // max(1, count))
        dim, kind = factors.rows.shape[1], torch.finfo(factors.rows.dtype)
        share = 4 * (dim + 1) * kind.eps + (_REDUCED[torch.get_float32_matmul_precision()])
        for start in range(0, count, size):
            rows = factors.rows[start : start + size]
            longest = float(factors.row_lengths[start])
            error = share * longest * float(factors.column_lengths[0])
            wanted = least - error
            reach = count
            if wanted > 0:
                short = wanted / longest if longest > 0 else np.inf
                reach = int((factors.column_lengths >= short * (1 - 1e-6)).sum())
            places = (
                torch.nonzero(_products(rows, factors.columns[:reach]) >= wanted)
                if reach
                else rows.new_empty(0, 2).long()
            )
            subjects = factors.row_ids[start : start + size][places[:, 0]]
            objects = factors.column_ids[places[:, 1]]
            yield Pairs(subjects.cpu().numpy(), objects.cpu().numpy(), len(rows) * count)


class _ByScores:
    """By the scores of all answers to all questions: a fact scores the mean of both, so one of them reaches it too."""

    def __init__(self, ranker: Ranker) -> None:
        self.ranker = ranker
        one_way = isinstance(ranker, LinkPredictor) and ranker.rows_per_relation == 1
        self.sides = (0,) if one_way else (0, 1)

    def reaching(self, relation: int, least: float) -> Iterator[Pairs]:
        ranker, count = self.ranker, self.ranker.num_entities
        wanted = least - _ROUNDING * max(1.0, abs(least)) if np.isfinite(least) else least
        size = max(1, _SCORES_AT_ONCE // max(1, count))
        for side in self.sides:
            for start in range(0, count, size):
                asked = torch.arange(start, min(start + size, count), device=ranker.device)
                relations = torch.full_like(asked, relation)
                with scoring(ranker):
                    scores = ranker.score_subjects(relations, asked) if side else ranker.score_objects(asked, relations)
                places = torch.nonzero(scores >= wanted).cpu().numpy()
                known, answers = places[:, 0] + start, places[:, 1]
                subjects, objects = (answers, known) if side else (known, answers)
                decided = (len(asked) * count + side) // len(self.sides)
                if side:  # those that the other side has found already
                    fresh = ~self._found(relation, subjects, objects, wanted)
                    subjects, objects = subjects[fresh], objects[fresh]
                yield Pairs(subjects, objects, decided)

    def _found(self, relation: int, subjects: Ids, objects: Ids, wanted: float) -> NDArray[np.bool_]:
        """Say of pairs whether they reach the score as answers for the object."""
        found = np.zeros(len(subjects), np.bool_)
        distinct, places = np.unique(subjects, return_inverse=True)
        order = np.argsort(places, kind="stable")
        starts = np.searchsorted(places[order], np.arange(len(distinct) + 1))
        size = max(1, _SCORES_AT_ONCE // max(1, self.ranker.num_entities))
        for start in range(0, len(distinct), size):
            some = torch.from_numpy(distinct[start : start + size]).to(self.ranker.device)
            with scoring(self.ranker):
                scores = self.ranker.score_objects(some, torch.full_like(some, relation)).cpu().numpy()
            here = order[starts[start] : starts[start + len(some)]]
            found[here] = scores[places[here] - start, objects[here]] >= wanted
        return found


def _products(rows: Tensor, columns: Tensor) -> Tensor:
    return fastest(inner_products, rows, columns)(rows, columns)


def _longest_first(vectors: Tensor, ids: Tensor | None = None) -> tuple[Tensor, Tensor, Tensor]:
    lengths = torch.linalg.vector_norm(vectors, dim=1)
    order = torch.argsort(lengths, descending=True)
    return vectors[order], order if ids is None else ids[order], lengths[order]
