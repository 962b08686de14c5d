"""The GPU's kernels on the memory of torch's tensors, on the current stream."""

from __future__ import annotations

from typing import Any

import torch
import triton
from torch import Tensor

from clausal.kernels.cuda.facts import add_fact_gradients
from clausal.kernels.cuda.updates import adagrad
from clausal.kernels.model import LOSSES, PROJECTIONS, FusedModel, Projection
from clausal.kernels.terms import Terms

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
            negatives=len(subjects), loss=LOSSES[model.loss], weighted=model.subject_weights is not None,
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
        **_weights(model.terms),
        "parts": model.terms.parts,
        "relation_parts": model.relations.shape[1] // model.width,
        "width": model.width,
        "block": triton.next_power_of_2(model.width),
        "num_warps": _WARPS,
    }


def _weights(terms: Terms) -> dict[str, float]:
    """Return the weight of each term, 0 where a scorer lacks it, as ``w_ρσω``."""
    assert terms.parts <= 2, "a kernel holds at most two parts of a vector"
    weights = {f"w{rho}{sigma}{omega}": 0.0 for rho in (0, 1) for sigma in (0, 1) for omega in (0, 1)}
    for weight, rho, sigma, omega in terms.terms:
        weights[f"w{rho}{sigma}{omega}"] += float(weight)
    return weights
