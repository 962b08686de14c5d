"""What a search found: its trials, the best of them, and which settings mattered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clausal.config import Settings
from clausal.search.directory import SearchDirectory
from clausal.search.journal import STUDY_NUMBER, Trial
from clausal.search.samplers import importances
from clausal.search.space import change


@dataclass(frozen=True)
class SearchResult:
    """A search so far: ``run`` is the run directory of the best model, ``best_settings`` a file for ``--config``.

    In a study of many workers ``run`` is None where another one has the model; ``best.about["worker"]`` says where.
    """

    path: Path
    metric: str
    trials: Sequence[Trial]
    importances: Mapping[str, float]
    best: Trial | None = None
    settings: Settings | None = None
    run: Path | None = None
    best_settings: Path | None = None

    @property
    def seconds(self) -> float:
        """How long the trials took together."""
        return sum(trial.seconds for trial in self.trials)

    def ranked(self) -> list[Trial]:
        """Return the trials, the best first; those without a validation last."""
        return sorted(self.trials, key=lambda trial: -1 if trial.value is None else trial.value, reverse=True)

    def to_dict(self) -> dict[str, Any]:
        """Return what ``clausal search --format json`` prints."""
        return {
            "metric": self.metric,
            "seconds": round(self.seconds, 1),
            "best": None if self.best is None else self.best.number,
            "run": None if self.run is None else str(self.run),
            "settings": None if self.best_settings is None else str(self.best_settings),
            "importances": dict(self.importances),
            "trials": [
                {
                    "trial": trial.number,
                    "state": trial.state,
                    "valid": trial.value,
                    "epoch": trial.epoch,
                    "seconds": round(trial.seconds, 1),
                    "changes": dict(trial.changes),
                    "error": trial.error,
                    **{name: trial.about[name] for name in ("worker",) if name in trial.about},
                }
                for trial in self.ranked()
            ],
        }


def best_of(trials: Sequence[Trial]) -> Trial | None:
    """Return the judged trial with the best validation, the first of equals."""
    return max((trial for trial in trials if trial.judged), key=lambda trial: trial.value or 0.0, default=None)


def trained_elsewhere(directory: SearchDirectory, trial: Trial) -> bool:
    """Say whether another worker of a shared study has the model of a trial."""
    return STUDY_NUMBER in trial.about and not directory.run_of(trial.number).is_dir()


def read_result(directory: SearchDirectory, settings: Settings, trials: Sequence[Trial]) -> SearchResult:
    """Return the trials, the best of them and where its model is, for a search that began with ``settings``."""
    best = best_of(trials)
    if best is None:
        return SearchResult(directory.path, settings.evaluate.ranked_by, trials, {})
    return SearchResult(
        directory.path,
        settings.evaluate.ranked_by,
        trials,
        importances(directory.space, trials),
        best=best,
        settings=change(settings, best.changes),
        run=None if trained_elsewhere(directory, best) else directory.run_of(best.number),
        best_settings=directory.best,
    )
