"""The best middle: max_y min(left(x, y), right(y, z)), the (max, min) product of two matrices, exact but pruned.

The candidates y of a row x are taken in the order of left(x, y). After some of them no later y can give more than
the next left(x, y) does, so z is settled once it has that much, or once its floor is that high: on trained
models after a dozen or two of ten thousand candidates for most z.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from clausal.evaluation.entities.matrices import Matrix, Memory
from clausal.fast import fastest

_FIRST = 16
"""Candidates that every pair is tried with; on trained models this settles nine pairs of ten or more."""


@dataclass(frozen=True, eq=False)
class SortedMiddles:
    """The candidates y of each row x in falling order of left(x, y), as far as they are kept.

    The last value bounds what is left out, and is −∞ if nothing is.
    """

    left: Matrix
    values: Tensor  # [rows, kept + 1]
    ids: Tensor  # [rows, kept]
    memory: Memory
    table: Tensor | None = None
    """All of left [rows, entities], where it is at hand: then candidates can be found by right(y, z) too."""

    @staticmethod
    def of(
        left: Matrix, entities: int, memory: Memory, *, count: int | None = None, table: Tensor | None = None
    ) -> SortedMiddles:
        """Sort the best candidates of every row; there is one for each entity, or there are so many."""
        count = entities if count is None else count
        kept = memory.depth(max(count, entities))
        values, ids = [], []
        for rows in torch.arange(count, device=memory.device).split(memory.rows(entities, matrices=4)):
            top = left.rows(rows).topk(min(kept + 1, entities), dim=1)
            values.append(top.values)
            ids.append(top.indices[:, :kept].int())
        best = torch.cat(values)
        if kept >= entities:
            best = torch.cat([best, best.new_full((count, 1), -torch.inf)], 1)
        return SortedMiddles(left, best, torch.cat(ids), memory, table)

    def product(self, columns: Tensor, floor: Tensor) -> Tensor:
        """Return what ``max_min_product`` does, in its fastest form."""
        return fastest(max_min_product, self, columns, floor)(self, columns, floor)


def max_min_product(middles: SortedMiddles, columns: Tensor, floor: Tensor) -> Tensor:
    """Return max(floor, max_y min(left(x, y), right(y, z))), x over all entities, for some columns z.

    The reference. ``columns`` are those of right, one after another: [columns, entities]; floor and answer are
    [entities, columns].
    """
    right = columns.T.contiguous()
    best = _try_first(middles, right, floor)
    unsettled = middles.values[:, min(_FIRST, middles.ids.shape[1]), None] > best
    pairs = unsettled.nonzero()  # [pairs, 2], row after row
    for some in pairs.split(max(1, middles.memory.block // _FIRST)):
        _try_further(middles, right, best, some)
    unsettled = middles.values[:, -1, None] > best
    if unsettled.any():
        _try_all(middles, columns, best, unsettled.nonzero())
    return best


def _try_first(middles: SortedMiddles, right: Tensor, floor: Tensor) -> Tensor:
    """Try the first candidates of every row with all columns at once."""
    count = min(_FIRST, middles.ids.shape[1])
    best = torch.empty_like(floor)
    at_once = max(1, middles.memory.block // (count * right.shape[1]))
    for start in range(0, len(floor), at_once):
        rows = slice(start, start + at_once)
        ids, values = middles.ids[rows, :count], middles.values[rows, :count, None]
        scores = right.index_select(0, ids.reshape(-1)).view(*ids.shape, -1)  # [rows, count, columns]
        torch.maximum(floor[rows], torch.minimum(scores, values, out=scores).amax(1), out=best[rows])
    return best


def _try_further(middles: SortedMiddles, right: Tensor, best: Tensor, pairs: Tensor) -> None:
    """Try further candidates with the pairs that are not settled, until they are."""
    flat, columns = right.view(-1), right.shape[1]
    row, column = pairs.unbind(1)
    current = best[row, column]
    depth, kept = _FIRST, middles.ids.shape[1]
    while len(row) and depth < kept:
        stop = min(kept, depth + max(_FIRST, middles.memory.block // len(row)))
        ids = middles.ids[:, depth:stop].index_select(0, row).long()
        scores = flat.index_select(0, (ids * columns + column[:, None]).view(-1)).view(ids.shape)
        torch.minimum(scores, middles.values[:, depth:stop].index_select(0, row), out=scores)
        current = torch.maximum(current, scores.amax(1))
        best[row, column] = current
        open = middles.values[:, stop].index_select(0, row) > current
        row, column, current = row[open], column[open], current[open]
        depth = stop


def _try_all(middles: SortedMiddles, columns: Tensor, best: Tensor, pairs: Tensor) -> None:
    """Try all entities with the few pairs that the kept candidates did not settle."""
    for row, column in (some.unbind(1) for some in pairs.split(max(1, middles.memory.block // columns.shape[1]))):
        distinct, inverse = row.unique_consecutive(return_inverse=True)
        scores = middles.left.rows(distinct).index_select(0, inverse)
        torch.minimum(scores, columns.index_select(0, column), out=scores)
        best[row, column] = torch.maximum(best[row, column], scores.amax(1))
