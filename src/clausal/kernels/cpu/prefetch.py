"""Asking for a row of a matrix before it is needed: rows of a fact lie anywhere, and no processor guesses where."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

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
