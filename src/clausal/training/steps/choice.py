"""Which form of the step a training takes."""

from __future__ import annotations

from collections.abc import Callable

import torch

from clausal.errors import InputError
from clausal.training.all_entities import AgainstAll
from clausal.training.objective import Objective
from clausal.training.steps.against_all import AgainstAllStep, looks_up_rows
from clausal.training.steps.compiled import CompiledStep
from clausal.training.steps.eager import EagerStep
from clausal.training.steps.fused import FusedStep, kernels_for
from clausal.training.steps.graphed import GraphedStep
from clausal.training.steps.step import Step


def choose_step(objective: Objective, optimizer: torch.optim.Optimizer, tell: Callable[[str], None]) -> Step:
    """Make the step that ``train.step`` names; ``auto`` takes the fastest that this model and machine allow."""
    asked = objective.settings.train.step
    if asked == "eager":
        return EagerStep(objective, optimizer)
    if asked == "compiled":
        return _graphed(CompiledStep(objective, optimizer))
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
    objective = step.objective
    on_gpu = objective.facts.device.type == "cuda"
    facts, train = objective.settings.facts, objective.settings.train
    waits = facts.filtered or facts.training == "k-vs-all" or train.optimizer == "adam"
    return GraphedStep(step) if on_gpu and not waits else step
