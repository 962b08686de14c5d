"""AdaGrad on rows of unit norm: each row's gradient, summed over the mini-batch, is cut to norm 1 at most."""

from __future__ import annotations

import torch
from torch import Tensor

from clausal.model import Sphere

_TINY = 1e-8


class UnitRows:
    """A matrix whose rows have unit norm, and AdaGrad's sums of squared gradients."""

    def __init__(self, weight: Tensor, learning_rate: float) -> None:
        self.weight = Sphere().project_(weight)  # [rows, dim]
        self.squares = torch.zeros_like(weight)
        self.learning_rate = learning_rate

    def descend_(self, rows: Tensor, gradients: Tensor) -> None:
        """Take a step on gradients [n, dim] of rows [n], which may repeat, and restore the unit norms."""
        gradient = torch.zeros_like(self.weight).index_add_(0, rows, gradients)
        if self.weight.is_cuda:  # finding the rows that change would wait for the GPU; the others get a step of 0
            self._step_(gradient, self.squares, self.weight)
            return
        changed = torch.zeros(len(self.weight), dtype=torch.bool)
        changed[rows] = True
        places = changed.nonzero().squeeze(1)
        squares, weight = self.squares.index_select(0, places), self.weight.index_select(0, places)
        self._step_(gradient.index_select(0, places), squares, weight)
        self.squares.index_copy_(0, places, squares)
        self.weight.index_copy_(0, places, weight)

    def _step_(self, gradient: Tensor, squares: Tensor, weight: Tensor) -> None:
        gradient /= gradient.square().sum(-1, keepdim=True).sqrt_().clamp_min_(1)
        squares.addcmul_(gradient, gradient)
        weight.addcdiv_(gradient, squares.sqrt().add_(_TINY), value=-self.learning_rate)
        weight /= weight.square().sum(-1, keepdim=True).sqrt_()
