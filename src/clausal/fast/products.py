"""Products with all candidates on a CPU, whose rows start a whole number of cache lines apart."""

from __future__ import annotations

import torch
from torch import Tensor

_LINE = 16
"""Numbers of float32 in a cache line."""


def aligned_inner_products(queries: Tensor, candidates: Tensor) -> Tensor:
    """Return ⟨q, e⟩ of all queries [b, dim] and candidates [n, dim] → [b, n], without a gradient.

    There are unused numbers between the rows: where rows straddle lines, the product takes nearly twice as long.
    """
    width = -(-len(candidates) // _LINE) * _LINE
    rows = queries.new_empty(len(queries), width)[:, : len(candidates)]
    return torch.mm(queries, candidates.T, out=rows)
