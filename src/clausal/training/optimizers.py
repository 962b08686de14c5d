"""The discriminator's optimisers, and their state as named tensors so that it can be saved without pickle."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib.util import find_spec

import torch
from torch import Tensor, nn
from torch.optim import Adagrad

from clausal.config import TrainSettings


def make_optimizer(parameters: Iterable[nn.Parameter], settings: TrainSettings) -> torch.optim.Optimizer:
    """Make AdaGrad (the paper's), SGD or Adam."""
    trainable = [parameter for parameter in parameters if parameter.requires_grad]
    if settings.optimizer == "sgd":
        return torch.optim.SGD(trainable, lr=settings.learning_rate)
    if settings.optimizer == "adam":
        return torch.optim.Adam(trainable, lr=settings.learning_rate)
    kind = FusedAdagrad if find_spec("triton") and any(p.device.type == "cuda" for p in trainable) else Adagrad
    return kind(trainable, lr=settings.learning_rate, initial_accumulator_value=settings.initial_accumulator)


class FusedAdagrad(Adagrad):
    """AdaGrad on a GPU, which goes over a table once in a step; torch does so in each of several operations."""

    @torch.no_grad()
    def step(self, closure: None = None) -> None:  # type: ignore[override]
        """Take a step on every table by our kernel; gradients are left at zero."""
        from clausal.fast.cuda import descend_

        for group in self.param_groups:
            for parameter in group["params"]:
                if parameter.grad is not None:
                    rows = _as_table(parameter)
                    sums, gradient = self.state[parameter]["sum"], parameter.grad
                    descend_(rows, sums.view_as(rows), gradient.view_as(rows), group["lr"])


def _as_table(parameter: Tensor) -> Tensor:
    """View a parameter as [rows, columns], which a bias or a single number of a user's own module is not."""
    return parameter.view(-1, parameter.shape[-1] if parameter.dim() else 1)


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
