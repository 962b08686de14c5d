"""What kernels are made of: fetching rows ahead, the gradient of a score, and one row of a step with its projection.

Rows of a fact lie anywhere in a table, and no processor guesses where: they are asked for before they are needed. The
gradient of a trilinear score by one of its vectors is a product of the other two. The descent on a model and the ascent
on a set take the same step, with the same projection.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from clausal.fast.cpu.compiling import inlined
from clausal.fast.kernels import PROJECTIONS

_LINE = 64  # bytes that a processor fetches at once
_READ, _LOCALITY, _DATA = 0, 2, 1


def _prefetch(typing_context: Any, matrix: Any, row: Any) -> Any:
    """Fetch a row of a matrix into the cache, and go on without waiting for it."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        bytes_per_row = cgutils.unpack_tuple(builder, array.strides)[0]
        pointer, number = ir.IntType(8).as_pointer(), ir.IntType(32)
        fetch = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(ir.VoidType(), [pointer, number, number, number]), "llvm.prefetch.p0i8"
        )
        start = builder.gep(builder.bitcast(array.data, pointer), [builder.mul(arguments[1], bytes_per_row)])
        first, step = ir.Constant(bytes_per_row.type, 0), ir.Constant(bytes_per_row.type, _LINE)
        with cgutils.for_range_slice(builder, first, bytes_per_row, step, inc=True) as (offset, _):
            hints = [ir.Constant(number, hint) for hint in (_READ, _LOCALITY, _DATA)]
            builder.call(fetch, [builder.gep(start, [offset]), *hints])
        return context.get_dummy_value()

    return types.void(matrix, types.intp), generate


prefetch: Any = intrinsic(_prefetch)
"""``prefetch(matrix, row)``, inside a kernel."""


ONE = np.float32(1)


@inlined
def add_by_subject(terms, parts, c, relation, object, into):  # type: ignore[no-untyped-def]
    """Add c ∂φ/∂x, with ∂φ/∂x[σ] = Σ_t w_t r[ρ_t] y[ω_t] over the terms with σ_t = σ."""
    width = len(object) // parts
    for part in range(parts):
        for i in range(width):
            total = np.float32(0)
            for weight, rho, sigma, omega in terms:
                if sigma == part:
                    total += np.float32(weight) * relation[rho * width + i] * object[omega * width + i]
            into[part * width + i] += c * total


@inlined
def add_by_object(terms, parts, c, relation, subject, into):  # type: ignore[no-untyped-def]
    """Add c ∂φ/∂y, with ∂φ/∂y[ω] = Σ_t w_t r[ρ_t] x[σ_t] over the terms with ω_t = ω."""
    width = len(subject) // parts
    for part in range(parts):
        for i in range(width):
            total = np.float32(0)
            for weight, rho, sigma, omega in terms:
                if omega == part:
                    total += np.float32(weight) * relation[rho * width + i] * subject[sigma * width + i]
            into[part * width + i] += c * total


@inlined
def add_by_relation(terms, parts, c, subject, object, into):  # type: ignore[no-untyped-def]
    """Add c ∂φ/∂r, with ∂φ/∂r[ρ] = Σ_t w_t x[σ_t] y[ω_t] over the terms with ρ_t = ρ."""
    width = len(subject) // parts
    for part in range(len(into) // width):
        for i in range(width):
            total = np.float32(0)
            for weight, rho, sigma, omega in terms:
                if rho == part:
                    total += np.float32(weight) * subject[sigma * width + i] * object[omega * width + i]
            into[part * width + i] += c * total


_CLIP, _SPHERE = PROJECTIONS["clip"], PROJECTIONS["sphere"]


@inlined
def adagrad_row(row, total, g, rate, kind, low, high):  # type: ignore[no-untyped-def]
    """θ ← proj(θ − η g / √Σg²), g being left at zero; a negative η ascends."""
    for i in range(len(row)):
        square = total[i] + g[i] * g[i]
        total[i] = square
        row[i] -= rate * g[i] / (np.sqrt(square) + np.float32(1e-10))
        g[i] = 0
    project_row(row, kind, low, high)


@inlined
def adagrad_row_of_one_sum(row, total, g, rate, kind, low, high):  # type: ignore[no-untyped-def]
    """θ ← proj(θ − η g / √Σg²) with one sum for the row, of the mean of the squares of what can move."""
    square = np.float32(0)
    for i in range(len(row)):
        blocked = kind == _CLIP and ((row[i] <= low and g[i] > 0) or (row[i] >= high and g[i] < 0))
        square += np.float32(0) if blocked else g[i] * g[i]
    total[0] += square / np.float32(len(row))
    scale = rate / (np.sqrt(total[0]) + np.float32(1e-10))
    for i in range(len(row)):
        row[i] -= scale * g[i]
        g[i] = 0
    project_row(row, kind, low, high)


@inlined
def plain_row(row, g, rate, kind, low, high):  # type: ignore[no-untyped-def]
    """θ ← proj(θ − η g), g being left at zero; a negative η ascends."""
    for i in range(len(row)):
        row[i] -= rate * g[i]
        g[i] = 0
    project_row(row, kind, low, high)


@inlined
def farthest_row(g, kind, low, high, into):  # type: ignore[no-untyped-def]
    """Fill in the vector of a domain that lies farthest in the direction g."""
    if kind == _CLIP:
        for i in range(len(g)):
            into[i] = low if g[i] < 0 else high
    else:
        into[:] = g
        project_row(into, _SPHERE, low, high)


@inlined
def project_row(row, kind, low, high):  # type: ignore[no-untyped-def]
    """θ ← proj(θ)."""
    if kind == _CLIP:
        for i in range(len(row)):
            row[i] = low if row[i] < low else (high if row[i] > high else row[i])
    else:
        square = np.float32(0)
        for i in range(len(row)):
            square += row[i] * row[i]
        norm = np.sqrt(square)
        if kind == _SPHERE and norm == 0:  # as far from every point of the sphere as from any other
            row[:] = np.float32(1 / np.sqrt(len(row)))
        elif kind == _SPHERE or norm > 1:
            for i in range(len(row)):
                row[i] /= norm
