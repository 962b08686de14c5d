"""What every form of the step does: a pass of projected gradient steps over batches of facts.

The plain step: autograd and torch's optimiser. It trains every model; the fast forms are compared to it.

Which form of the step a training takes.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor

from clausal.errors import InputError
from clausal.model.predictor import Negatives
from clausal.training.against_all import AgainstAll
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


def choose_step(objective: Objective, optimizer: torch.optim.Optimizer, tell: Callable[[str], None]) -> Step:
    """Make the step that ``train.step`` names; ``auto`` takes the fastest that this model and machine allow."""
    from clausal.fast.against_all import AgainstAllStep, looks_up_rows
    from clausal.fast.step import FusedStep, kernels_for

    asked = objective.settings.train.step
    if asked == "eager":
        return EagerStep(objective, optimizer)
    kernels = kernels_for(objective.predictor, objective.settings)
    if not isinstance(kernels, str):
        return _graphed(FusedStep(objective, optimizer, kernels))
    if asked == "fused":
        raise InputError(f'train.step: "fused" cannot be used here: {kernels}; use "auto"')
    if isinstance(objective.loss, AgainstAll):
        # Matrix products, which no kernel of ours does better.
        kind = AgainstAllStep if looks_up_rows(objective) else EagerStep
        return _graphed(kind(objective, optimizer))
    if objective.predictor.scorer.terms is not None:
        tell(f"note: the eager step is used, as {kernels}")
    return EagerStep(objective, optimizer)


def _graphed(step: Step) -> Step:
    """On a GPU, record a pass as a graph where nothing in it waits for the GPU's answer."""
    from clausal.fast.graphed import GraphedStep

    objective = step.objective
    on_gpu = objective.facts.device.type == "cuda"
    facts, train = objective.settings.facts, objective.settings.train
    waits = facts.filtered or facts.training == "k-vs-all" or train.optimizer == "adam"
    return GraphedStep(step) if on_gpu and not waits else step
