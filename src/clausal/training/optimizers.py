"""The discriminator's optimisers, and their state as named tensors so that it can be saved without pickle."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import torch
from torch import Tensor, nn

from clausal.config import TrainSettings
from clausal.fast import fastest


def make_optimizer(parameters: Iterable[nn.Parameter], settings: TrainSettings) -> torch.optim.Optimizer:
    """Make AdaGrad (the paper's), SGD or Adam."""
    trainable = [parameter for parameter in parameters if parameter.requires_grad]
    if settings.optimizer == "sgd":
        return torch.optim.SGD(trainable, lr=settings.learning_rate)
    if settings.optimizer == "adam":
        return torch.optim.Adam(trainable, lr=settings.learning_rate)
    kind = fastest(torch.optim.Adagrad, trainable)
    return kind(trainable, lr=settings.learning_rate, initial_accumulator_value=settings.initial_accumulator)


def squared_gradients(optimizer: torch.optim.Optimizer, parameter: Tensor) -> Tensor | None:
    """Return the sums of squared gradients by whose roots steps on a parameter are divided; None where none are."""
    state = optimizer.state.get(parameter, {})
    found: Tensor | None = state.get("sum", state.get("exp_avg_sq"))
    return found


def optimizer_tensors(optimizer: torch.optim.Optimizer) -> dict[str, Tensor]:
    """Return the state as tensors named ``<parameter>.<quantity>``."""
    return {
        f"{index}.{quantity}": value
        for index, state in optimizer.state_dict()["state"].items()
        for quantity, value in state.items()
        if isinstance(value, Tensor)
    }


def restore_optimizer(optimizer: torch.optim.Optimizer, tensors: Mapping[str, Tensor]) -> None:
    """Put back what ``optimizer_tensors`` returned."""
    state: dict[int, dict[str, Tensor]] = {}
    for name, value in tensors.items():
        index, quantity = name.split(".", 1)
        state.setdefault(int(index), {})[quantity] = value.clone()  # the optimiser works in place
    optimizer.load_state_dict({"state": state, "param_groups": optimizer.state_dict()["param_groups"]})
