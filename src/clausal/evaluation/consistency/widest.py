"""Widest paths: the path from x to z whose weakest step is the strongest, for all pairs of a whole table of steps."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

RaiseByProduct = Callable[[Tensor, Callable[[Tensor], Tensor], Tensor], bool]


def widen_(steps: Tensor, raise_by_product: RaiseByProduct, *, symmetric: bool) -> None:
    """Raise every pair [n, n] to the weakest step of its widest path of one step or more."""
    if symmetric:
        _widen_symmetric_(steps)
        return
    rose = True
    while rose:  # paths of 1, 2, 4, 8 … steps
        rose = raise_by_product(steps.clone(), lambda ids: steps[:, ids].T, steps)


def _widen_symmetric_(steps: Tensor) -> None:
    """Do so by a largest spanning tree, as Prim grows it.

    Each entity is reached by the strongest step from those before it. Any path from an earlier one to a later one
    leaves the set of those before k, for each k between them, by a step that is no stronger than the one by which k
    was reached; and there is one that has none weaker. So the widest path's weakest step is the least of these.
    """
    table = torch.maximum(steps, steps.T).cpu().numpy()
    n = len(table)
    around = table.max(axis=1, initial=-np.inf)
    order, reach = np.empty(n, np.int64), table[0].copy() if n else table
    waiting = np.ones(n, np.bool_)
    widest = np.empty_like(table)
    here, strength = 0, table.dtype.type(np.inf)
    for place in range(n):
        order[place] = here
        waiting[here] = False
        if place:
            np.minimum(widest[place - 1, : place - 1], strength, out=widest[place, : place - 1])
            widest[place, place - 1] = strength
        np.maximum(reach, table[here], out=reach)
        if place + 1 < n:
            here = (
                int(np.where(waiting, reach, -np.inf).argmax()) if reach[waiting].max() > -np.inf else _first(waiting)
            )
            strength = reach[here]
    found = np.empty_like(table)
    lower = np.tril(widest, -1)
    found[np.ix_(order, order)] = lower + lower.T
    np.fill_diagonal(found, around)
    steps.copy_(torch.from_numpy(found).to(steps.device))
