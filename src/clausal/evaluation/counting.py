"""The inner loop of ranking: how many entities score above a target, among all and among the known answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import torch
from torch import Tensor

MANY_TARGETS = 64
"""A query with more targets than this has its scores sorted once instead of compared with each target."""

_EXACT_IN_FLOAT32 = 2**24


@dataclass(frozen=True)
class QueryBatch:
    """Some queries with their targets and known answers, queries with most targets first.

    Targets and known answers are flat, query after query; ``target_starts`` and ``known_starts`` have one
    more entry than there are queries. As lists they steer the loop without waiting for a device.
    """

    targets: Tensor  # [targets]
    target_starts: list[int]
    known: Tensor  # [known answers]
    known_starts: list[int]

    @property
    def sizes(self) -> list[int]:
        """How many targets each query has."""
        return [stop - start for start, stop in pairwise(self.target_starts)]


class Counting:
    """Counts for some batches of queries. This is the reference, by operations of torch on any device.

    ``sample`` is like the scores that will be compared, and ``scores`` is how many there will be in all.
    """

    bytes_per_score = 4
    """Work space for each score that is compared at once."""

    def __init__(self, sample: Tensor, scores: int) -> None:
        self._buffer: Tensor | None = None

    def __call__(self, scores: Tensor, batch: QueryBatch) -> Tensor:
        """Count scores greater than, and at least, each target's, among all entities and among its known answers.

        ``scores`` are [queries, entities]. The answer is [4, targets]: greater and at least among all, then the same
        among the known answers; the target itself is counted.

        One target of each query is compared at a time. Queries with most targets come first, so that those with a
        target left are a prefix and need no copy.
        """
        counts, first = count_many_targets(scores, batch, MANY_TARGETS)
        sizes, device = batch.sizes, scores.device
        if first == len(sizes):
            return counts
        buffer = self._work_space(scores)
        starts = torch.tensor(batch.target_starts[first:-1], device=device)
        answers = torch.tensor(batch.known_starts[first:], device=device).diff()
        begin = batch.known_starts[first]
        rows = torch.repeat_interleave(answers, output_size=batch.known_starts[-1] - begin)  # [known answers]
        known_scores = scores[rows + first, batch.known[begin:]]
        left = len(sizes) - first
        for layer in range(sizes[first]):
            while sizes[first + left - 1] <= layer:
                left -= 1
            targets = starts[:left] + layer
            live = scores[first : first + left]
            wanted = live.gather(1, batch.targets[targets, None])  # [left, 1]
            end = batch.known_starts[first + left] - begin
            compared = wanted[rows[:end], 0]
            counts[0, targets] = _row_counts(torch.gt, live, wanted, buffer)
            counts[1, targets] = _row_counts(torch.ge, live, wanted, buffer)
            for row, holds in ((2, known_scores[:end] > compared), (3, known_scores[:end] >= compared)):
                zeros = torch.zeros(left, dtype=torch.int64, device=device)
                counts[row, targets] = zeros.index_add_(0, rows[:end], holds.long())
        return counts

    def _work_space(self, scores: Tensor) -> Tensor:
        """Return a buffer that is at least as large as the scores; batches share it."""
        if self._buffer is None or len(self._buffer) < len(scores):
            self._buffer = torch.empty(scores.shape, dtype=torch.float32, device=scores.device)
        return self._buffer


def count_many_targets(scores: Tensor, batch: QueryBatch, many: int) -> tuple[Tensor, int]:
    """Count for the queries with more than so many targets; return the counts of all, and the first query without."""
    counts = torch.empty(4, len(batch.targets), dtype=torch.int64, device=scores.device)
    first = next((query for query, size in enumerate(batch.sizes) if size <= many), len(batch.sizes))
    for query in range(first):
        _count_sorted(scores[query], batch, query, counts)
    return counts, first


def _count_sorted(scores: Tensor, batch: QueryBatch, query: int, counts: Tensor) -> None:
    """Count for all targets of one query by binary search in its sorted scores."""
    targets = slice(batch.target_starts[query], batch.target_starts[query + 1])
    known = scores[batch.known[batch.known_starts[query] : batch.known_starts[query + 1]]]
    wanted = scores[batch.targets[targets]]
    for row, candidates in ((0, scores), (2, known)):
        ordered = candidates.sort().values
        counts[row, targets] = len(ordered) - torch.searchsorted(ordered, wanted, right=True)
        counts[row + 1, targets] = len(ordered) - torch.searchsorted(ordered, wanted)


def _row_counts(compare: Callable[..., Tensor], scores: Tensor, wanted: Tensor, buffer: Tensor) -> Tensor:
    """Count by row where the comparison holds.

    Comparing into float32 and summing that is ten times faster on a CPU than summing booleans, and exact
    up to 2²⁴ entities.
    """
    out = buffer[: len(scores)]
    compare(scores, wanted, out=out)
    dtype = torch.float32 if scores.shape[1] <= _EXACT_IN_FLOAT32 else torch.float64
    return out.sum(dim=1, dtype=dtype).long()
