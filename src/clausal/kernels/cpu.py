"""Kernels for the CPU, compiled by Numba: no compiler is needed on the machine. Threads share the work by rows for
scores and updates, and by columns for gradients, so that no two of them write to the same number."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import cache
from typing import Any

import numpy as np
import torch
from numba import njit
from numpy.typing import NDArray
from torch import Tensor

from clausal.kernels.kernels import Projection
from clausal.kernels.terms import Term, Terms

_OPTIONS: dict[str, Any] = {
    "nogil": True,
    "cache": True,
    "error_model": "numpy",
    "fastmath": {"reassoc", "contract", "nsz", "arcp"},  # sums in any order, but NaN stays NaN
}
_KINDS = {"clip": 0, "sphere": 1, "ball": 2}
_NONE = np.zeros((1, 1), np.float32)


class CPUKernels:
    """Works on the memory of torch's tensors, with as many threads as torch has."""

    def __init__(self) -> None:
        one, triple, terms = torch.zeros(1, 1), torch.zeros(3, 1, dtype=torch.long), Terms(1, (Term(1, 0, 0, 0),))
        for compile in (
            lambda: self.scores(one, one, triple, terms),
            lambda: self.add_gradients(one, one, triple, one[0], terms, one, one),
            lambda: self.rows_of(triple, 1),
            lambda: self.adagrad_(one, one, one, 0.0, Projection(), triple[0]),
        ):
            with suppress(OSError):  # what is compiled cannot be kept on a full disk, but it is there
                compile()

    def scores(self, vectors: Tensor, relations: Tensor, triples: Tensor, terms: Terms) -> Tensor:
        out = np.empty(triples.shape[1], np.float32)
        arrays = _array(vectors), _array(relations), _array(triples), *_arrays(terms)
        width = vectors.shape[1] // terms.parts
        _share(len(out), lambda first, last: _scores(*arrays, width, out, first, last))
        return torch.from_numpy(out)

    def add_gradients(
        self,
        vectors: Tensor,
        relations: Tensor,
        triples: Tensor,
        coefficients: Tensor,
        terms: Terms,
        vector_gradient: Tensor | None,
        relation_gradient: Tensor | None,
    ) -> None:
        arrays = _array(vectors), _array(relations), _array(triples), _array(coefficients), *_arrays(terms)
        width = vectors.shape[1] // terms.parts
        into_vectors = _NONE if vector_gradient is None else vector_gradient.numpy()
        into_relations = _NONE if relation_gradient is None else relation_gradient.numpy()
        wanted = vector_gradient is not None, relation_gradient is not None
        _share(
            width,
            lambda first, last: _add_gradients(*arrays, width, into_vectors, into_relations, *wanted, first, last),
        )

    def rows_of(self, triples: Tensor, total: int) -> Tensor | None:
        seen = np.zeros(total, np.bool_)
        rows = np.empty(min(total, 2 * triples.shape[1]), np.int64)
        return torch.from_numpy(rows[: _distinct(_array(triples), seen, rows)])

    def adagrad_(
        self, parameters: Tensor, sums: Tensor, gradient: Tensor, rate: float, onto: Projection, rows: Tensor | None
    ) -> None:
        some = np.arange(len(parameters)) if rows is None else rows.numpy()
        arrays = _array(parameters), _array(sums), gradient.numpy(), some
        numbers = np.float32(rate), _KINDS[onto.kind], np.float32(onto.low), np.float32(onto.high)
        _share(len(some), lambda first, last: _adagrad(*arrays, *numbers, first, last))


def _array(tensor: Tensor) -> NDArray[Any]:
    array: NDArray[Any] = tensor.detach().numpy()
    return array


@cache
def _arrays(terms: Terms) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    parts = np.array([term[1:] for term in terms.terms], np.int64)
    return parts, np.array([term.weight for term in terms.terms], np.float32)


@cache
def _pool(threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads, thread_name_prefix="clausal-kernel")


