"""One trial of a race: a short training, and the ranks that it gives the valid facts at its best epoch."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from clausal.config import Settings
from clausal.errors import InputError
from clausal.evaluation import evaluate
from clausal.files import atomic_file, make_folder
from clausal.graph.graph import Graph
from clausal.logic.syntax import Clause
from clausal.model.predictor import LinkPredictor
from clausal.observer import Observer
from clausal.search.journal import FINISHED, Trial
from clausal.search.racing.judging import Reciprocals
from clausal.search.trials import train_trial
from clausal.training import AdversarialSetTraining

_RISING = 0.02  # of a curve's value: if the last third of its epochs gained more, it still rises
_SLOWEST = 0.6  # what a third of a trial can be expected to gain of what the third before it gained


@dataclass(frozen=True, eq=False)
class Raced:
    """A trial as its journal has it, and the reciprocal ranks of the valid facts; none where it failed.

    Trials of one race that can be compared have the same ``share`` of the final dimension.
    """

    trial: Trial
    ranks: Reciprocals | None
    share: int = 1

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


def still_to_come(validations: Mapping[int, float], epochs: int) -> float:
    """Continue the gains of the last two thirds of a curve as a geometric series (Aitken), up to some epoch.

    A curve that no longer rises, or rises faster and faster, is not continued.
    """
    last = max(validations, default=0)
    points = [max((epoch for epoch in validations if 3 * epoch <= part * last), default=0) for part in (1, 2, 3)]
    if not points[0] or len(set(points)) < 3:
        return 0.0
    first, second, third = (validations[epoch] for epoch in points)
    before, now = second - first, third - second
    if not 0 < now < before or third < max(validations.values()):
        return 0.0
    ratio, further = min(now / before, _SLOWEST), (epochs - last) / (points[2] - points[1])
    gain: float = now * ratio * (1 - ratio ** max(0.0, further)) / (1 - ratio)
    return min(gain, 1 - third)


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
    best = ranking.best
    trial = Trial(
        number=0,
        state=result.state,
        value=ranking.value if best is not None else None,
        epoch=ranking.epoch,
        seconds=time.monotonic() - started,
        changes=dict(changes),
        error=result.error,
        validations=ranking.validations,
        about={"epochs": len(result.records)},
    )
    return Raced(trial, best if result.state == FINISHED or best is not None else None)


class _Ranking:
    """Takes the place of a training's validation, and keeps the ranks of its best one."""

    def __init__(self, graph: Graph, settings: Settings) -> None:
        self.graph, self.ties = graph, settings.evaluate.ties
        self.best: Reciprocals | None = None
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
        if metrics["mrr"] > self.value:
            sides = 1 / found.ranks.of("filtered", "both").reshape(2, -1)
            self.value, self.epoch, self.best = metrics["mrr"], epoch, sides.mean(axis=0).astype(np.float32)
        return metrics


class RankFiles:
    """The ranks of each trial in a file of a folder, so that a race goes on with them; or in memory alone."""

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder

    def write(self, raced: Raced, number: int) -> Raced:
        """Keep the ranks of a trial under its number."""
        if self.folder is not None and raced.ranks is not None:
            make_folder(self.folder)
            with atomic_file(self._path(number)) as temporary, temporary.open("wb") as file:
                np.save(file, raced.ranks, allow_pickle=False)
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
        if not isinstance(ranks, np.ndarray) or ranks.shape != (facts,) or ranks.dtype != np.float32:
            raise InputError(f"{path}: missing or damaged: the race cannot go on; train in another --out")
        return Raced(trial, ranks)

    def _path(self, number: int) -> Path:
        assert self.folder is not None
        return self.folder / f"ranks-{number}.npy"
