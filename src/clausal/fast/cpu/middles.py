"""The (max, min) product of two matrices: max_y min(left(x, y), right(y, z)), on numbers that are compared as integers.

A compiler makes vector instructions of the largest of many integers, but not of many floating-point numbers, as one of
these could be NaN. Their bits, read as integers, have their order, once those of negative numbers are turned round.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from clausal.evaluation.entities.middles import SortedMiddles
from clausal.fast.cpu.compiling import compiled_kernel, share

_STRIDE = 8
"""Candidates between two looks at what is settled."""
_BEST_OF_A_COLUMN, _MANY_ROWS = 32, 32
"""Candidates of a column, which are worth finding for so many rows."""
_FEW = 8
"""Columns are tried one by one when no more than one in so many is left."""
_IN_CACHE = 1024
"""Middles that all pairs are tried with before the next: as much of every column stays near."""
_INTEGERS = {torch.float32: torch.int32, torch.float64: torch.int64}
_FLOATS = {integer: number for number, integer in _INTEGERS.items()}


def max_min_product_compiled(middles: SortedMiddles, columns: Tensor, floor: Tensor) -> Tensor:
    """Return what ``max_min_product`` does, by kernels; none of the numbers may be NaN.

    Where all of left is at hand, the few best y of each column are tried as well: a pair is settled once it has as much
    as the next y of its row, or as the next one of its column.
    """
    width = columns.shape[1]
    few = min(_BEST_OF_A_COLUMN, width - 1) if middles.table is not None and len(floor) >= _MANY_ROWS else 0
    top = columns.topk(few + 1, dim=1) if few else None
    columns, best = ordered(columns), ordered(floor)
    values = ordered(middles.values)
    if top is None or middles.table is None:
        most = torch.full((len(columns), 1), torch.iinfo(columns.dtype).max, dtype=columns.dtype)
        by_column = most, most[:, 1:].int(), columns[:0]
    else:
        by_column = ordered(top.values), top.indices[:, :few].int(), middles.table.view(columns.dtype)
    try_candidates(values, middles.ids, columns.T.contiguous(), best, by_column)
    limit = torch.minimum(values[:, -1, None], by_column[0][:, -1])
    row, column = (limit > best).nonzero().unbind(1)
    rows, counts = row.unique_consecutive(return_counts=True)
    at_once = middles.memory.columns(columns.shape[1], matrices=8)
    for some, pairs in zip(rows.split(at_once), counts.split(at_once), strict=True):
        ends = torch.arange(len(some)).repeat_interleave(pairs)
        here, column = column[: len(ends)], column[len(ends) :]
        try_all(ordered(middles.left.rows(some)), columns, some, ends, here, best)
    return numbers_of(best)


def ordered(numbers: Tensor) -> Tensor:
    """Return integers in the order of the numbers, none of which is NaN."""
    return _turned(numbers.contiguous().view(_INTEGERS[numbers.dtype]))


def numbers_of(integers: Tensor) -> Tensor:
    """Return the numbers that were ordered."""
    return _turned(integers).view(_FLOATS[integers.dtype])


def try_candidates(
    values: Tensor, ids: Tensor, right: Tensor, best: Tensor, by_column: tuple[Tensor, Tensor, Tensor]
) -> None:
    """Raise the best [rows, columns] by the candidates y of each row x, until none is left that can raise it.

    ``values`` [rows, candidates + 1] are left(x, y) in falling order, the last a bound on what is left out, ``ids``
    [rows, candidates] the y, and ``right`` [entities, columns] has right(y, z). All are ordered integers.
    ``by_column`` has the same of each column [columns, few + 1] and [columns, few], and all of left as its bits.
    """
    arrays = [tensor.numpy() for tensor in (values, ids, right, best, *by_column)]
    largest = values.new_tensor(torch.iinfo(values.dtype).max).numpy()[()]
    share(torch.get_num_threads(), len(best), lambda _, first, last: _try_candidates(*arrays, largest, first, last))


def try_all(left: Tensor, columns: Tensor, rows: Tensor, row: Tensor, column: Tensor, best: Tensor) -> None:
    """Raise the best [rows, columns] of some pairs by every y.

    ``left`` [some, entities] holds some ``rows`` of the left matrix and ``columns`` those of the right one; ``row``
    [pairs] is the place of each pair's row among these, and ``column`` its column. All are ordered integers.
    """
    arrays = [tensor.numpy() for tensor in (left, columns, rows, row, column, best)]
    share(torch.get_num_threads(), len(row), lambda _, first, last: _try_all(*arrays, first, last))


def _turned(integers: Tensor) -> Tensor:
    """Turn the order of the bits of negative numbers round, or back."""
    return integers ^ ((integers >> (8 * integers.element_size() - 1)) & torch.iinfo(integers.dtype).max)


@compiled_kernel
def _try_candidates(values, ids, right, best, tops, top_ids, left, largest, first, last):  # type: ignore[no-untyped-def]
    kept, width, few = ids.shape[1], right.shape[1], top_ids.shape[1]
    open_columns = np.empty(width, np.int64)
    rest = tops[:, few].copy()
    for x in range(first, last):
        row, depth = best[x], min(_STRIDE, kept) if few else 0
        for i in range(depth):
            value, scores = values[x, i], right[ids[x, i]]
            for z in range(width):
                row[z] = max(row[z], min(value, scores[z]))
        for z in range(width if few else 0):  # with the best of each column
            if row[z] < values[x, depth]:
                for i in range(few):
                    value = tops[z, i]
                    if row[z] >= value:
                        break
                    bits = left[x, top_ids[z, i]]
                    row[z] = max(row[z], min(value, bits if bits >= 0 else bits ^ largest))
        while depth < kept:  # with all columns
            bound, left_over = values[x, depth], 0
            for z in range(width):
                left_over += row[z] < min(bound, rest[z])
            if left_over * _FEW <= width:
                break
            stop = min(depth + _STRIDE, kept)
            for i in range(depth, stop):
                value, scores = values[x, i], right[ids[x, i]]
                for z in range(width):
                    row[z] = max(row[z], min(value, scores[z]))
            depth = stop
        count = 0
        for z in range(width):
            open_columns[count] = z
            count += row[z] < min(values[x, depth], rest[z])
        while count and depth < kept:  # with those that are not settled
            stop = min(depth + _STRIDE, kept)
            for i in range(depth, stop):
                value, scores = values[x, i], right[ids[x, i]]
                for place in range(count):
                    z = open_columns[place]
                    row[z] = max(row[z], min(value, scores[z]))
            depth, before, count = stop, count, 0
            for place in range(before):
                z = open_columns[place]
                open_columns[count] = z
                count += row[z] < min(values[x, depth], rest[z])


@compiled_kernel
def _try_all(left, columns, rows, row, column, best, first, last):  # type: ignore[no-untyped-def]
    entities = columns.shape[1]
    for start in range(0, entities, _IN_CACHE):
        stop = min(start + _IN_CACHE, entities)
        for pair in range(first, last):
            one, other = left[row[pair], start:stop], columns[column[pair], start:stop]
            most = best[rows[row[pair]], column[pair]]
            for y in range(stop - start):
                most = max(most, min(one[y], other[y]))
            best[rows[row[pair]], column[pair]] = most