def _share(size: int, work: Callable[[int, int], None]) -> None:
    """Let each thread do its share of a range."""
    threads = torch.get_num_threads()
    if threads == 1:
        work(0, size)
        return
    share = max(1, -(-size // threads))
    tasks = [_pool(threads).submit(work, start, min(start + share, size)) for start in range(share, size, share)]
    work(0, min(share, size))
    for task in tasks:
        task.result()


@njit(**_OPTIONS)
def _scores(vectors, relations, triples, parts, weights, width, out, first, last):  # type: ignore[no-untyped-def]
    """φ = Σ_t w_t Σᵢ r[ρ_t][i] x[σ_t][i] y[ω_t][i]."""
    for j in range(first, last):
        x, r, y = vectors[triples[0, j]], relations[triples[1, j]], vectors[triples[2, j]]
        score = np.float32(0)
        for t in range(len(weights)):
            r_t = r[parts[t, 0] * width : (parts[t, 0] + 1) * width]
            x_t = x[parts[t, 1] * width : (parts[t, 1] + 1) * width]
            y_t = y[parts[t, 2] * width : (parts[t, 2] + 1) * width]
            term = np.float32(0)
            for i in range(width):
                term += r_t[i] * x_t[i] * y_t[i]
            score += weights[t] * term
        out[j] = score


@njit(**_OPTIONS)
def _add_gradients(  # type: ignore[no-untyped-def]
    vectors, relations, triples, coefficients, parts, weights, width, into_vectors, into_relations,
    for_vectors, for_relations, first, last,
):  # fmt: skip
    """∂φ/∂x[σ_t] = w_t r[ρ_t] y[ω_t], and so on around the three vectors; only columns first to last of each part."""
    n = last - first
    for j in range(len(coefficients)):
        if coefficients[j] == 0:
            continue
        s, p, o = triples[0, j], triples[1, j], triples[2, j]
        x, r, y = vectors[s], relations[p], vectors[o]
        for t in range(len(weights)):
            c = coefficients[j] * weights[t]
            at_r, at_x, at_y = parts[t, 0] * width + first, parts[t, 1] * width + first, parts[t, 2] * width + first
            r_t, x_t, y_t = r[at_r : at_r + n], x[at_x : at_x + n], y[at_y : at_y + n]
            if for_vectors:
                g_x, g_y = into_vectors[s, at_x : at_x + n], into_vectors[o, at_y : at_y + n]
                for i in range(n):
                    g_x[i] += c * r_t[i] * y_t[i]
                for i in range(n):
                    g_y[i] += c * r_t[i] * x_t[i]
            if for_relations:
                g_r = into_relations[p, at_r : at_r + n]
                for i in range(n):
                    g_r[i] += c * x_t[i] * y_t[i]


@njit(**_OPTIONS)
def _adagrad(parameters, sums, gradient, rows, rate, kind, low, high, first, last):  # type: ignore[no-untyped-def]
    """θ ← proj(θ − η g / √Σg²), row by row; the gradient is left at zero."""
    for j in range(first, last):
        row, total, g = parameters[rows[j]], sums[rows[j]], gradient[rows[j]]
        for i in range(len(row)):
            total[i] += g[i] * g[i]
            row[i] -= rate * g[i] / (np.sqrt(total[i]) + np.float32(1e-10))
            g[i] = 0
        if kind == 0:
            for i in range(len(row)):
                row[i] = min(max(row[i], low), high)
        else:
            square = np.float32(0)
            for i in range(len(row)):
                square += row[i] * row[i]
            norm = np.sqrt(square)
            if kind == 1 or norm > 1:
                for i in range(len(row)):
                    row[i] /= norm


@njit(**_OPTIONS)
def _distinct(triples, seen, rows):  # type: ignore[no-untyped-def]
    """Fill ``rows`` with the rows of subjects and objects, each once, and return how many there are."""
    count = 0
    for column in (0, 2):
        for row in triples[column]:
            if not seen[row]:
                seen[row] = True
                rows[count] = row
                count += 1
    return count
