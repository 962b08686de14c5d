"""Models and checkpoints as named tensors in safetensors files.

Names and shapes are compared with the expected ones before anything is allocated, and a training goes on from a
checkpoint only if all of it fits.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from clausal.errors import InputError
from clausal.files import atomic_file

if TYPE_CHECKING:
    from clausal.training import AdversarialSetTraining

_OF_VERSION_0_1 = (
    "it is of version 0.1, which kept adversarial sets in another way; train again, or finish it with version 0.1"
)
_ROWS_AT_ONCE = 1 << 16
_OPTIMIZER_STATE = {"adagrad": {"step", "sum"}, "adam": {"step", "exp_avg", "exp_avg_sq"}, "sgd": set[str]()}


def write_tensors(
    path: Path, tensors: Mapping[str, Tensor], metadata: Mapping[str, str], temporary_folder: Path | None = None
) -> None:
    """Write tensors and metadata as one file, atomically."""
    plain = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    with atomic_file(path, temporary_folder) as temporary:
        save_file(plain, temporary, dict(metadata))


def read_tensors(
    path: Path,
    expected: Mapping[str, Tensor] | None = None,
    mapped: Collection[str] = (),
    some_rows: Mapping[str, slice] | None = None,
) -> tuple[dict[str, Tensor], dict[str, str]]:
    """Read all tensors; with ``expected`` (meta tensors will do) names, shapes and kinds must be those.

    Those that are ``mapped`` stay in the file: the system reads what is looked at, and lets go of it again. Of others
    ``some_rows`` alone are read.
    """
    some_rows = some_rows or {}

    with _opened(path) as file:
        if expected is not None:
            _compare(path, _shapes(file), {name: tuple(tensor.shape) for name, tensor in expected.items()})
        # Copies are aligned, so that scores are those of the training to the last bit, and do not need the file.
        tensors = {
            name: file.get_slice(name)[some_rows[name]]
            if name in some_rows
            else file.get_tensor(name)
            if name in mapped
            else file.get_tensor(name).clone()
            for name in _shapes(file)
        }
        metadata = dict(file.metadata() or {})
    for name, tensor in tensors.items():
        if expected is not None and tensor.dtype != expected[name].dtype:
            raise InputError(f"{path}: '{name}' holds {tensor.dtype}; expected {expected[name].dtype}")
        if tensor.is_floating_point() and not all(bool(torch.isfinite(part).all()) for part in _pieces(tensor)):
            raise InputError(f"{path}: damaged: '{name}' holds values that are not finite")
    return tensors, metadata


def _pieces(tensor: Tensor) -> Sequence[Tensor]:
    """Return a tensor in pieces that are looked at one after the other."""
    return tensor.split(_ROWS_AT_ONCE) if tensor.dim() else [tensor]


def read_metadata(path: Path) -> dict[str, str]:
    """Read what a file says beside its tensors, without reading these."""
    with _opened(path) as file:
        return dict(file.metadata() or {})


def require_shape(path: Path, name: str, shape: tuple[int, ...]) -> None:
    """Check the shape of one tensor from the file's header, without reading the rest."""
    with _opened(path) as file:
        _compare(path, {key: value for key, value in _shapes(file).items() if key == name}, {name: shape})


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    try:
        with safe_open(path, framework="pt") as file:
            yield file
    except FileNotFoundError:
        raise InputError(f"{path}: missing, the run directory is incomplete") from None
    except (SafetensorError, OSError, ValueError) as error:
        raise InputError(f"{path}: damaged: {error}") from None


def _shapes(file: Any) -> dict[str, tuple[int, ...]]:
    return {name: tuple(file.get_slice(name).get_shape()) for name in file.keys()}  # noqa: SIM118


def _compare(path: Path, found: Mapping[str, tuple[int, ...]], expected: Mapping[str, tuple[int, ...]]) -> None:
    for name, shape in expected.items():
        if name not in found:
            raise InputError(f"{path}: damaged: '{name}' is missing")
        if found[name] != shape:
            raise InputError(
                f"{path}: '{name}' has shape {list(found[name])}; the settings and vocabulary need {list(shape)}"
            )
    unknown = sorted(set(found) - set(expected))
    if unknown:
        raise InputError(f"{path}: damaged: it holds '{unknown[0]}', which this model does not have")


