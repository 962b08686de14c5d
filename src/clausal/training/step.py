"""The discriminator's step and its passes over the facts: lines 18 to 23 of Algorithm 1.

This is the reference: autograd and torch's optimiser train every model. The fast forms in ``clausal.fast`` stand in for
``Step`` and ``Pass``, and are compared with them.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from clausal.training.objective import Objective


class Losses(NamedTuple):
    """What a step, or a pass, showed: J_F, summed over its facts, and J_I of each clause of the last step."""

    fact_loss: Tensor
    inconsistency: Tensor  # [clauses]


class Step:
    """One projected gradient step on J = J_F + α J_I for a batch: lines 21 to 23."""

    name = "eager"

    def __init__(self, objective: Objective, optimizer: torch.optim.Optimizer) -> None:
        self.objective = objective
        self.optimizer = optimizer

    def own_part(self, batch: Tensor) -> Tensor:
        """Return what this process takes of a batch, where several train together; here all of it."""
        return batch

    def __call__(self, facts: Tensor, generator: torch.Generator) -> Losses:
        """Step on a batch of what a pass goes through."""
        objective = self.objective
        negatives = objective.draw(facts, generator)
        fact_loss, penalty = objective.fact_loss(facts, negatives)
        inconsistency = objective.inconsistency()
        loss = fact_loss + penalty + objective.weighted(inconsistency) + objective.l2_penalty()
        self.optimizer.zero_grad()
        loss.backward()  # g ← ∇ J(G, A; θ, γ, S)
        self.optimizer.step()  # (θ, γ) ← (θ, γ) − η g
        objective.predictor.project_()  # hⱼ ← proj(hⱼ)
        return Losses(fact_loss.detach(), inconsistency.detach())


class Pass:
    """One pass over the facts, in batches: the body of the loop in line 20."""

    def __init__(self, step: Step) -> None:
        self.step = step

    def __call__(self, order: Tensor, generator: torch.Generator) -> Losses:
        """Go once through all facts in the given order."""
        objective = self.step.objective
        fact_loss = torch.zeros((), device=order.device)
        inconsistency = fact_loss.new_zeros(0)
        for number, batch in enumerate(order.split(objective.batch_size)):
            objective.clauses.take_turn(number)
            batch_loss, inconsistency = self.step(objective.facts[self.step.own_part(batch)].long(), generator)
            fact_loss += batch_loss
        return Losses(fact_loss, inconsistency)
