"""The step by rows on a CPU: the gradient of facts by the rows of their batch, and AdaGrad on rows of a table."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from clausal.fast.cpu.compiling import as_array, compiled, share
from clausal.fast.cpu.facts import fact_kernel
from clausal.fast.cpu.step import adagrad
from clausal.fast.kernels import LOSS_NUMBERS, PROJECTIONS
from clausal.model.domains import Domain
from clausal.model.row_table import RowTable
from clausal.model.scorers.base import Terms

_MOST_THREADS = 4
"""Each thread adds up gradients of its own, and beyond a few, adding those up takes longer than they save."""


class CPURowKernels:
    """The gradient of the fact loss by the rows of a batch, and by relations."""

    def __init__(self, terms: Terms, relations: Tensor, loss: str, margin: float, weights: Tensor | None) -> None:
        self.relations = relations
        self._kernel = fact_kernel(terms)
        self._threads = min(torch.get_num_threads(), _MOST_THREADS)
        own = np.ones(len(relations), np.float32) if weights is None else as_array(weights)
        self._numbers = LOSS_NUMBERS[loss], np.float32(margin), own
        self._compile(terms.parts)

    def __call__(
        self, rows: Tensor, facts: Tensor, subjects: Tensor, objects: Tensor, relation_gradient: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Return J_F and ∇J_F by rows, for facts and corruptions whose entities are places among them."""
        count, threads = len(rows), self._threads if len(facts) else 1
        gradients = np.zeros((threads, *rows.shape), np.float32)
        by_relations = np.zeros((threads, *self.relations.shape), np.float32)
        given = tuple(map(as_array, (rows, self.relations, facts, subjects, objects)))
        slots = np.arange(count)

        def work(thread: int, first: int, last: int) -> float:
            return self._kernel(*given, slots, *self._numbers, gradients[thread], by_relations[thread], first, last)

        total = sum(share(threads, len(facts), work))
        for other in range(1, threads):
            gradients[0] += gradients[other]
        relation_gradient += torch.from_numpy(by_relations.sum(0))
        return torch.tensor(total, dtype=torch.float32), torch.from_numpy(gradients[0])

    def _compile(self, parts: int) -> None:
        """Compile the kernel, or find it where an earlier process left it, on a batch without facts."""
        facts, corruptions = torch.empty(0, 3, dtype=torch.long), torch.empty(1, 0, dtype=torch.long)
        rows = torch.empty(0, parts)

        def work() -> None:
            self(rows, facts, corruptions, corruptions, torch.zeros_like(self.relations, requires_grad=False))

        compiled(work)


@torch.no_grad()
def descend_on_rows_compiled_(
    table: RowTable, rows: Tensor, gradient: Tensor, rate: float, domain: Domain, generator: torch.Generator
) -> None:
    """Do what ``descend_on_rows_`` does, for single precision."""
    onto = domain.projection
    assert onto is not None
    given = as_array(table.weight), as_array(table.sums), as_array(gradient)[None], as_array(rows)
    numbers = np.float32(rate), PROJECTIONS[onto.kind], np.float32(onto.low), np.float32(onto.high)

    def work(thread: int, first: int, last: int) -> None:
        adagrad(*given, *numbers, first, last)

    share(min(torch.get_num_threads(), _MOST_THREADS), len(rows), work)
