"""Kernels for CUDA GPUs, in Triton: a program for each triple, with atomic sums into the gradients.

Nothing here waits for the GPU, so that a graph can hold it.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor

from clausal.kernels.kernels import Projection
from clausal.kernels.terms import Terms

_WARPS = 2
_KINDS = {"clip": 0, "sphere": 1, "ball": 2}


class CUDAKernels:
    """Works on the memory of torch's tensors, on the current stream."""

    def scores(self, vectors: Tensor, relations: Tensor, triples: Tensor, terms: Terms) -> Tensor:
        count = triples.shape[1]
        out = torch.empty(count, device=vectors.device)
        if count:
            tables = _tables(terms, vectors.device)
            _scores[(count,)](vectors, relations, triples, *tables, out, count, **_sizes(vectors, relations, terms))
        return out

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
        count = triples.shape[1]
        if not count:
            return
        tables = _tables(terms, vectors.device)
        into = [given if given is not None else vectors for given in (vector_gradient, relation_gradient)]
        wanted = {"for_vectors": vector_gradient is not None, "for_relations": relation_gradient is not None}
        sizes = _sizes(vectors, relations, terms)
        _add_gradients[(count,)](vectors, relations, triples, coefficients, *tables, *into, count, **wanted, **sizes)

    def rows_of(self, triples: Tensor, total: int) -> Tensor | None:
        return None

    def adagrad_(
        self, parameters: Tensor, sums: Tensor, gradient: Tensor, rate: float, onto: Projection, rows: Tensor | None
    ) -> None:
        count, columns = parameters.shape
        block = triton.next_power_of_2(columns)
        sizes = {"kind": _KINDS[onto.kind], "columns": columns, "block": block, "num_warps": _WARPS}
        _adagrad[(count,)](parameters, sums, gradient, rate, onto.low, onto.high, **sizes)


@cache
def _tables(terms: Terms, device: torch.device) -> tuple[Tensor, Tensor]:
    parts = torch.tensor([term[1:] for term in terms.terms], dtype=torch.int32, device=device)
    return parts, torch.tensor([term.weight for term in terms.terms], device=device)


def _sizes(vectors: Tensor, relations: Tensor, terms: Terms) -> dict[str, Any]:
    width = vectors.shape[1] // terms.parts
    return {
        "terms": len(terms.terms),
        "width": width,
        "dim": vectors.shape[1],
        "relation_dim": relations.shape[1],
        "block": triton.next_power_of_2(width),
        "num_warps": _WARPS,
    }


@triton.jit  # type: ignore[untyped-decorator]
def _scores(  # type: ignore[no-untyped-def]
    vectors, relations, triples, parts, weights, out, count,
    terms: tl.constexpr, width: tl.constexpr, dim: tl.constexpr, relation_dim: tl.constexpr, block: tl.constexpr,
):  # fmt: skip
    """φ = Σ_t w_t Σᵢ r[ρ_t][i] x[σ_t][i] y[ω_t][i]."""
    j = tl.program_id(0)
    x = vectors + tl.load(triples + j) * dim
    r = relations + tl.load(triples + count + j) * relation_dim
    y = vectors + tl.load(triples + 2 * count + j) * dim
    i = tl.arange(0, block)
    inside = i < width
    score = tl.zeros([block], tl.float32)
    for t in tl.static_range(terms):
        r_t = tl.load(r + tl.load(parts + 3 * t) * width + i, mask=inside, other=0.0)
        x_t = tl.load(x + tl.load(parts + 3 * t + 1) * width + i, mask=inside, other=0.0)
        y_t = tl.load(y + tl.load(parts + 3 * t + 2) * width + i, mask=inside, other=0.0)
        score += tl.load(weights + t) * r_t * x_t * y_t
    tl.store(out + j, tl.sum(score))


@triton.jit  # type: ignore[untyped-decorator]
def _add_gradients(  # type: ignore[no-untyped-def]
    vectors, relations, triples, coefficients, parts, weights, into_vectors, into_relations, count,
    for_vectors: tl.constexpr, for_relations: tl.constexpr,
    terms: tl.constexpr, width: tl.constexpr, dim: tl.constexpr, relation_dim: tl.constexpr, block: tl.constexpr,
):  # fmt: skip
    """∂φ/∂x[σ_t] = w_t r[ρ_t] y[ω_t], and so on around the three vectors."""
    j = tl.program_id(0)
    coefficient = tl.load(coefficients + j)
    if coefficient != 0.0:
        s = tl.load(triples + j) * dim
        p = tl.load(triples + count + j) * relation_dim
        o = tl.load(triples + 2 * count + j) * dim
        i = tl.arange(0, block)
        inside = i < width
        for t in tl.static_range(terms):
            c = coefficient * tl.load(weights + t)
            at_r = p + tl.load(parts + 3 * t) * width + i
            at_x = s + tl.load(parts + 3 * t + 1) * width + i
            at_y = o + tl.load(parts + 3 * t + 2) * width + i
            x_t = tl.load(vectors + at_x, mask=inside, other=0.0)
            y_t = tl.load(vectors + at_y, mask=inside, other=0.0)
            if for_vectors:
                r_t = tl.load(relations + at_r, mask=inside, other=0.0)
                tl.atomic_add(into_vectors + at_x, c * r_t * y_t, mask=inside, sem="relaxed")
                tl.atomic_add(into_vectors + at_y, c * r_t * x_t, mask=inside, sem="relaxed")
            if for_relations:
                tl.atomic_add(into_relations + at_r, c * x_t * y_t, mask=inside, sem="relaxed")


@triton.jit  # type: ignore[untyped-decorator]
def _adagrad(  # type: ignore[no-untyped-def]
    parameters, sums, gradient, rate, low, high, kind: tl.constexpr, columns: tl.constexpr, block: tl.constexpr
):
    """θ ← proj(θ − η g / √Σg²), a row for each program; the gradient is left at zero."""
    i = tl.arange(0, block)
    inside = i < columns
    at = tl.program_id(0).to(tl.int64) * columns + i
    g = tl.load(gradient + at, mask=inside, other=0.0)
    row = tl.load(parameters + at, mask=inside, other=0.0)
    total = tl.load(sums + at, mask=inside, other=1.0) + g * g
    row -= rate * g / (tl.sqrt_rn(total) + 1e-10)
    if kind == 0:
        row = tl.minimum(tl.maximum(row, low), high)
    else:
        norm = tl.sqrt_rn(tl.sum(row * row))
        row = row / (norm if kind == 1 else tl.maximum(norm, 1.0))
    tl.store(parameters + at, row, mask=inside)
    tl.store(sums + at, total, mask=inside)
    tl.store(gradient + at, tl.zeros([block], tl.float32), mask=inside)
