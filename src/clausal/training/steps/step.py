"""What every form of the step does: a pass of projected gradient steps over batches of facts."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import NamedTuple

import torch
from torch import Tensor

from clausal.training.objective import Objective


class Passed(NamedTuple):
    """What a pass leaves to report: the sum of the fact loss, and each clause's inconsistency at its last step."""

    fact_loss: Tensor
    inconsistency: Tensor


class Step(ABC):
    """Descends on the objective, batch by batch, and keeps the optimiser's state where it is saved from."""

    name: str

    def __init__(self, objective: Objective, optimizer: torch.optim.Optimizer) -> None:
        self.objective = objective
        self.optimizer = optimizer

    @abstractmethod
    def step(self, facts: Tensor, generator: torch.Generator) -> Passed:
        """One projected gradient step on J = J_F + α J_I for a batch of what a pass goes through: lines 21 to 23."""

    def train_pass(self, order: Tensor, generator: torch.Generator) -> Passed:
        """Go once through all facts in the given order."""
        fact_loss = torch.zeros((), device=order.device)
        inconsistency = fact_loss.new_zeros(0)
        for batch in order.split(self.objective.batch_size):
            batch_loss, inconsistency = self.step(self.objective.facts[batch].long(), generator)
            fact_loss += batch_loss
        return Passed(fact_loss, inconsistency)
