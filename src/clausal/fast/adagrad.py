"""AdaGrad on a GPU by one kernel for each table."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.optim import Adagrad


class FusedAdagrad(Adagrad):
    """AdaGrad on a GPU, which goes over a table once in a step; torch does so in each of several operations."""

    @torch.no_grad()
    def step(self, closure: None = None) -> None:  # type: ignore[override]
        """Take a step on every table by our kernel; gradients are left at zero."""
        from clausal.fast.cuda.step import descend_

        for group in self.param_groups:
            for parameter in group["params"]:
                if parameter.grad is not None:
                    rows = _as_table(parameter)
                    sums, gradient = self.state[parameter]["sum"], parameter.grad
                    descend_(rows, sums.view_as(rows), gradient.view_as(rows), group["lr"])


def _as_table(parameter: Tensor) -> Tensor:
    """View a parameter as [rows, columns], which a bias or a single number of a user's own module is not."""
    return parameter.view(-1, parameter.shape[-1] if parameter.dim() else 1)