def restore(training: AdversarialSetTraining, tensors: Mapping[str, Tensor], position: Any, origin: object) -> None:
    """Bring a training to a saved state; ``origin`` is named when the state does not fit."""
    if isinstance(position, dict) and "best" in position:  # version 0.2 kept the best model alone
        position = {"kept": position["best"], "kept_inconsistency": 0.0} | position
    try:
        _check_position(training, position)
        _check_tensors(training, tensors, position)
    except ValueError as error:
        raise InputError(f"{origin}: does not fit this run: {error}") from None
    training.restore(tensors, position)


def _check_position(training: AdversarialSetTraining, position: Any) -> None:
    known = {field.name: type(field.default) for field in fields(training.position)}
    if not isinstance(position, dict) or {name: type(value) for name, value in position.items()} != known:
        raise ValueError(f"its position is not {', '.join(known)}")
    train = training.settings.train
    if not (0 <= position["epoch"] <= train.epochs and 0 <= position["passes"] < train.passes):
        raise ValueError(
            f"it is at epoch {position['epoch']}, pass {position['passes']} "
            f"of a training of {train.epochs} epochs with {train.passes} passes"
        )


def _check_tensors(
    training: AdversarialSetTraining, tensors: Mapping[str, Tensor], position: Mapping[str, Any]
) -> None:
    model = training.predictor.state_dict()
    expected = {f"model/{name}": value for name, value in model.items()}
    expected |= _expected_sets(training, tensors, position)
    if training.settings.train.averaging:
        expected |= {f"average/{name}": value for name, value in training.predictor.named_parameters()}
    if any(name.startswith("best/") for name in tensors):
        expected |= {f"best/{name}": value for name, value in model.items()}
    expected |= _expected_optimizer(training, tensors)
    if training.table is not None:
        expected["rows/sums"] = training.table.sums
    for name in expected.keys() ^ tensors.keys():
        raise ValueError(f"'{name}' is {'missing' if name in expected else 'not of this training'}")
    for name, like in expected.items():
        if tensors[name].shape != like.shape or tensors[name].dtype != like.dtype:
            raise ValueError(
                f"'{name}' is {tensors[name].dtype} {list(tensors[name].shape)}; "
                f"this training has {like.dtype} {list(like.shape)}"
            )


def _expected_sets(
    training: AdversarialSetTraining, tensors: Mapping[str, Tensor], position: Mapping[str, Any]
) -> dict[str, Tensor]:
    """Return what the adversary would find now: as many tensors, of the same shapes."""
    from clausal.adversary.adversary import GroupSet, to_tensors

    saved = {name: tensor for name, tensor in tensors.items() if name.startswith("adversarial_set/")}
    for name in saved:
        place, *rest = name.removeprefix("adversarial_set/").split("/")
        if not rest:
            raise ValueError(_OF_VERSION_0_1)
        if len(rest) != 2 or rest[0] not in GroupSet.kinds or not place.isdecimal():
            raise ValueError(f"'{name}' is not of this training")
    if type(training.adversary).__module__.partition(".")[0] != "clausal":
        return saved  # only a user's own adversary knows what it finds
    training.draw_clauses(replace(training.position, **position).searched)
    found = to_tensors(training.objective.clauses.find(training.adversary))
    if found and not saved:  # closed forms over a whole domain had none there
        raise ValueError(_OF_VERSION_0_1)
    return {f"adversarial_set/{name}": tensor for name, tensor in found.items()}


def _expected_optimizer(training: AdversarialSetTraining, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return what the optimiser keeps of each parameter; one that never had a gradient may have no state."""
    quantities = _OPTIMIZER_STATE[training.settings.train.optimizer]
    parameters = [parameter for group in training.optimizer.param_groups for parameter in group["params"]]
    return {
        f"optimizer/{index}.{quantity}": parameter.new_empty(()) if quantity == "step" else parameter
        for index, parameter in enumerate(parameters)
        if any(name.startswith(f"optimizer/{index}.") for name in tensors)
        for quantity in quantities
    }
