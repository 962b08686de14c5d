"""The CPU's kernels for clauses, with as many threads as torch has."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from clausal.kernels.clauses import BoundSets, Corners
from clausal.kernels.cpu.corners import best_corners
from clausal.kernels.cpu.sets import set_kernels
from clausal.kernels.cpu.threads import as_array, compiled, share
from clausal.kernels.model import PROJECTIONS, Projection
from clausal.kernels.terms import Terms


class CPUClauseKernels:
    """Each thread takes its share of the sets of every shape, so that threads meet once for all shapes."""

    def __init__(self, terms: Terms) -> None:
        self._kernels = set_kernels(terms)
        self._compile(terms)

    def score(self, bound: Sequence[BoundSets]) -> list[Tensor]:
        scores = [sets.vectors.new_empty(*sets.vectors.shape[:2], len(sets.subjects)) for sets in bound]
        tasks = [
            (as_array(sets.vectors), as_array(sets.relations), *_places(sets), as_array(into))
            for sets, into in zip(bound, scores, strict=True)
        ]
        _share(self._kernels.score, tasks, [len(sets.vectors) * sets.vectors.shape[1] for sets in bound])
        return scores

    def relation_gradients(self, bound: Sequence[BoundSets], slopes: Sequence[Tensor]) -> list[Tensor]:
        gradients = [torch.zeros_like(sets.relations) for sets in bound]
        tasks = [
            (as_array(sets.vectors), *_places(sets), as_array(slope.contiguous()), as_array(into))
            for sets, slope, into in zip(bound, slopes, gradients, strict=True)
        ]
        # By clause, as each has a gradient of its own to add to: the sum is the same for any number of threads.
        _share(self._kernels.relation_gradient, tasks, [len(sets.vectors) for sets in bound])
        return gradients

    def ascend_(
        self,
        bound: Sequence[BoundSets],
        sums: Sequence[Tensor],
        slopes: Sequence[Tensor],
        rate: float,
        onto: Projection,
    ) -> None:
        numbers = np.float32(rate), PROJECTIONS[onto.kind], np.float32(onto.low), np.float32(onto.high)
        tasks = []
        for sets, squares, slope in zip(bound, sums, slopes, strict=True):
            tables = as_array(sets.vectors), as_array(squares), as_array(sets.relations)
            tasks.append((*tables, *_places(sets), as_array(slope.contiguous()), *numbers))
        _share(self._kernels.ascend, tasks, [len(sets.vectors) * sets.vectors.shape[1] for sets in bound])

    def largest_by_corners(self, corners: Sequence[Corners], relations: Tensor) -> tuple[Tensor, Tensor]:
        # By one thread, as meeting others would take as long.
        largest, gradient = np.zeros(len(relations), np.float32), np.zeros(relations.shape, np.float32)
        for features, constants in corners:
            best_corners(as_array(features), as_array(constants), as_array(relations), largest, gradient)
        return torch.from_numpy(largest), torch.from_numpy(gradient)

    def _compile(self, terms: Terms) -> None:
        width = 1 + max(term.relation for term in terms.terms)
        nothing = BoundSets(torch.zeros(0, 1, 1, terms.parts), torch.zeros(0, 1, width), (0,), (0,))

        def work() -> None:
            (slopes,) = self.score([nothing])
            self.relation_gradients([nothing], [slopes])
            self.ascend_([nothing], [nothing.vectors], [slopes], 0.0, Projection())
            self.largest_by_corners([Corners(slopes, slopes.flatten())], slopes)

        compiled(work)


def _share(kernel: Callable[..., None], tasks: Sequence[tuple[Any, ...]], sizes: Sequence[int]) -> None:
    """Let each thread do its share of every task, which is a range from 0 to its size."""
    threads = torch.get_num_threads()

    def work(thread: int, _first: int, _last: int) -> None:
        for task, size in zip(tasks, sizes, strict=True):
            kernel(*task, thread * size // threads, (thread + 1) * size // threads)

    share(threads, threads, work)


def _places(sets: BoundSets) -> tuple[NDArray[Any], NDArray[Any]]:
    return np.array(sets.subjects), np.array(sets.objects)
