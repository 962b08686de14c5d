"""The hot loop of ranking: how many score above a target, among all entities and among known answers."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import pairwise

import torch
from torch import Tensor

MANY_TARGETS = 64
"""A query with more targets than this, or four times as many for the compiled kernel, has its scores sorted once
instead of compared with each target."""
MANY_SCORES = 1 << 30
"""Looking at fewer scores takes less time than loading a compiled kernel, unless training has Numba loaded."""

_EXACT_IN_FLOAT32 = 2**24


@dataclass(frozen=True)
class Batch:
    """Some queries with their targets and known answers, queries with most targets first.

    Targets and known answers are flat, query after query; ``target_starts`` and ``known_starts`` have one
    more entry than there are queries. As lists they steer the loop without waiting for a device.
    """

    targets: Tensor  # [targets]
    target_starts: list[int]
    known: Tensor  # [known answers]
    known_starts: list[int]


def compiled(sample: Tensor, scores: int) -> bool:
    """Say whether to work by a compiled kernel, given one of the scores and how many it looks at; it finds the same."""
    if sample.device.type != "cpu" or sample.dtype not in (torch.float32, torch.float64) or find_spec("numba") is None:
        return False
    return "numba" in sys.modules or scores >= MANY_SCORES


def count(scores: Tensor, batch: Batch, buffer: Tensor | None) -> Tensor:
    """Count scores greater than, and at least, each target's, among all entities and among its known answers.

    ``scores`` is [queries, entities]; ``buffer``, of float32, at least as large, or None for the compiled kernel, which
    needs none. The answer is [4, targets]: greater and at least among all, then the same among the known answers. The
    target itself is counted.
    """
    counts = torch.empty(4, len(batch.targets), dtype=torch.int64, device=scores.device)
    sizes = [stop - start for start, stop in pairwise(batch.target_starts)]
    many = MANY_TARGETS if buffer is not None else 4 * MANY_TARGETS
    heavy = next((query for query, size in enumerate(sizes) if size <= many), len(sizes))
    for query in range(heavy):
        _count_sorted(scores[query], batch, query, counts)
    if heavy == len(sizes):
        return counts
    if buffer is None:
        _count_compiled(scores, batch, sizes, heavy, counts)
    else:
        _count_compared(scores, batch, sizes, heavy, buffer, counts)
    return counts


def _count_sorted(scores: Tensor, batch: Batch, query: int, counts: Tensor) -> None:
    """Count for all targets of one query by binary search in its sorted scores."""
    targets = slice(batch.target_starts[query], batch.target_starts[query + 1])
    known = scores[batch.known[batch.known_starts[query] : batch.known_starts[query + 1]]]
    wanted = scores[batch.targets[targets]]
    for row, candidates in ((0, scores), (2, known)):
        ordered = candidates.sort().values
        counts[row, targets] = len(ordered) - torch.searchsorted(ordered, wanted, right=True)
        counts[row + 1, targets] = len(ordered) - torch.searchsorted(ordered, wanted)


def _count_compiled(scores: Tensor, batch: Batch, sizes: list[int], first: int, counts: Tensor) -> None:
    """Count for the queries from ``first`` on."""
    from clausal.fast.cpu.counting import count_above

    start = batch.target_starts[first]
    queries = torch.arange(first, len(sizes)).repeat_interleave(torch.tensor(sizes[first:]))
    known_starts = torch.tensor(batch.known_starts)
    counts[:, start:] = count_above(scores, queries, batch.targets[start:], batch.known, known_starts)


def _count_compared(scores: Tensor, batch: Batch, sizes: list[int], first: int, buffer: Tensor, counts: Tensor) -> None:
    """Count for the queries from ``first`` on, one target of each query at a time.

    Queries with most targets come first, so those with a target left are a prefix and need no copy.
    """
    device = scores.device
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


def _row_counts(compare: Callable[..., Tensor], scores: Tensor, wanted: Tensor, buffer: Tensor) -> Tensor:
    """Count by row where the comparison holds.

    Comparing into float32 and summing that is ten times faster on a CPU than summing booleans, and exact
    up to 2²⁴ entities.
    """
    out = buffer[: len(scores)]
    compare(scores, wanted, out=out)
    dtype = torch.float32 if scores.shape[1] <= _EXACT_IN_FLOAT32 else torch.float64
    return out.sum(dim=1, dtype=dtype).long()
