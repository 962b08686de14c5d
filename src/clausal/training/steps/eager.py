"""The plain step: autograd and torch's optimiser. It trains every model; the fast forms are compared to it."""

from __future__ import annotations

import torch
from torch import Tensor

from clausal.model.predictor import Negatives
from clausal.training.steps.step import Passed, Step


class EagerStep(Step):
    """g ← ∇J by autograd, θ ← θ − η g by the optimiser, then the projection."""

    name = "eager"

    def step(self, facts: Tensor, generator: torch.Generator) -> Passed:
        negatives = self.objective.draw(facts, generator)
        loss, fact_loss, inconsistency = self.losses(facts, negatives)
        self.optimizer.zero_grad()
        loss.backward()  # g ← ∇ J(G, A; θ, γ, S)
        self.optimizer.step()  # (θ, γ) ← (θ, γ) − η g
        self.objective.predictor.project_()  # hⱼ ← proj(hⱼ)
        return Passed(fact_loss.detach(), inconsistency.detach())

    def losses(self, facts: Tensor, negatives: Negatives | None) -> tuple[Tensor, Tensor, Tensor]:
        """Return J, its part J_F, and the inconsistency of each clause."""
        fact_loss, penalty = self.objective.fact_loss(facts, negatives)
        rest, inconsistency = self.objective.beside_facts()
        return fact_loss + penalty + rest, fact_loss, inconsistency
