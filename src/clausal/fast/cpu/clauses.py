"""The CPU's kernels for clauses, with as many threads as torch has."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from clausal.fast.cpu.compiling import as_array, compiled, share
from clausal.fast.cpu.sets import KernelsOfTerms, add_to_rows, add_violations, best_corners, set_kernels
from clausal.fast.cpu.spectra import ball_kernel, pair_kernel
from clausal.fast.kernels import PROJECTIONS, BallForm, BoundSets, CornerFeatures, Forms, PairForm
from clausal.model.domains import Projection
from clausal.model.scorers.base import Terms

_MOST_THREADS = 4
"""Beyond a few, handing work to a thread takes longer than it saves."""


class CPUClauseKernels:
    """Each thread takes its share of the sets of every shape, so that threads meet once for all shapes."""

    def __init__(self, terms: Terms) -> None:
        self._terms = terms

    @cached_property
    def _on_sets(self) -> KernelsOfTerms:
        kernels = set_kernels(self._terms)
        vectors, (slopes, gradient) = np.zeros((0, 1, 1, self._terms.parts), np.float32), _nothing(2)
        relations, ids = np.zeros((0, 1), np.float32), np.zeros((0, 1), np.int64)
        places, rate = (np.zeros(1, np.int64),) * 2, np.float32(0)
        compiled(lambda: kernels.score(vectors, relations, ids, *places, slopes, 0, 0))
        compiled(lambda: kernels.relation_gradient(vectors, *places, slopes, gradient, 0, 0))
        compiled(lambda: kernels.ascend(vectors, vectors, relations, ids, *places, slopes, rate, 0, rate, rate, 0, 0))
        compiled(lambda: add_to_rows(gradient, ids, np.zeros(0, np.float32), relations))
        return kernels

    @cached_property
    def _alternate(self) -> Callable[..., None]:
        alternate = set_kernels(self._terms).alternate
        vectors, relations = np.zeros((0, 1, 1, self._terms.parts), np.float32), np.zeros((0, 1), np.float32)
        ids, places, numbers = np.zeros((0, 1), np.int64), np.zeros(1, np.int64), np.zeros(0, np.float32)
        forms, domain = (relations, numbers, np.zeros(0, np.int64)), (0, np.float32(0), np.float32(0))
        compiled(lambda: alternate(vectors, relations, ids, places, places, *forms, numbers, 0, *domain, 0, 0))
        return alternate

    @cached_property
    def _by_forms(self) -> Callable[..., None]:
        (scores, slopes), forms, numbers = _nothing(2), np.zeros((0, 1), np.float32), np.zeros(0, np.float32)
        compiled(lambda: add_violations(scores, forms, numbers, np.zeros(0, np.int64), numbers, numbers, slopes))
        return add_violations

    @cached_property
    def _of_pairs(self) -> Callable[..., None]:
        kernel, numbers, flags = pair_kernel(self._terms), np.zeros(0, np.float32), np.zeros(0, np.bool_)
        table, ids = np.zeros((0, 1), np.float32), np.zeros((0, 1), np.int64)
        compiled(lambda: kernel(numbers, flags, np.float32(0), 0, table, ids, numbers, numbers, table))
        return kernel

    @cached_property
    def _on_balls(self) -> Callable[..., None]:
        kernel, numbers, places = ball_kernel(self._terms), np.zeros(0, np.float32), np.zeros(0, np.int64)
        table, ids = np.zeros((0, 1), np.float32), np.zeros((0, 1), np.int64)
        form = table, numbers, table, places, places, True, 0
        compiled(lambda: kernel(*form, table, ids, numbers, numbers, table))
        return kernel

    @cached_property
    def _at_corners(self) -> Callable[..., None]:
        (features,), slopes, ids = _nothing(1), np.zeros(0, np.float32), np.zeros((0, 1), np.int64)
        compiled(lambda: best_corners(features, slopes, features[:, :, 0].copy(), ids, slopes, features))
        compiled(lambda: add_to_rows(features, ids, slopes, features[:, :, 0].copy()))
        return best_corners

    def score(self, bound: Sequence[BoundSets]) -> list[Tensor]:
        """Score the atoms of each shape [clauses, sets, atoms]."""
        scores = [sets.vectors.new_empty(*sets.vectors.shape[:2], len(sets.subjects)) for sets in bound]
        tasks = [
            (as_array(sets.vectors), *_relations(sets), *_places(sets), as_array(into))
            for sets, into in zip(bound, scores, strict=True)
        ]
        _share(self._on_sets.score, tasks, [len(sets.vectors) * sets.vectors.shape[1] for sets in bound])
        return scores

    def violations(
        self, scores: Sequence[Tensor], forms: Sequence[Forms], weights: Sequence[Tensor]
    ) -> tuple[list[Tensor], list[Tensor]]:
        """Return the sum of each clause's violations over its sets, and its gradient by the scores times weights."""
        sums, slopes = [torch.empty_like(one) for one in weights], [torch.empty_like(one) for one in scores]
        for of_group, tables, *rest in zip(scores, forms, weights, sums, slopes, strict=True):
            self._by_forms(as_array(of_group), *map(as_array, tables), *map(as_array, rest))
        return sums, slopes

    def add_relation_gradients(self, bound: Sequence[BoundSets], slopes: Sequence[Tensor], into: Tensor) -> None:
        """Add the gradient by all relations, given that by the scores of each shape [clauses, sets, atoms]."""
        gradients = [np.zeros((*sets.ids.shape, into.shape[1]), np.float32) for sets in bound]
        tasks = [
            (as_array(sets.vectors), *_places(sets), as_array(slope.contiguous()), gradient)
            for sets, slope, gradient in zip(bound, slopes, gradients, strict=True)
        ]
        # By clause, as each has a gradient of its own to add to: the sum is the same for any number of threads.
        _share(self._on_sets.relation_gradient, tasks, [len(sets.vectors) for sets in bound])
        for sets, gradient in zip(bound, gradients, strict=True):
            add_to_rows(gradient, as_array(sets.ids), np.ones(len(gradient), np.float32), as_array(into))

    def ascend_(
        self,
        bound: Sequence[BoundSets],
        sums: Sequence[Tensor],
        slopes: Sequence[Tensor],
        rate: float,
        onto: Projection,
    ) -> None:
        """Take an AdaGrad step up, or a plain one where the sums are empty; a vector without a gradient stays."""
        numbers = np.float32(rate), *_domain(onto)
        tasks = []
        for sets, squares, slope in zip(bound, sums, slopes, strict=True):
            tables = as_array(sets.vectors), as_array(squares), *_relations(sets)
            tasks.append((*tables, *_places(sets), as_array(slope.contiguous()), *numbers))
        _share(self._on_sets.ascend, tasks, [len(sets.vectors) * sets.vectors.shape[1] for sets in bound])

    def alternate_(
        self, bound: Sequence[BoundSets], forms: Sequence[Forms], shares: Sequence[float], steps: int, onto: Projection
    ) -> None:
        """Move one vector of each set after the other to where its clause is violated most."""
        numbers = np.array(shares, np.float32), steps, *_domain(onto)
        tasks = [
            (as_array(sets.vectors), *_relations(sets), *_places(sets), *map(as_array, tables), *numbers)
            for sets, tables in zip(bound, forms, strict=True)
        ]
        _share(self._alternate, tasks, [len(sets.vectors) * sets.vectors.shape[1] for sets in bound])

    def add_of_pairs(self, pairs: PairForm, ids: Tensor, relations: Tensor, slopes: Tensor, into: Tensor) -> Tensor:
        """Return [maxᵢ σmax(Mᵢ) + constant]₊ of each clause; add its gradient times slopes to that by relations."""
        largest = np.zeros(len(ids), np.float32)
        form = np.array(pairs.coefficients, np.float32), np.array(pairs.swapped), np.float32(pairs.constant)
        tables = as_array(relations), as_array(ids), as_array(slopes)
        self._of_pairs(*form, pairs.width, *tables, largest, as_array(into))
        return torch.from_numpy(largest)

    def add_on_balls(self, ball: BallForm, ids: Tensor, relations: Tensor, slopes: Tensor, into: Tensor) -> Tensor:
        """Return the bound of each clause for given λ and μ; add its gradient times slopes to that by relations."""
        largest = np.zeros(len(ids), np.float32)
        form = as_array(ball.coefficients), as_array(ball.offsets), as_array(ball.multipliers)
        places = np.array(ball.subjects, np.int64), np.array(ball.objects, np.int64)
        tables = as_array(relations), as_array(ids), as_array(slopes)
        self._on_balls(*form, *places, ball.sphere, ball.width, *tables, largest, as_array(into))
        return torch.from_numpy(largest)

    def add_by_corners(
        self, corners: Sequence[CornerFeatures], ids: Tensor, relations: Tensor, slopes: Tensor, into: Tensor
    ) -> Tensor:
        """Return the largest of 0 and Σᵢ maxₖ ⟨f(k), r[i]⟩ + constant over the alternatives of each clause.

        Its gradient by the relations, times the slope of its clause, is added to ``into``; ``ids`` [clauses, atoms]
        are the rows of the atoms' relations in both.
        """
        # By one thread, as meeting others would take as long.
        clauses, _, numbers = corners[0].features.shape
        components = ids.shape[1] * relations.shape[1] // numbers
        largest, gradient = np.zeros(clauses, np.float32), np.zeros((clauses, numbers, components), np.float32)
        rows = as_array(ids)
        for features, constants in corners:
            self._at_corners(as_array(features), as_array(constants), as_array(relations), rows, largest, gradient)
        add_to_rows(gradient, rows, as_array(slopes), as_array(into))
        return torch.from_numpy(largest)


def _share(kernel: Callable[..., None], tasks: Sequence[tuple[Any, ...]], sizes: Sequence[int]) -> None:
    """Let each thread do its share of every task, which is a range from 0 to its size."""
    threads = min(torch.get_num_threads(), _MOST_THREADS)

    def work(thread: int, _first: int, _last: int) -> None:
        for task, size in zip(tasks, sizes, strict=True):
            kernel(*task, thread * size // threads, (thread + 1) * size // threads)

    share(threads, threads, work)


def _relations(sets: BoundSets) -> tuple[NDArray[Any], NDArray[Any]]:
    return as_array(sets.relations), as_array(sets.ids)


def _places(sets: BoundSets) -> tuple[NDArray[Any], NDArray[Any]]:
    return np.array(sets.subjects, np.int64), np.array(sets.objects, np.int64)


def _domain(onto: Projection) -> tuple[int, np.float32, np.float32]:
    return PROJECTIONS[onto.kind], np.float32(onto.low), np.float32(onto.high)


def _nothing(count: int) -> list[NDArray[Any]]:
    """Return arrays without rows, on which kernels are compiled."""
    return [np.zeros((0, 1, 1), np.float32) for _ in range(count)]
