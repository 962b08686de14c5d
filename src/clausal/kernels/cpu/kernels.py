"""The CPU's kernels on the memory of torch's tensors, with as many threads as torch has."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from clausal.kernels.cpu.facts import fact_kernel
from clausal.kernels.cpu.threads import share
from clausal.kernels.cpu.updates import adagrad, assign_slots
from clausal.kernels.model import LOSSES, PROJECTIONS, FusedModel, Projection

_MOST_THREADS = 4
"""Each thread adds up gradients of its own, and beyond a few, adding those up takes longer than they save."""


class CPUKernels:
    """Gradients are kept for the entities of a batch alone, in slots, so that large graphs need no more memory."""

    def __init__(self, model: FusedModel) -> None:
        self.model = model
        self.threads = min(torch.get_num_threads(), _MOST_THREADS)
        weights = model.subject_weights
        self._weights = np.ones(len(model.relations), np.float32) if weights is None else _array(weights)
        self._named = np.empty(0, np.int64)
        self._slots = np.full(len(model.entities), -1, np.int64)
        self._rows = np.empty(0, np.int64)
        self._entity_gradients = np.zeros((self.threads, 0, model.entities.shape[1]), np.float32)
        self._relation_gradients = np.zeros((self.threads, *model.relations.shape), np.float32)
        self.relation_gradient = torch.from_numpy(self._relation_gradients[0])
        self._compile()
        self._named = _array(model.named)

    def add_fact_gradients(self, facts: Tensor, subjects: Tensor, objects: Tensor) -> Tensor:
        batch = _array(facts), _array(subjects), _array(objects)
        self._take_slots(*batch)
        model, kernel = self.model, fact_kernel(self.model.terms)
        tables = _array(model.entities), _array(model.relations)
        numbers = LOSSES[model.loss], np.float32(model.margin), self._weights

        def work(thread: int, first: int, last: int) -> float:
            into = self._entity_gradients[thread], self._relation_gradients[thread]
            return kernel(*tables, *batch, self._slots, *numbers, *into, first, last)

        return torch.tensor(sum(share(self.threads, len(facts), work)), dtype=torch.float32)

    def add_named_gradients(self, gradient: Tensor) -> None:
        self._entity_gradients[0, self._slots[self._named]] += _array(gradient)

    def adagrad_(self, entity_sums: Tensor, relation_sums: Tensor, rate: float) -> None:
        model, all_rows = self.model, np.arange(len(relation_sums))
        self._descend(model.entities, entity_sums, self._entity_gradients, self._rows, rate, model.onto)
        self._descend(model.relations, relation_sums, self._relation_gradients, all_rows, rate, Projection())
        self._slots[self._rows] = -1

    def _descend(
        self,
        parameters: Tensor,
        sums: Tensor,
        gradients: NDArray[Any],
        rows: NDArray[Any],
        rate: float,
        onto: Projection,
    ) -> None:
        tables = _array(parameters), _array(sums)
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
        for _ in range(3):  # a kernel that cannot be kept on a full disk is there the next time
            with suppress(OSError):
                self.add_fact_gradients(*nothing)
                self.adagrad_(*sums, 0.0)
                return


def _array(tensor: Tensor) -> NDArray[Any]:
    array: NDArray[Any] = tensor.detach().numpy()
    return array
