"""The plain step with its loss and gradient compiled by torch: for every scorer, a user's own too.

On a CPU, torch.compile needs a C++ compiler; on a GPU it does not.
"""

from __future__ import annotations

import torch

from clausal.training.objective import Objective
from clausal.training.steps.eager import EagerStep


class CompiledStep(EagerStep):
    """The eager step, of which torch compiles the objective and its gradient."""

    name = "compiled"

    def __init__(self, objective: Objective, optimizer: torch.optim.Optimizer) -> None:
        super().__init__(objective, optimizer)
        self.losses = torch.compile(super().losses)  # type: ignore[method-assign]
