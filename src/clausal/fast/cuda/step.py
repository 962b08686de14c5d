"""The step of a model on a GPU: gradients, then AdaGrad and the projection, a program for each row.

Kernels work on the memory of torch's tensors, on the current stream.
"""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor

from clausal.fast.cuda.facts import add_fact_gradients
from clausal.fast.kernels import LOSS_NUMBERS, PROJECTIONS, FusedModel
from clausal.model.domains import Projection
from clausal.model.scorers.base import Terms

_CLIP = tl.constexpr(PROJECTIONS["clip"])
_SPHERE = tl.constexpr(PROJECTIONS["sphere"])


@triton.jit  # type: ignore[untyped-decorator]
def adagrad(  # type: ignore[no-untyped-def]
    parameters, sums, gradient, rate, low, high, kind: tl.constexpr, columns: tl.constexpr, block: tl.constexpr
):
    """θ ← proj(θ − η g / √Σg²); the gradient is left at zero."""
    i = tl.arange(0, block)
    inside = i < columns
    at = tl.program_id(0).to(tl.int64) * columns + i
    g = tl.load(gradient + at, mask=inside, other=0.0)
    row = tl.load(parameters + at, mask=inside, other=0.0)
    total = tl.load(sums + at, mask=inside, other=1.0) + g * g
    row -= rate * g / (tl.sqrt_rn(total) + 1e-10)
    if kind == _CLIP:
        row = tl.where(row < low, low, tl.where(row > high, high, row))  # in which NaN stays NaN
    else:
        norm = tl.sqrt_rn(tl.sum(row * row))
        if kind == _SPHERE:
            # The zero vector is as far from every point of the sphere as from any other.
            row = tl.where(norm == 0.0, columns**-0.5, row / tl.where(norm == 0.0, 1.0, norm))
        else:
            row = tl.where(norm > 1.0, row / norm, row)
    tl.store(parameters + at, row, mask=inside)
    tl.store(sums + at, total, mask=inside)
    tl.store(gradient + at, tl.zeros([block], tl.float32), mask=inside)


_WARPS = 2
_FREE = Projection()


class CUDAKernels:
    """Gradients are as large as the tables, as a GPU is done with all rows before it has found those of a batch."""

    def __init__(self, model: FusedModel) -> None:
        self.model = model
        self.entity_gradient = torch.zeros_like(model.entities, requires_grad=False)
        self.relation_gradient = torch.zeros_like(model.relations, requires_grad=False)

    def add_fact_gradients(self, facts: Tensor, subjects: Tensor, objects: Tensor) -> Tensor:
        model, count = self.model, len(facts)
        losses = torch.empty(count, device=facts.device)
        weights = losses if model.subject_weights is None else model.subject_weights
        tables = model.entities.detach(), model.relations.detach(), self.entity_gradient, self.relation_gradient
        add_fact_gradients[(count,)](
            *tables, facts, subjects.contiguous(), objects.contiguous(), weights, losses, model.margin, count,
            negatives=len(subjects), loss=LOSS_NUMBERS[model.loss], weighted=model.subject_weights is not None,
            **_sizes(model),
        )  # fmt: skip
        return losses.sum()

    def add_named_gradients(self, gradient: Tensor) -> None:
        self.entity_gradient.index_add_(0, self.model.named, gradient)

    def adagrad_(self, entity_sums: Tensor, relation_sums: Tensor, rate: float) -> None:
        descend_(self.model.entities.detach(), entity_sums, self.entity_gradient, rate, self.model.onto)
        descend_(self.model.relations.detach(), relation_sums, self.relation_gradient, rate)


def descend_(parameters: Tensor, sums: Tensor, gradient: Tensor, rate: float, onto: Projection = _FREE) -> None:
    """Take an AdaGrad step on a table [rows, columns], project its rows, and leave the gradient at zero."""
    count, columns = parameters.shape
    block = triton.next_power_of_2(columns)
    sizes = {"columns": columns, "block": block, "num_warps": max(_WARPS, min(8, block // 256))}
    kind = PROJECTIONS[onto.kind]
    adagrad[(count,)](parameters, sums, gradient, rate, onto.low, onto.high, kind=kind, **sizes)


def _sizes(model: FusedModel) -> dict[str, Any]:
    return {
        **term_weights(model.terms),
        "parts": model.terms.parts,
        "relation_parts": model.relations.shape[1] // model.width,
        "width": model.width,
        "block": triton.next_power_of_2(model.width),
        "num_warps": _WARPS,
    }


def term_weights(terms: Terms) -> dict[str, float]:
    """Return the weight of each term, 0 where a scorer lacks it, as ``w_ρσω``."""
    assert terms.parts <= 2, "a kernel holds at most two parts of a vector"
    weights = {f"w{rho}{sigma}{omega}": 0.0 for rho in (0, 1) for sigma in (0, 1) for omega in (0, 1)}
    for weight, rho, sigma, omega in terms.terms:
        weights[f"w{rho}{sigma}{omega}"] += float(weight)
    return weights
