"""What a machine's kernels do, and which there are."""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from typing import NamedTuple, Protocol

import torch
from torch import Tensor

from clausal.kernels.terms import Terms


class Projection(NamedTuple):
    """How rows are projected: ``clip`` to [low, high], to the ``sphere`` of norm 1, or into its ``ball``."""

    kind: str = "clip"
    low: float = -float("inf")
    high: float = float("inf")


class Kernels(Protocol):
    """Scores, gradients and updates on rows of matrices, in place. Triples are [3, n]: rows of x, of r and of y."""

    def scores(self, vectors: Tensor, relations: Tensor, triples: Tensor, terms: Terms) -> Tensor:
        """Return φ of each triple [n]."""

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
        """Add Σ c ∇φ over the triples to the gradients that are given."""

    def rows_of(self, triples: Tensor, total: int) -> Tensor | None:
        """Return the rows of vectors in some triples, each once; None where it is cheaper to take all."""

    def adagrad_(
        self, parameters: Tensor, sums: Tensor, gradient: Tensor, rate: float, onto: Projection, rows: Tensor | None
    ) -> None:
        """Take an AdaGrad step on some rows, or all, project them, and leave their gradient at zero."""


@cache
def find_kernels(device: torch.device) -> Kernels | str:
    """Return the kernels for a device, or why there are none."""
    if device.type == "cpu":
        if find_spec("numba") is None:
            return "the fused one needs numba on a CPU: pip install numba"
        from clausal.kernels.cpu import CPUKernels

        return CPUKernels()
    if device.type == "cuda":
        if find_spec("triton") is None:
            return "the fused one needs triton on a GPU, which comes with torch on Linux"
        from clausal.kernels.cuda import CUDAKernels

        return CUDAKernels()
    return f"there are no kernels for the device {device.type}"
