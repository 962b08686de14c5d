"""The largest inner products of queries with all candidates: exact up to millions of them, block by block.

A matrix product says roughly which candidates are the best: its rounding depends on how many queries there are and on
where in the table a candidate stands. So a few more than are wanted are kept, their products are computed again one by
one, and a bound on the rounding says whether all others are worse. Where it does not, as with many candidates of equal
score, every candidate that may be among the best is computed again. What comes out is the same for a query by itself
and among others.
"""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from clausal.evaluation.protocol import not_numbers
from clausal.fast import fastest
from clausal.model.tensors import inner_products

_SPARE = 8
"""How many candidates are kept beyond those that are wanted."""
_SCORES_AT_ONCE = 1 << 22
_QUERIES_AT_ONCE = 256
_NUMBERS_AT_ONCE = 1 << 22
"""Numbers of vectors that are looked up at a time to compute products again."""
_FEW = 8
_GROUP = 64
"""Candidates of which first the greatest score alone is looked at."""
_REDUCED = {"highest": 0.0, "high": 2.0**-9, "medium": 2.0**-6}
"""How far products may be off beyond float32, as a share of both lengths, by ``torch.get_float32_matmul_precision``."""

Ids = NDArray[np.int64]
Values = NDArray[np.float64]


class Largest(NamedTuple):
    """The best candidates of one query, best first; of equal ones that of the lowest id first."""

    ids: Ids  # [at most k]
    scores: Values  # [at most k]


class Hidden(NamedTuple):
    """Candidates that some queries leave out: pairs of the place of a query and an id, in any order."""

    queries: Ids
    ids: Ids


