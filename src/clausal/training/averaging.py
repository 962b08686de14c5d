"""The exponential moving average of a model over passes, which ranks better than the model of any one of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import torch
from torch import Tensor

from clausal.model.predictor import LinkPredictor


class ExponentialMovingAverage:
    """θ̄ ← d θ̄ + (1 − d) θ after each pass, from the first one on; with d = 0 it is the model itself."""

    def __init__(self, predictor: LinkPredictor, decay: float) -> None:
        self.predictor = predictor
        self.decay = decay
        self.parameters: dict[str, Tensor] = {}

    @torch.no_grad()
    def update(self) -> None:
        """Take in the model after a pass."""
        if not self.decay:
            return
        for name, parameter in self.predictor.named_parameters():
            if name in self.parameters:
                self.parameters[name].lerp_(parameter, 1 - self.decay)
            else:
                self.parameters[name] = parameter.detach().clone()

    @contextmanager
    def in_place(self) -> Iterator[LinkPredictor]:
        """Put the average in the model's place for a while; training then goes on where it was."""
        current = {name: parameter.detach().clone() for name, parameter in self._averaged()}
        self.adopt()
        try:
            yield self.predictor
        finally:
            _write(current, self.predictor)

    def adopt(self) -> None:
        """Put the average in the model's place, on its domain."""
        if self.parameters:
            _write(self.parameters, self.predictor)
            self.predictor.project_()

    def restore(self, parameters: Mapping[str, Tensor]) -> None:
        """Go on from an average of an earlier process."""
        device = self.predictor.device
        self.parameters = {name: value.to(device).clone() for name, value in parameters.items()}

    def _averaged(self) -> Iterator[tuple[str, Tensor]]:
        return ((name, value) for name, value in self.predictor.named_parameters() if name in self.parameters)


@torch.no_grad()
def _write(values: Mapping[str, Tensor], predictor: LinkPredictor) -> None:
    """Copy to where the parameters are: kernels and graphs read them there."""
    for name, parameter in predictor.named_parameters():
        if name in values:
            parameter.copy_(values[name])
