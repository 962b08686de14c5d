"""The journal of a search: an optuna study in a file, from which a killed search goes on as if it had not been."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from clausal.errors import InputError
from clausal.files import explained_os_errors

if TYPE_CHECKING:
    import optuna

_NAME = "clausal"
_RANDOM_TRIALS = 5  # after the start, before the sampler takes over
_ENOUGH = 20  # trials to tell from which settings matter
_ATTEMPTS = 2  # a trial that the process did not survive twice is left alone


def import_optuna() -> ModuleType:
    """Import optuna, which is an extra, and keep it from talking."""
    try:
        import optuna
    except ImportError:
        raise InputError("a search needs optuna: pip install 'clausal[search]'") from None
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    return optuna


def open_study(journal: Path) -> optuna.Study:
    """Open the study in a journal, or begin one; only one process may have it open."""
    optuna = import_optuna()
    _mend(journal)
    try:
        with explained_os_errors(journal):
            storage = optuna.storages.JournalStorage(optuna.storages.journal.JournalFileBackend(str(journal)))
            if storage.get_all_studies():
                return optuna.load_study(storage=storage, study_name=_NAME)
            return optuna.create_study(storage=storage, study_name=_NAME, direction="maximize")
    except (ValueError, KeyError, TypeError, IndexError, AttributeError):
        raise InputError(f"{journal}: damaged: not the journal of a search; search with another --out") from None


def _mend(journal: Path) -> None:
    """Drop what a kill left: half a line at the end, and optuna's own lock."""
    with explained_os_errors(journal):
        journal.with_name(journal.name + ".lock").unlink(missing_ok=True)
        if journal.exists() and not (text := journal.read_bytes()).endswith(b"\n"):
            journal.write_bytes(text[: text.rfind(b"\n") + 1])


def ask_again(study: optuna.Study) -> None:
    """Queue trials that were running when the process ended."""
    optuna = import_optuna()
    failed = [trial.params for trial in study.get_trials(states=[optuna.trial.TrialState.FAIL])]
    for trial in study.get_trials(states=[optuna.trial.TrialState.RUNNING]):
        study.tell(trial.number, state=optuna.trial.TrialState.FAIL)
        params = trial.system_attrs.get("fixed_params") or trial.params
        if params and failed.count(params) < _ATTEMPTS - 1:
            study.enqueue_trial(params)


def ask(study: optuna.Study, seed: int, warmup: int) -> optuna.Trial:
    """Ask for the next trial.

    Its random numbers depend on the seed and on how many trials have ended, so that a search that was resumed asks
    for the same trials as one that was not. No trial is pruned before the epoch ``warmup``.
    """
    optuna = import_optuna()
    place = 1000 * seed + len(ended(study))
    study.sampler = optuna.samplers.TPESampler(seed=place, n_startup_trials=1 + _RANDOM_TRIALS, multivariate=True)
    study.pruner = optuna.pruners.MedianPruner(n_startup_trials=3, n_warmup_steps=warmup)
    return study.ask()


def ended(study: optuna.Study) -> list[optuna.trial.FrozenTrial]:
    """Return the trials that came to an end, pruned ones included."""
    states = import_optuna().trial.TrialState
    return study.get_trials(states=[states.COMPLETE, states.PRUNED])


def best_trial(study: optuna.Study) -> optuna.trial.FrozenTrial | None:
    """Return the completed trial with the best validation, the first of equals."""
    complete = study.get_trials(states=[import_optuna().trial.TrialState.COMPLETE])
    return max(complete, key=lambda trial: trial.values[0], default=None)


def importances(study: optuna.Study) -> dict[str, float]:
    """Return which share of the differences between trials each setting explains (PED-ANOVA); empty for few trials."""
    optuna = import_optuna()
    complete = study.get_trials(states=[optuna.trial.TrialState.COMPLETE])
    if len(complete) < _ENOUGH or len({trial.value for trial in complete}) < 2:
        return {}
    found: dict[str, float] = optuna.importance.get_param_importances(study)
    return found
