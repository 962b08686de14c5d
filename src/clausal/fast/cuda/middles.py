"""The best middle on a GPU: the (max, min) product of two matrices, all of it, a program for a tile of the answer."""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor

from clausal.evaluation.entities.middles import SortedMiddles

_TILE = 64
_ROWS = 2048
"""Rows of the first matrix that are computed at once."""


def max_min_product_by_kernel(middles: SortedMiddles, columns: Tensor, floor: Tensor) -> Tensor:
    """Do what the reference does, with every middle: a GPU tries them in less time than it finds those worth trying."""
    entities, right, best = len(floor), columns.T.contiguous(), floor.clone()
    for start in range(0, entities, _ROWS):
        rows = best[start : start + _ROWS]
        ids = torch.arange(start, start + len(rows), device=floor.device)
        left = middles.left.rows(ids).T.contiguous()  # middles one after another, as in the other matrix
        count, width = rows.shape
        raise_to_middles[(triton.cdiv(count, _TILE), triton.cdiv(width, _TILE))](
            left, right, rows, count, width, middles=len(left), tile=_TILE, num_warps=4
        )
    return best


@triton.jit  # type: ignore[untyped-decorator]
def raise_to_middles(left, right, best, rows, columns, middles: tl.constexpr, tile: tl.constexpr):  # type: ignore[no-untyped-def]
    """best[x, z] ← max(best[x, z], max_y min(left[y, x], right[y, z]))."""
    x = tl.program_id(0) * tile + tl.arange(0, tile)
    z = tl.program_id(1) * tile + tl.arange(0, tile)
    inside = (x < rows)[:, None] & (z < columns)[None, :]
    at = best + x[:, None].to(tl.int64) * columns + z[None, :]
    found = tl.load(at, mask=inside, other=0.0)
    to_left, to_right = left + x, right + z
    for _ in range(middles):
        one = tl.load(to_left, mask=x < rows, other=0.0)
        other = tl.load(to_right, mask=z < columns, other=0.0)
        found = tl.maximum(found, tl.minimum(one[:, None], other[None, :]))
        to_left += rows
        to_right += columns
    tl.store(at, found, mask=inside)
