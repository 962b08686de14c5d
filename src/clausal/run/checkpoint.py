"""A checkpoint against the training it is to go on with: nothing in it is used before all of it fits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from torch import Tensor

from clausal.errors import InputError
from clausal.training import AdversarialSetTraining
from clausal.training.algorithm import Position

_QUANTITIES = {"adagrad": {"step", "sum"}, "adam": {"step", "exp_avg", "exp_avg_sq"}, "sgd": set[str]()}


def restore(training: AdversarialSetTraining, tensors: Mapping[str, Tensor], position: Any, origin: object) -> None:
    """Bring a training to a saved state; ``origin`` is named when the state does not fit."""
    try:
        _check_position(training, position)
        _check_tensors(training, tensors)
    except ValueError as error:
        raise InputError(f"{origin}: does not fit this run: {error}") from None
    training.restore(tensors, position)


def _check_position(training: AdversarialSetTraining, position: Any) -> None:
    known = {field.name: type(field.default) for field in fields(Position)}
    if not isinstance(position, dict) or {name: type(value) for name, value in position.items()} != known:
        raise ValueError(f"its position is not {', '.join(known)}")
    train = training.settings.train
    if not (0 <= position["epoch"] <= train.epochs and 0 <= position["passes"] < train.passes):
        raise ValueError(
            f"it is at epoch {position['epoch']}, pass {position['passes']} "
            f"of a training of {train.epochs} epochs with {train.passes} passes"
        )


def _check_tensors(training: AdversarialSetTraining, tensors: Mapping[str, Tensor]) -> None:
    model = training.predictor.state_dict()
    sets = training.adversary.start(training.predictor, training.objective.groups) if training.objective.groups else []
    expected = {f"model/{name}": value for name, value in model.items()}
    expected |= {f"adversarial_set/{index}": vectors for index, vectors in enumerate(sets)}
    if training.settings.train.averaging:
        expected |= {f"average/{name}": value for name, value in training.predictor.named_parameters()}
    if any(name.startswith("best/") for name in tensors):
        expected |= {f"best/{name}": value for name, value in model.items()}
    expected |= _expected_optimizer(training, tensors)
    for name in expected.keys() ^ tensors.keys():
        raise ValueError(f"'{name}' is {'missing' if name in expected else 'not of this training'}")
    for name, like in expected.items():
        if tensors[name].shape != like.shape or tensors[name].dtype != like.dtype:
            raise ValueError(
                f"'{name}' is {tensors[name].dtype} {list(tensors[name].shape)}; "
                f"this training has {like.dtype} {list(like.shape)}"
            )


def _expected_optimizer(training: AdversarialSetTraining, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return what the optimiser keeps of each parameter; one that never had a gradient may have no state."""
    quantities = _QUANTITIES[training.settings.train.optimizer]
    parameters = [parameter for group in training.optimizer.param_groups for parameter in group["params"]]
    return {
        f"optimizer/{index}.{quantity}": parameter.new_empty(()) if quantity == "step" else parameter
        for index, parameter in enumerate(parameters)
        if any(name.startswith(f"optimizer/{index}.") for name in tensors)
        for quantity in quantities
    }
