"""From the journal of a search to its result."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clausal.errors import InputError
from clausal.search.directory import SearchDirectory
from clausal.search.result import FAILED, SearchResult, Trial
from clausal.search.space import change
from clausal.search.study import best_trial, ended, importances

if TYPE_CHECKING:
    import optuna


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
