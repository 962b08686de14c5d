"""What a machine's kernels do, and which there are."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import Protocol

import torch
from torch import Tensor

from clausal.kernels.clauses import ClauseKernels
from clausal.kernels.model import FusedModel
from clausal.kernels.terms import Terms


class Kernels(Protocol):
    """The step of one model: gradients are added up, then descended on, and are left at zero."""

    relation_gradient: Tensor  # [relations, relation_dim]
    """Where the gradient of what is beside the facts is added."""

    def add_fact_gradients(self, facts: Tensor, subjects: Tensor, objects: Tensor) -> Tensor:
        """Add ∇J_F of facts [b, 3] and their corruptions [negatives, b], and return J_F."""

    def add_named_gradients(self, gradient: Tensor) -> None:
        """Add a gradient [named, dim] by the entities that clauses name, after that of the facts."""

    def adagrad_(self, entity_sums: Tensor, relation_sums: Tensor, rate: float) -> None:
        """Take an AdaGrad step, project the entities, and leave the gradients at zero."""


def find_kernels(device: torch.device) -> Callable[[FusedModel], Kernels] | str:
    """Return what makes kernels for a model on a device, or why there are none."""
    if device.type == "cpu":
        if find_spec("numba") is None:
            return "the fused one needs numba on a CPU: pip install numba"
        from clausal.kernels.cpu import CPUKernels

        return CPUKernels
    if device.type == "cuda":
        if find_spec("triton") is None:
            return "the fused one needs triton on a GPU, which comes with torch on Linux"
        from clausal.kernels.cuda import CUDAKernels

        return CUDAKernels
    return f"there are no kernels for the device {device.type}"


def find_clause_kernels(device: torch.device) -> Callable[[Terms], ClauseKernels] | None:
    """Return what makes kernels on adversarial sets for a scorer; None where torch's operations must do."""
    if device.type != "cpu" or find_spec("numba") is None:
        return None
    from clausal.kernels.cpu import CPUClauseKernels

    return CPUClauseKernels
