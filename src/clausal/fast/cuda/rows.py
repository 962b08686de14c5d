"""The step by rows on a GPU: the gradient of facts by the rows of their batch, and AdaGrad on rows of a table.

A program takes one row: it reads it from the table, steps, projects, rounds and writes it, so that rows in bfloat16 are
never unfolded as a whole.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor

from clausal.fast.cuda.facts import add_fact_gradients
from clausal.fast.cuda.step import term_weights
from clausal.fast.kernels import LOSS_NUMBERS, PROJECTIONS
from clausal.model.domains import Domain
from clausal.model.row_table import RowTable
from clausal.model.scorers.base import Terms

_CLIP = tl.constexpr(PROJECTIONS["clip"])
_SPHERE = tl.constexpr(PROJECTIONS["sphere"])
_WARPS = 2


@triton.jit  # type: ignore[untyped-decorator]
def adagrad_on_rows(  # type: ignore[no-untyped-def]
    table, sums, rows, gradient, rate, low, high, seed,
    kind: tl.constexpr, by_row: tl.constexpr, columns: tl.constexpr, block: tl.constexpr,
):  # fmt: skip
    """θ ← proj(θ − η g / √Σg²) on rows of a table; rows in bfloat16 are rounded at random."""
    place = tl.program_id(0).to(tl.int64)
    i = tl.arange(0, block)
    inside = i < columns
    own = tl.load(rows + place)
    at = own * columns + i
    g = tl.load(gradient + place * columns + i, mask=inside, other=0.0)
    row = tl.load(table + at, mask=inside, other=0.0).to(tl.float32)
    if by_row:
        squares = g * g
        if kind == _CLIP:  # what lies at an edge and is pushed against it cannot move, and does not count
            squares = tl.where(((row <= low) & (g > 0)) | ((row >= high) & (g < 0)), 0.0, squares)
        total = tl.load(sums + own) + tl.sum(squares) / columns
        tl.store(sums + own, total)
        row -= rate * g / (tl.sqrt_rn(total) + 1e-10)
    else:
        totals = tl.load(sums + at, mask=inside, other=1.0) + g * g
        tl.store(sums + at, totals, mask=inside)
        row -= rate * g / (tl.sqrt_rn(totals) + 1e-10)
    row = tl.where(inside, row, 0.0)
    if kind == _CLIP:
        row = tl.where(row < low, low, tl.where(row > high, high, row))  # in which NaN stays NaN
    else:
        norm = tl.sqrt_rn(tl.sum(row * row))
        if kind == _SPHERE:
            # The zero vector is as far from every point of the sphere as from any other.
            row = tl.where(norm == 0.0, columns**-0.5, row / tl.where(norm == 0.0, 1.0, norm))
        else:
            row = tl.where(norm > 1.0, row / norm, row)
    if table.dtype.element_ty == tl.bfloat16:
        drawn = tl.randint(tl.load(seed).to(tl.int32), place.to(tl.int32) * block + i)
        noise = drawn.to(tl.int32, bitcast=True) & 0xFFFF
        bits = (row.to(tl.int32, bitcast=True) + noise) & -65536
        tl.store(table + at, bits.to(tl.float32, bitcast=True).to(tl.bfloat16), mask=inside)
    else:
        tl.store(table + at, row, mask=inside)


class CUDARowKernels:
    """The gradient of the fact loss by the rows of a batch, and by relations."""

    def __init__(self, terms: Terms, relations: Tensor, loss: str, margin: float, weights: Tensor | None) -> None:
        self.relations = relations
        self._loss, self._margin, self._weights, self._terms = LOSS_NUMBERS[loss], margin, weights, terms

    def __call__(
        self, rows: Tensor, facts: Tensor, subjects: Tensor, objects: Tensor, relation_gradient: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Return J_F and ∇J_F by rows, for facts and corruptions whose entities are places among them."""
        count, width = len(facts), rows.shape[1] // self._terms.parts
        gradient = torch.zeros_like(rows)
        losses = torch.empty(count, device=rows.device)
        if count:
            add_fact_gradients[(count,)](
                rows, self.relations.detach(), gradient, relation_gradient, facts, subjects.contiguous(),
                objects.contiguous(), losses if self._weights is None else self._weights, losses, self._margin, count,
                negatives=len(subjects), loss=self._loss, weighted=self._weights is not None,
                parts=self._terms.parts, relation_parts=self.relations.shape[1] // width, width=width,
                block=triton.next_power_of_2(width), num_warps=_WARPS, **term_weights(self._terms),
            )  # fmt: skip
        return losses.sum(), gradient


@torch.no_grad()
def descend_on_rows_by_kernel_(
    table: RowTable, rows: Tensor, gradient: Tensor, rate: float, domain: Domain, generator: torch.Generator
) -> None:
    """Do what ``descend_on_rows_`` does, a program for each row."""
    onto = domain.projection
    assert onto is not None
    columns = gradient.shape[1]
    block = triton.next_power_of_2(columns)
    seed = torch.randint(1 << 31, (1,), generator=generator, device=rows.device)  # read there: nothing waits for it
    if len(rows):
        adagrad_on_rows[(len(rows),)](
            table.weight.detach(), table.sums, rows, gradient, rate, onto.low, onto.high, seed,
            kind=PROJECTIONS[onto.kind], by_row=table.sums.shape[1] == 1, columns=columns, block=block,
            num_warps=max(_WARPS, min(8, block // 256)),
        )  # fmt: skip
