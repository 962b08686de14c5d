"""The step of a model on a CPU: gradients, AdaGrad and the projection, on the rows that a batch touches.

Kernels work on the memory of torch's tensors, by as many threads as torch has.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from clausal.fast.cpu.compiling import as_array, compiled, compiled_kernel, inlined, share
from clausal.fast.cpu.facts import fact_kernel
from clausal.fast.cpu.parts import adagrad_row, adagrad_row_of_one_sum, prefetch
from clausal.fast.kernels import LOSS_NUMBERS, PROJECTIONS, FusedModel
from clausal.model.domains import Projection

_AHEAD = 4
"""How many rows before its turn a row is fetched: a row takes less time than memory takes to answer."""
_BUCKETS = 4096


@compiled_kernel
def adagrad(parameters, sums, gradients, rows, rate, kind, low, high, first, last):  # type: ignore[no-untyped-def]
    """θ ← proj(θ − η g / √Σg²), g being the sum over threads of gradients [threads, slots, dim], left at zero.

    Rows without sums are not stepped on: they are copies of rows that another process has.
    """
    for slot in range(first, last):
        if rows[slot] >= len(sums):
            gradients[:, slot] = 0
            continue
        if slot + _AHEAD < last and rows[slot + _AHEAD] < len(sums):
            prefetch(parameters, rows[slot + _AHEAD])
            prefetch(sums, rows[slot + _AHEAD])
        row, total, g = parameters[rows[slot]], sums[rows[slot]], gradients[0, slot]
        for thread in range(1, len(gradients)):
            other = gradients[thread, slot]
            for i in range(len(row)):
                g[i] += other[i]
                other[i] = 0
        if len(total) < len(row):
            adagrad_row_of_one_sum(row, total, g, rate, kind, low, high)
        else:
            adagrad_row(row, total, g, rate, kind, low, high)


@compiled_kernel
def assign_slots(facts, subjects, objects, named, slots, rows):  # type: ignore[no-untyped-def]
    """Give each entity of a batch a slot, nearly in the order of their rows, and return how many there are.

    ``slots`` come as −1 for all entities. Rows in order are updated nearly twice as fast as rows in any other, and
    dealing them into buckets of neighbours brings most of that in a small part of the time of sorting them.
    """
    count = 0
    for column in (facts[:, 0], facts[:, 2]):
        count = _mark(column, slots, rows, count)
    for ids in (subjects.ravel(), objects.ravel(), named):
        count = _mark(ids, slots, rows, count)
    found = rows[:count].copy()
    width = len(slots) // _BUCKETS + 1
    starts = np.zeros(_BUCKETS + 1, np.int64)
    for row in found:
        starts[row // width + 1] += 1
    starts = np.cumsum(starts)
    for row in found:
        slot = starts[row // width]
        starts[row // width] += 1
        rows[slot] = row
        slots[row] = slot
    return count


@inlined
def _mark(ids, slots, rows, count):  # type: ignore[no-untyped-def]
    """Add to ``rows`` the entities without a slot, and return how many there are now."""
    for row in ids:
        if slots[row] < 0:
            slots[row] = 0
            rows[count] = row
            count += 1
    return count


@compiled_kernel
def sum_gradients(gradients, slots, rows, into):  # type: ignore[no-untyped-def]
    """Write the gradients of rows, summed over threads, into [rows, dim]."""
    for place in range(len(rows)):
        slot = slots[rows[place]]
        into[place] = gradients[0, slot]
        for thread in range(1, len(gradients)):
            into[place] += gradients[thread, slot]


@compiled_kernel
def add_gradients(gradients, slots, rows, added):  # type: ignore[no-untyped-def]
    """Add gradients [rows, dim] to those of rows."""
    for place in range(len(rows)):
        if place + _AHEAD < len(rows):
            prefetch(gradients, slots[rows[place + _AHEAD]])
        g = gradients[slots[rows[place]]]
        for i in range(len(g)):
            g[i] += added[place, i]


_MOST_THREADS = 4
"""Each thread adds up gradients of its own, and beyond a few, adding those up takes longer than they save."""


class CPUKernels:
    """Gradients are kept for the entities of a batch alone, in slots, so that large graphs need no more memory."""

    def __init__(self, model: FusedModel) -> None:
        self.model = model
        self.threads = min(torch.get_num_threads(), _MOST_THREADS)
        weights = model.subject_weights
        self._weights = np.ones(len(model.relations), np.float32) if weights is None else as_array(weights)
        self._named = np.empty(0, np.int64)
        self._slots = np.full(len(model.entities), -1, np.int64)
        self._rows = np.empty(0, np.int64)
        self._entity_gradients = np.zeros((self.threads, 0, model.entities.shape[1]), np.float32)
        self._relation_gradients = np.zeros((self.threads, *model.relations.shape), np.float32)
        self.relation_gradient = torch.from_numpy(self._relation_gradients[0])
        self._compile()
        self._named = as_array(model.named)

    def add_fact_gradients(
        self, facts: Tensor, subjects: Tensor, objects: Tensor, further: NDArray[Any] | None = None
    ) -> Tensor:
        """Add ∇J_F and return J_F; ``further`` rows, in place of those that clauses name, get gradients later."""
        batch = as_array(facts), as_array(subjects), as_array(objects)
        if further is not None:
            self._named = further
        self._take_slots(*batch)
        model, kernel = self.model, fact_kernel(self.model.terms)
        tables = as_array(model.entities), as_array(model.relations)
        numbers = LOSS_NUMBERS[model.loss], np.float32(model.margin), self._weights

        def work(thread: int, first: int, last: int) -> float:
            into = self._entity_gradients[thread], self._relation_gradients[thread]
            return kernel(*tables, *batch, self._slots, *numbers, *into, first, last)

        return torch.tensor(sum(share(self.threads, len(facts), work)), dtype=torch.float32)

    def add_named_gradients(self, gradient: Tensor) -> None:
        self._entity_gradients[0, self._slots[self._named]] += as_array(gradient)

    def adagrad_(self, entity_sums: Tensor, relation_sums: Tensor, rate: float) -> None:
        model, all_rows = self.model, np.arange(len(relation_sums))
        self._descend(model.entities, entity_sums, self._entity_gradients, self._rows, rate, model.onto)
        self._descend(model.relations, relation_sums, self._relation_gradients, all_rows, rate, Projection())
        self._slots[self._rows] = -1

    def gradients_of(self, rows: NDArray[Any]) -> NDArray[Any]:
        """Return the gradients of some rows of a batch, after that of the facts [rows, dim]."""
        found = np.empty((len(rows), self.model.entities.shape[1]), np.float32)
        sum_gradients(self._entity_gradients, self._slots, rows, found)
        return found

    def add_gradients_of(self, rows: NDArray[Any], gradients: NDArray[Any]) -> None:
        """Add gradients of rows of a batch."""
        add_gradients(self._entity_gradients[0], self._slots, rows, gradients)

    def sum_relation_gradients(self) -> None:
        """Leave the gradients by relations of all threads in ``relation_gradient``."""
        for other in self._relation_gradients[1:]:
            self._relation_gradients[0] += other
            other[:] = 0

    def _descend(
        self,
        parameters: Tensor,
        sums: Tensor,
        gradients: NDArray[Any],
        rows: NDArray[Any],
        rate: float,
        onto: Projection,
    ) -> None:
        tables = as_array(parameters), as_array(sums)
        numbers = np.float32(rate), PROJECTIONS[onto.kind], np.float32(onto.low), np.float32(onto.high)

        def work(thread: int, first: int, last: int) -> None:
            adagrad(*tables, gradients, rows, *numbers, first, last)

        share(self.threads, len(rows), work)

    def _take_slots(self, facts: NDArray[Any], subjects: NDArray[Any], objects: NDArray[Any]) -> None:
        entities, dim = self.model.entities.shape
        most = min(entities, 2 * len(facts) + subjects.size + objects.size + len(self._named))
        if most > self._entity_gradients.shape[1]:
            self._entity_gradients = np.zeros((self.threads, most, dim), np.float32)
        rows = np.empty(most, np.int64)
        self._rows = rows[: assign_slots(facts, subjects, objects, self._named, self._slots, rows)]

    def _compile(self) -> None:
        """Compile the kernels, or find them where an earlier process left them, on a batch without facts."""
        nothing = torch.empty(0, 3, dtype=torch.long), *torch.empty(2, 1, 0, dtype=torch.long)
        sums = torch.empty_like(self.model.entities[:0]), torch.ones_like(self.model.relations)

        def work() -> None:
            self.add_fact_gradients(*nothing)
            self.add_gradients_of(np.empty(0, np.int64), self.gradients_of(np.empty(0, np.int64)))
            self.adagrad_(*sums, 0.0)

        compiled(work)
