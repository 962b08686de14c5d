"""The trials of a search, one after the other, judged on valid facts; the test facts are taken away before."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from clausal.config import Settings
from clausal.errors import InputError
from clausal.graph.graph import no_facts
from clausal.run.training import OnEpoch, OnPass, keep
from clausal.search.directory import SearchDirectory
from clausal.search.result import FAILED, PRUNED, SearchResult, read_result
from clausal.search.space import change, setting
from clausal.search.study import ask, ask_again, best_trial, ended, import_optuna
from clausal.search.trial import Attempt, attempt

if TYPE_CHECKING:
    import optuna

MINUTES = 30.0
_LOG = logging.getLogger("clausal")

Watch = Callable[[int, Settings], AbstractContextManager[tuple[OnPass | None, OnEpoch | None]]]
"""Given the number and the settings of a trial, returns what shows the progress of its training."""
OnTrial = Callable[[SearchResult, float | None], None]
"""Told the search so far after each trial, and the seconds left, if time is limited."""


@dataclass(frozen=True)
class Limits:
    """When a search ends, counted from its very beginning."""

    minutes: float | None
    trials: int | None

    @staticmethod
    def of(minutes: float | None, trials: int | None) -> Limits:
        """Check the limits; 30 minutes where there are none."""
        if minutes is not None and not minutes > 0:
            raise InputError(f"minutes: {minutes:g} is no time to search in; give more than 0")
        if trials is not None and trials < 1:
            raise InputError(f"trials: {trials} are too few; give 1 or more")
        return Limits(MINUTES if minutes is None and trials is None else minutes, trials)


class TrialLoop:
    """Asks for settings, trains with them, and writes down how it went, until a limit is reached."""

    def __init__(
        self,
        directory: SearchDirectory,
        study: optuna.Study,
        limits: Limits,
        watch: Watch | None,
        on_trial: OnTrial | None,
        tell: Callable[[str], None],
    ) -> None:
        self.directory, self.study, self.limits = directory, study, limits
        self.watch, self.on_trial, self.tell = watch, on_trial, tell
        start = directory.start
        self.space, self.settings, self.clauses, self.graph = (
            directory.space,
            start.settings,
            start.clauses,
            start.graph,
        )
        self.judged = replace(self.graph, test=no_facts(), parts={})
        self.deadline = float("inf")

    def run(self) -> None:
        """Make trials until the time or their number is used up."""
        self._pick_up()
        if self.limits.minutes is not None:
            self.deadline = time.monotonic() + 60 * self.limits.minutes - self._spent()
        while time.monotonic() < self.deadline and not self._enough():
            trial = ask(self.study, self.settings.train.seed, self.settings.train.epochs // 4)
            changes = {parameter.name: parameter.suggest(trial) for parameter in self.space}
            trial.set_user_attr("changes", changes)
            self._try(trial, change(self.settings, changes))
            self._tell_of(trial.number + 1)

    def _tell_of(self, number: int) -> None:
        """Tell how a trial went, unless the time was up before it could be judged."""
        if self.on_trial is None:
            return
        found = read_result(self.directory, self.study)
        if any(trial.number == number for trial in found.trials):
            left = None if self.limits.minutes is None else max(0.0, self.deadline - time.monotonic())
            self.on_trial(found, left)

    def _pick_up(self) -> None:
        """Begin with the settings of the start, as far as the space has them, or go on where a process ended."""
        if not self.study.get_trials(deepcopy=False):
            start = {one.name: setting(self.settings, one.name) for one in self.space}
            self.study.enqueue_trial({one.name: start[one.name] for one in self.space if one.holds(start[one.name])})
        ask_again(self.study)
        found = read_result(self.directory, self.study)
        if found.run and not found.run.is_dir():
            raise InputError(
                f"{self.directory.journal}: the best trial has no model in {found.run}: the journal is that of another "
                "search, or the model was removed; put it back, or begin anew in another --out"
            )
        if found.best and found.settings:
            self.directory.keep_only(found.best.number, found.settings)

    def _spent(self) -> float:
        outcomes = (trial.user_attrs.get("outcome", {}) for trial in self.study.get_trials(deepcopy=False))
        return sum(float(outcome.get("seconds", 0)) for outcome in outcomes)

    def _enough(self) -> bool:
        return self.limits.trials is not None and len(ended(self.study)) >= self.limits.trials

    def _try(self, trial: optuna.Trial, settings: Settings) -> None:
        started = time.monotonic()

        def hopeless(epoch: int, value: float) -> bool:
            trial.report(value, epoch)
            return trial.should_prune()

        with self.watch(trial.number + 1, settings) if self.watch else nullcontext((None, None)) as (on_pass, on_epoch):
            result = attempt(
                self.judged,
                self.clauses,
                settings,
                hopeless=hopeless,
                deadline=self.deadline,
                on_pass=on_pass,
                on_epoch=on_epoch,
                tell=self.tell if trial.number == 0 else _LOG.debug,  # it would be the same for each
            )
        self._write_down(trial, settings, result, time.monotonic() - started)

    def _write_down(self, trial: optuna.Trial, settings: Settings, result: Attempt, seconds: float) -> None:
        """Put the outcome into the journal; the model of a new best is on disk before the journal says so."""
        states = import_optuna().trial.TrialState
        training = result.training
        epoch = training.position.best_epoch if training else 0
        outcome = {"state": result.state, "seconds": seconds, "epoch": epoch, "error": result.error}
        trial.set_user_attr("outcome", outcome)
        if result.state in (PRUNED, FAILED):
            self.study.tell(trial, state=states.PRUNED)
            return
        if training is None or result.value is None:  # the time was up before the first validation
            self.study.tell(trial, state=states.FAIL)
            return
        best = best_trial(self.study)
        if best is not None and result.value <= best.values[0]:
            self.study.tell(trial, result.value)
            return
        keep(training, self.directory.run_of(trial.number + 1), self.graph, self.clauses, self.judged, result.records)
        self.study.tell(trial, result.value)
        self.directory.keep_only(trial.number + 1, settings)
