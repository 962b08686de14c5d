"""An index of vectors: the largest inner products with millions of them, without a look at each. It is approximate.

usearch links each vector to near ones (HNSW, Malkov and Yashunin 2016), and a search walks along these links. All that
is asked for is the largest inner product of a query with what ``lifted`` makes of the vectors, be it an answer to a
question, an angle or a distance. The mean of all vectors is taken off before: the order stays as it was, since
⟨q, x − m⟩ and ⟨q, x⟩ differ by the same ⟨q, m⟩ for each x, and fewer of the best were missed on FB122. What the index
finds is computed again and put into its exact order; what it misses is missed.
"""

from __future__ import annotations

import hashlib
from threading import Lock
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from clausal.choices import Metric
from clausal.errors import InputError
from clausal.evaluation.largest import Hidden, Ids, Largest, LargestProducts
from clausal.observer import Observer

_LINKS = 64
"""Links of a vector: with many, few of the best answers are missed."""
_WALKED_BUILDING = 128
"""Vectors in view while one is linked; more links are worth more than more of these, and cost less."""
_WALKED = 512
"""Vectors that a search keeps in view; the more, the fewer are missed, and the longer it takes."""
_SPARE = 2
"""How many times the wanted candidates are computed again."""
_VECTORS_AT_ONCE = 1 << 13


class VectorIndex:
    """Finds which vectors have about the largest inner products with a query, by what a metric makes of them."""

    def __init__(self, found: Any, metric: Metric, digest: str) -> None:
        self.metric, self.digest = metric, digest
        self._index = found
        self._index.expansion_search = _WALKED
        self._lock = Lock()  # usearch has one memory for each thread of its own

    @staticmethod
    @torch.no_grad()
    def build(vectors: Tensor, metric: Metric = "dot", observer: Observer | None = None) -> VectorIndex:
        """Make an index of vectors [n, dim]."""
        observer = observer or Observer()
        pieces = vectors.split(_VECTORS_AT_ONCE)
        mean = sum(lifted(piece, metric).double().sum(0) for piece in pieces) / max(1, len(vectors))
        index = _usearch().Index(
            ndim=lifted(vectors[:1], metric).shape[1],
            metric="ip",
            dtype="f16",
            connectivity=_LINKS,
            expansion_add=_WALKED_BUILDING,
        )
        done = 0
        for piece in pieces:
            numbers = (lifted(piece, metric) - mean).float().cpu().numpy()
            index.add(np.arange(done, done + len(piece)), numbers, threads=torch.get_num_threads())
            done += len(piece)
            observer.advanced("indexing", done, len(vectors), "vectors")
        return VectorIndex(index, metric, digest_of(vectors))

    def __len__(self) -> int:
        return len(self._index)

    def find(self, queries: NDArray[np.float32], count: int) -> Ids:
        """Return for each query [b, dim] about the best ids [b, count], in no order; −1 where there is none."""
        asked = np.concatenate([queries, np.ones((len(queries), 1), np.float32)], 1)
        asked = asked if self.metric == "euclidean" else queries
        count = min(count, len(self))
        with self._lock:
            matches = self._index.search(np.ascontiguousarray(asked), count, threads=torch.get_num_threads())
        keys = matches.keys.reshape(len(queries), -1).astype(np.int64)
        there = np.reshape(getattr(matches, "counts", keys.shape[1]), (-1, 1))
        found: Ids = np.where(np.arange(keys.shape[1]) < there, keys, -1)
        return found

    def to_bytes(self) -> bytes:
        """Return the index as usearch writes it."""
        return bytes(self._index.save())

    @staticmethod
    def of_bytes(data: bytes, metric: Metric, digest: str) -> VectorIndex:
        """Read what ``to_bytes`` returned; a ValueError says that it is nothing of the kind."""
        try:
            index = _usearch().Index.restore(data)
        except (RuntimeError, AssertionError, KeyError) as error:
            raise ValueError(" ".join(str(error).split())) from None
        if index is None:
            raise ValueError("it is no index of usearch")
        return VectorIndex(index, metric, digest)


def lifted(vectors: Tensor, metric: Metric) -> Tensor:
    """Return what a query is multiplied with: x, x / |x|, or (x, −|x|² / 2), whose product with (q, 1) says how near.

    |q − x|² = |q|² − 2 ⟨(q, 1), (x, −|x|² / 2)⟩, so that the largest product is the smallest distance.
    """
    if metric == "dot":
        return vectors
    lengths = torch.linalg.vector_norm(vectors, dim=1, keepdim=True)
    if metric == "cosine":
        return vectors / lengths.clamp_min(torch.finfo(vectors.dtype).tiny)
    return torch.cat([vectors, -lengths.square() / 2], 1)


class IndexedProducts(LargestProducts):
    """Finds the largest products of queries among what an index finds; exactly where queries leave much out."""

    def __init__(self, candidates: Tensor, index: VectorIndex) -> None:
        super().__init__(candidates)
        self.index = index

    def _find(self, queries: Tensor, k: int, hidden: Hidden) -> list[Largest]:
        left_out = np.bincount(hidden.queries, minlength=len(queries))
        wanted = _SPARE * k + int(left_out.max(initial=0))
        if 2 * wanted > len(self.index):
            return super()._find(queries, k, hidden)
        ids = self.index.find(queries.float().cpu().numpy(), wanted)
        keys = np.arange(len(queries))[:, None] * len(self.candidates) + ids
        offered = (ids >= 0) & ~np.isin(keys, hidden.queries * len(self.candidates) + hidden.ids)
        rows, columns = np.nonzero(offered)
        scores = np.full(ids.shape, -np.inf)
        scores[rows, columns] = self.scores(queries, rows, ids[rows, columns])
        order = np.lexsort((ids, -scores), axis=1)[:, :k]
        counts = np.minimum(offered.sum(1), k)
        found = [
            Largest(ids[row, best[:n]], scores[row, best[:n]])
            for row, (best, n) in enumerate(zip(order, counts, strict=True))
        ]
        for row in np.flatnonzero(counts < k).tolist():  # too few are left
            own = hidden.ids[hidden.queries == row]
            found[row] = super()._find(queries[row : row + 1], k, Hidden(np.zeros(len(own), np.int64), own))[0]
        return found


def digest_of(vectors: Tensor) -> str:
    """Return what tells vectors from others."""
    found = hashlib.sha256(repr(tuple(vectors.shape)).encode())
    for piece in vectors.detach().split(_VECTORS_AT_ONCE):
        found.update(piece.cpu().contiguous().numpy().data)
    return found.hexdigest()


def _usearch() -> Any:
    try:
        from usearch import index
    except ImportError:
        raise InputError("an index needs usearch: pip install 'clausal[index]'") from None
    return index
