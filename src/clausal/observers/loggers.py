"""Logs of other tools: TensorBoard, MLflow and Weights & Biases are told settings, epochs and final metrics."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from clausal.config import Settings
from clausal.errors import InputError
from clausal.observer import Observer

_NO_METRICS = ("epoch", "passes", "count")


class _Logger(Observer, ABC):
    """A log with one run for each training. Its messages go to the log of the standard library, as without it."""

    def training_started(self, settings: Settings, clauses: int) -> None:
        self.begin(_flat(settings.model_dump(mode="json")) | {"clauses": clauses})

    def epoch(self, record: dict[str, Any]) -> None:
        self.log(_numbers(record), int(record["epoch"]))

    def training_finished(self, metrics: dict[str, Any]) -> None:
        found = {
            f"{split}/{name}": value
            for split in ("valid", "test")
            if split in metrics
            for name, value in metrics[split]["filtered"]["both"].items()
        }
        self.end({f"final/{name}": value for name, value in _numbers(found).items()})

    @abstractmethod
    def begin(self, settings: dict[str, Any]) -> None:
        """Begin a run with these settings."""

    @abstractmethod
    def log(self, numbers: dict[str, float], step: int) -> None:
        """Write what an epoch showed."""

    @abstractmethod
    def end(self, numbers: dict[str, float]) -> None:
        """Write the final metrics and end the run."""


class TensorBoard(_Logger):
    """Writes a TensorBoard log into a folder; look at it by ``tensorboard --logdir FOLDER``.

    A second training goes into the subfolder ``2``, and so on.
    """

    def __init__(self, folder: str | Path) -> None:
        _require("tensorboard", "TensorBoard")
        self._writers = import_module("torch.utils.tensorboard")
        self._folder, self._trainings = Path(folder), 0
        self._writer: Any = None

    def begin(self, settings: dict[str, Any]) -> None:
        self._trainings += 1
        folder = self._folder if self._trainings == 1 else self._folder / str(self._trainings)
        self._writer = self._writers.SummaryWriter(str(folder))
        self._writer.add_text("settings", "\n".join(f"    {name} = {value}" for name, value in settings.items()))

    def log(self, numbers: dict[str, float], step: int) -> None:
        for name, value in numbers.items():
            self._writer.add_scalar(name, value, step)
        self._writer.flush()  # a training may be watched, or killed

    def end(self, numbers: dict[str, float]) -> None:
        for name, value in numbers.items():
            self._writer.add_scalar(name, value)
        self._writer.close()


class MLflow(_Logger):
    """Logs to MLflow: into the run that is active, or else into one of its own, of the name given."""

    def __init__(self, name: str | None = None) -> None:
        self._mlflow = _require("mlflow", "MLflow")
        self._name, self._own = name, False

    def begin(self, settings: dict[str, Any]) -> None:
        self._own = self._mlflow.active_run() is None
        if self._own:
            self._mlflow.start_run(run_name=self._name)
        self._mlflow.log_params(settings)

    def log(self, numbers: dict[str, float], step: int) -> None:
        self._mlflow.log_metrics(_without_at(numbers), step=step)

    def end(self, numbers: dict[str, float]) -> None:
        self._mlflow.log_metrics(_without_at(numbers))
        if self._own:
            self._mlflow.end_run()


class WandB(_Logger):
    """Logs to Weights & Biases, with the options of ``wandb.init``: ``WandB(project="kg", mode="offline")``."""

    def __init__(self, **options: Any) -> None:
        self._wandb, self._options = _require("wandb", "Weights & Biases"), options
        self._run: Any = None

    def begin(self, settings: dict[str, Any]) -> None:
        self._run = self._wandb.init(**self._options | {"config": settings | dict(self._options.get("config") or {})})

    def log(self, numbers: dict[str, float], step: int) -> None:
        self._run.log(numbers, step=step)

    def end(self, numbers: dict[str, float]) -> None:
        self._run.summary.update(numbers)
        self._run.finish()


def _require(package: str, tool: str) -> Any:
    try:
        return import_module(package)
    except ImportError:
        raise InputError(f"{tool} is not installed; install the package '{package}' to log to it") from None


def _flat(values: Mapping[str, Any], before: str = "") -> dict[str, Any]:
    """Return nested values by names such as ``model.dim``."""
    found: dict[str, Any] = {}
    for name, value in values.items():
        found |= _flat(value, f"{before}{name}.") if isinstance(value, Mapping) else {f"{before}{name}": value}
    return found


def _numbers(record: Mapping[str, Any]) -> dict[str, float]:
    """Return the finite numbers of a record by names such as ``valid/mrr``, without counters."""
    flat = {name.replace(".", "/"): value for name, value in _flat(record).items()}
    return {
        name: float(value)
        for name, value in flat.items()
        if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
        if name.rpartition("/")[2] not in _NO_METRICS
    }


def _without_at(numbers: Mapping[str, float]) -> dict[str, float]:
    """Return names that MLflow accepts: it refuses ``hits@10``."""
    return {name.replace("@", "_at_"): value for name, value in numbers.items()}