class LargestProducts:
    """Finds the largest products of queries [b, dim] with a table of candidates [n, dim], which must not change."""

    def __init__(self, candidates: Tensor) -> None:
        self.candidates = candidates.detach()

    @cached_property
    def longest(self) -> float:
        """The length of the longest candidate."""
        pieces = self.candidates.split(max(1, _NUMBERS_AT_ONCE // max(1, self.candidates.shape[1])))
        return max((float(torch.linalg.vector_norm(piece, dim=1).max()) for piece in pieces), default=0.0)

    @torch.no_grad()
    def find(self, queries: Tensor, k: int, hidden: Hidden | None = None) -> list[Largest]:
        """Return the k best candidates of each query, or as many as it does not leave out."""
        hidden = hidden or Hidden(np.empty(0, np.int64), np.empty(0, np.int64))
        found = []
        for start in range(0, len(queries), _QUERIES_AT_ONCE):
            stop = min(start + _QUERIES_AT_ONCE, len(queries))
            here = (hidden.queries >= start) & (hidden.queries < stop)
            found += self._find(queries[start:stop], k, Hidden(hidden.queries[here] - start, hidden.ids[here]))
        return found

    @torch.no_grad()
    def scores(self, queries: Tensor, places: Ids, ids: Ids) -> Values:
        """Return the products of pairs (place of a query, id of a candidate), each by itself. Shape [pairs]."""
        found = np.empty(len(ids))
        size = max(1, _NUMBERS_AT_ONCE // max(1, self.candidates.shape[1]))
        for start in range(0, len(ids), size):
            rows, columns = (torch.from_numpy(part[start : start + size]).to(queries.device) for part in (places, ids))
            products = (queries[rows] * self.candidates[columns]).sum(-1)
            found[start : start + size] = products.double().cpu().numpy()
        return found

    def _find(self, queries: Tensor, k: int, hidden: Hidden) -> list[Largest]:
        kept = min(k + _SPARE, len(self.candidates))
        rough, ids = self._roughly(queries, kept, hidden)
        offered = rough != -np.inf  # a candidate that is left out has −∞
        rows, columns = np.nonzero(offered)
        scores = np.full(rough.shape, -np.inf)
        scores[rows, columns] = self.scores(queries, rows, ids[rows, columns])
        if np.isnan(scores).any():
            raise not_numbers()
        order = np.lexsort((ids, -scores), axis=1)[:, :k]
        ids, scores = np.take_along_axis(ids, order, 1), np.take_along_axis(scores, order, 1)
        counts = np.minimum(offered.sum(1), k)
        found = [Largest(ids[row, :count], scores[row, :count]) for row, count in enumerate(counts)]
        error = self._error(queries)
        # Where some of those kept are left out, or all are kept, there are no others.
        unsure = (
            offered.all(1) & (kept < len(self.candidates)) & ~(rough.min(1, initial=np.inf) + error < scores[:, -1])
        )
        for row in np.flatnonzero(unsure).tolist():
            left_out = hidden.ids[hidden.queries == row]
            least = scores[row, -1] - error[row] if np.isfinite(error[row]) else -np.inf
            found[row] = self._one_by_one(queries[row : row + 1], k, left_out, least)
        return found

    def _roughly(self, queries: Tensor, kept: int, hidden: Hidden) -> tuple[Values, Ids]:
        """Return the best by matrix products, as scores and ids [b, kept] in no order."""
        size = max(_GROUP, _SCORES_AT_ONCE // max(1, len(queries)) // _GROUP * _GROUP)
        order = np.argsort(hidden.ids, kind="stable")
        rows, columns = (torch.from_numpy(part[order]).to(queries.device) for part in hidden)
        best = (
            queries.new_empty(len(queries), 0),
            torch.empty(len(queries), 0, dtype=torch.int64, device=queries.device),
        )
        for start in range(0, len(self.candidates), size):
            block = self.candidates[start : start + size]
            scores = _products(queries, block)
            first, last = np.searchsorted(hidden.ids[order], [start, start + size])
            scores[rows[first:last], columns[first:last] - start] = -torch.inf
            top = _top(scores, min(kept, len(block)))
            if not best[0].shape[1]:
                best = top.values, top.indices + start
                continue
            both, ids = torch.cat([best[0], top.values], 1), torch.cat([best[1], top.indices + start], 1)
            chosen = both.topk(min(kept, both.shape[1]), sorted=False)
            best = chosen.values, ids.gather(1, chosen.indices)
        return best[0].double().cpu().numpy(), best[1].cpu().numpy()

    def _error(self, queries: Tensor) -> Values:
        """Return for each query how far a rough score and one computed by itself can be apart."""
        lengths = torch.linalg.vector_norm(queries.double(), dim=1).cpu().numpy()
        reduced = _REDUCED[torch.get_float32_matmul_precision()] if queries.dtype == torch.float32 else 0.0
        share = 2 * (queries.shape[1] + 1) * torch.finfo(queries.dtype).eps + reduced
        error: Values = share * lengths * self.longest
        return error

    def _one_by_one(self, query: Tensor, k: int, left_out: Ids, least: float) -> Largest:
        """Compute every candidate again whose rough score is not below ``least``, and return the best."""
        best = Largest(np.empty(0, np.int64), np.empty(0))
        size = max(1, _NUMBERS_AT_ONCE // max(1, self.candidates.shape[1]))
        for start in range(0, len(self.candidates), size):
            block = self.candidates[start : start + size]
            rough = _products(query, block)[0].cpu().numpy()
            ids = np.setdiff1d(np.flatnonzero(rough >= least) + start, left_out, assume_unique=True)
            scores = self.scores(query, np.zeros(len(ids), np.int64), ids)
            ids, scores = np.concatenate([best.ids, ids]), np.concatenate([best.scores, scores])
            order = np.lexsort((ids, -scores))[:k]
            best = Largest(ids[order], scores[order])
        return best


def _products(queries: Tensor, candidates: Tensor) -> Tensor:
    if 1 < len(queries) <= _FEW:  # half the time: the product runs along the longer of the two
        return (candidates @ queries.T).T.contiguous()
    return fastest(inner_products, queries, candidates)(queries, candidates)


def _top(scores: Tensor, k: int) -> torch.return_types.topk:
    """Return the k largest of each row, in no order: where there are many, first by the greatest of each group."""
    groups = scores.shape[1] // _GROUP
    if groups < 4 * k:
        return scores.topk(k, sorted=False)
    together = scores[:, : groups * _GROUP].unflatten(1, (_GROUP, groups))
    chosen = together.amax(1).topk(k, sorted=False).indices  # [b, k]
    members = together.gather(2, chosen.unsqueeze(1).expand(-1, _GROUP, -1)).flatten(1)
    ids = (torch.arange(_GROUP, device=scores.device).unsqueeze(1) * groups + chosen.unsqueeze(1)).flatten(1)
    rest = torch.arange(groups * _GROUP, scores.shape[1], device=scores.device).expand(len(scores), -1)
    members, ids = torch.cat([members, scores[:, groups * _GROUP :]], 1), torch.cat([ids, rest], 1)
    top = members.topk(k, sorted=False)
    return torch.return_types.topk((top.values, ids.gather(1, top.indices)))
