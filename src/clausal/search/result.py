"""What a search found: its trials, the best of them, and which settings mattered.

From the journal of a search to its result.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clausal.config import Settings
from clausal.errors import InputError
from clausal.search.directory import SearchDirectory
from clausal.search.space import change
from clausal.search.study import best_trial, ended, importances

if TYPE_CHECKING:
    import optuna


FINISHED, CUT, PRUNED, FAILED = "finished", "cut short", "pruned", "failed"


@dataclass(frozen=True)
class Trial:
    """One training of the search.

    ``value`` is its best validation; ``state`` says whether it finished, was cut short by the end of the time, was
    pruned as worse than others were at that epoch, or failed, for which ``error`` has the reason.
    """

    number: int
    state: str
    value: float | None
    epoch: int
    seconds: float
    changes: Mapping[str, Any]
    error: str | None = None

    def describe(self) -> str:
        """Return the settings of the trial in one line."""
        return ", ".join(f"{name.partition('.')[2]} {value}" for name, value in self.changes.items())


@dataclass(frozen=True)
class SearchResult:
    """A search so far: ``run`` is the run directory of the best model, ``best_settings`` a file for ``--config``."""

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
                }
                for trial in self.ranked()
            ],
        }


def read_result(directory: SearchDirectory, study: optuna.Study) -> SearchResult:
    """Return the trials that ended, the best of them and where its model is."""
    settings = directory.start.settings
    try:
        trials = [read_trial(trial) for trial in ended(study)]
        best = best_trial(study)
        found = None if best is None else read_trial(best)
    except (KeyError, TypeError, ValueError):
        raise InputError(f"{directory.journal}: damaged: a trial does not say how it went") from None
    if found is None:
        return SearchResult(directory.path, settings.evaluate.metric, trials, {})
    return SearchResult(
        directory.path,
        settings.evaluate.metric,
        trials,
        importances(study),
        best=found,
        settings=change(settings, found.changes),
        run=directory.run_of(found.number),
        best_settings=directory.best,
    )


def read_trial(trial: optuna.trial.FrozenTrial) -> Trial:
    """Return an ended trial of the journal; people count from one."""
    outcome = trial.user_attrs["outcome"]
    validations = trial.intermediate_values.values()
    return Trial(
        number=trial.number + 1,
        state=str(outcome["state"]),
        value=None if outcome["state"] == FAILED else max(validations, default=None),
        epoch=int(outcome["epoch"]),
        seconds=float(outcome["seconds"]),
        changes=dict(trial.user_attrs["changes"]),
        error=outcome["error"],
    )
