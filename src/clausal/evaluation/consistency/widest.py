"""Widest paths: the path from x to z whose weakest step is the strongest, for all pairs of a whole table of steps."""

from __future__ import annotations

from collections.abc import Callable

from torch import Tensor

from clausal.evaluation.consistency.bodies import Columns

RaiseByProduct = Callable[[Tensor, Columns, Tensor], bool]


def widen_(steps: Tensor, raise_by_product: RaiseByProduct, carried: Tensor | None = None) -> None:
    """Raise every pair of steps [n, n] to the weakest step of its widest path of one step or more. The reference.

    What is ``carried`` [n, n] is raised along the paths: where x leads to y, x has at least what y has.
    """
    while raise_by_product(steps.clone(), lambda ids: steps[:, ids].T, steps):  # paths of 1, 2, 4, 8 … steps
        pass
    if carried is not None:
        raise_by_product(steps, lambda ids: carried[:, ids].T, carried)
