"""One trial of a race: a short training, and the ranks that it gives the valid facts at each validation."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import log2, nan
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clausal.config import Settings
from clausal.errors import InputError
from clausal.evaluation import evaluate
from clausal.files import atomic_file, make_folder
from clausal.graph.graph import Graph
from clausal.logic.syntax import Clause
from clausal.model.predictor import LinkPredictor
from clausal.observer import Observer
from clausal.search.journal import Trial
from clausal.search.racing.judging import Reciprocals
from clausal.search.trials import train_trial
from clausal.training import AdversarialSetTraining

_RISING = 0.02  # of a curve's value: if the last third of its epochs gained more, it still rises
_SLOWEST = 0.6  # what a part of a trial can be expected to gain of what the part before it gained
_THIRDS = (1 / 3, 2 / 3, 1.0)
_ENOUGH = 5  # validations of a curve with values at a quarter and at a half of it
LONG = 15
"""Epochs of a trial that shows by itself where it leads."""


@dataclass(frozen=True, eq=False)
class Raced:
    """A trial as its journal has it, and the reciprocal ranks of the valid facts at each of its validations.

    There are none where it failed. Trials of one race that can be compared have the same ``share`` of the final
    dimension and the same ``length``, or are cut to it.
    """

    trial: Trial
    history: NDArray[np.float32] | None  # [validations, facts]
    share: int = 1
    length: int = 1

    @property
    def ranks(self) -> Reciprocals | None:
        """The reciprocal ranks at the best epoch."""
        return None if self.history is None else self.history[_best(self.trial.validations)]

    def until(self, epoch: int) -> Raced:
        """Return the trial as it was after some epochs."""
        curve = {at: value for at, value in self.trial.validations.items() if at <= epoch}
        if self.history is None or not curve:
            return self
        best = list(curve)[_best(curve)]
        trial = replace(self.trial, validations=curve, value=curve[best], epoch=best)
        return replace(self, trial=trial, history=self.history[: len(curve)])

    @property
    def value(self) -> float:
        """The MRR on valid at the best epoch; below any other where the trial failed."""
        return -1.0 if self.trial.value is None or self.ranks is None else self.trial.value

    @property
    def rises(self) -> bool:
        """Whether the curve of its validations is far from its end."""
        curve = self.trial.validations
        last = max(curve, default=0)
        before = max((epoch for epoch in curve if 3 * epoch <= 2 * last), default=0)
        return before > 0 and curve[last] - curve[before] > _RISING * curve[last]

    def to_come(self, epochs: int) -> float:
        """Return how much MRR a longer training of so many epochs would add: a large regulariser is slow at first."""
        return still_to_come(self.trial.validations, epochs) if self.ranks is not None else 0.0


def _best(curve: Mapping[int, float]) -> int:
    """Return the place of the largest value, the first one of equals."""
    values = list(curve.values())
    return values.index(max(values))


def still_to_come(validations: Mapping[int, float], epochs: int) -> float:
    """Continue the gains of a curve as a geometric series (Aitken), up to some epoch.

    The gains of a short curve are those of its last two thirds, and go on with every third. Later, curves bend less: of
    a long one they are those of its last two doublings of epochs, and go on with every doubling. A curve that no longer
    rises, or rises faster and faster, is not continued.
    """
    last = max(validations, default=0)
    long = last >= LONG and len(validations) >= _ENOUGH
    first, second, third = (_value_at(validations, part * last) for part in ((0.25, 0.5, 1) if long else _THIRDS))
    before, now = second - first, third - second
    if not 0 < now < before or third < max(validations.values()):
        return 0.0
    further = log2(epochs / last) if long else 3 * (epochs / last - 1)
    ratio = min(now / before, _SLOWEST)
    gain: float = now * ratio * (1 - ratio ** max(0.0, further)) / (1 - ratio)
    return min(gain, 1 - third)


def _value_at(validations: Mapping[int, float], epoch: float) -> float:
    """Return a curve's value at an epoch, between two validations on the line by the logarithm of epochs; or NaN."""
    if not validations or epoch < min(validations):
        return nan
    return float(np.interp(log2(epoch), [log2(at) for at in validations], list(validations.values())))


def make_trial(
    graph: Graph,
    clauses: Sequence[Clause],
    settings: Settings,
    changes: Mapping[str, Any],
    hopeless: Callable[[int, float], bool],
    observer: Observer,
) -> Raced:
    """Train with ``settings``, of which ``changes`` are written down, and rank the valid facts."""
    started = time.monotonic()
    ranking = _Ranking(graph, settings)
    result = train_trial(
        graph,
        clauses,
        settings,
        hopeless=hopeless,
        deadline=float("inf"),
        observer=observer,
        tell=lambda _: None,
        prepared=ranking.watch,
    )
    ranks = np.stack(ranking.ranks) if ranking.ranks else None
    trial = Trial(
        number=0,
        state=result.state,
        value=ranking.value if ranks is not None else None,
        epoch=ranking.epoch,
        seconds=time.monotonic() - started,
        changes=dict(changes),
        error=result.error,
        validations=ranking.validations,
        about={"epochs": len(result.records)},
    )
    return Raced(trial, ranks)


class _Ranking:
    """Takes the place of a training's validation, and keeps the ranks of each."""

    def __init__(self, graph: Graph, settings: Settings) -> None:
        self.graph, self.ties = graph, settings.evaluate.ties
        self.ranks: list[Reciprocals] = []
        self.value, self.epoch = -1.0, 0
        self.validations: dict[int, float] = {}
        self.training: AdversarialSetTraining | None = None

    def watch(self, training: AdversarialSetTraining) -> None:
        """Validate this training from now on."""
        self.training, training.validate = training, self

    def __call__(self, predictor: LinkPredictor) -> dict[str, float]:
        found = evaluate(predictor.with_table(), self.graph, split="valid", ties=self.ties)
        metrics, epoch = dict(found.filtered["both"]), self.training.position.epoch if self.training else 0
        self.validations[epoch] = round(metrics["mrr"], 6)
        sides = 1 / found.ranks.of("filtered", "both").reshape(2, -1)
        self.ranks.append(sides.mean(axis=0).astype(np.float32))
        if metrics["mrr"] > self.value:
            self.value, self.epoch = metrics["mrr"], epoch
        return metrics


class RankFiles:
    """The ranks of each trial in a file of a folder, so that a race goes on with them; or in memory alone."""

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder

    def write(self, raced: Raced, number: int) -> Raced:
        """Keep the ranks of a trial under its number."""
        if self.folder is not None and raced.history is not None:
            make_folder(self.folder)
            with atomic_file(self._path(number)) as temporary, temporary.open("wb") as file:
                np.save(file, raced.history, allow_pickle=False)
        return replace(raced, trial=replace(raced.trial, number=number))

    def read(self, trial: Trial, facts: int) -> Raced:
        """Return a trial of the journal with its ranks, of so many facts."""
        if self.folder is None or trial.value is None:
            return Raced(trial, None)
        path = self._path(trial.number)
        try:
            ranks = np.load(path, allow_pickle=False)
        except (OSError, ValueError, EOFError):
            ranks = None
        shape = len(trial.validations), facts
        if not isinstance(ranks, np.ndarray) or ranks.shape != shape or ranks.dtype != np.float32:
            raise InputError(f"{path}: missing or damaged: the race cannot go on; train in another --out")
        return Raced(trial, ranks)

    def _path(self, number: int) -> Path:
        assert self.folder is not None
        return self.folder / f"ranks-{number}.npy"
