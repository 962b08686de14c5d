"""A study that many workers share: each asks it for trials, and tells how they went; lost trials are taken up again."""

from __future__ import annotations

import hashlib
import json
import socket
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import clausal
from clausal.config import Settings
from clausal.errors import ClausalError, InputError, count
from clausal.graph.graph import Graph
from clausal.logic.printer import print_clause
from clausal.logic.syntax import Clause
from clausal.observer import Observer
from clausal.search.journal import FAILED, PRUNED, Trial, read_trial, written_trial
from clausal.search.samplers import ParzenEstimator, Proposal, import_optuna
from clausal.search.space import Space
from clausal.search.storage import RETRIES, StudyStorage, storage_errors

if TYPE_CHECKING:
    import optuna

WORKER = "worker"
"""What of a trial says where it was trained: the machine, and the folder of the search there."""
_OURS = "clausal"  # the attribute of studies and trials that holds what optuna has no place for
_PAUSE = 1.0


class SharedStudy:
    """One study of a storage, of the same graph, clauses and settings for all workers."""

    def __init__(
        self,
        storage: StudyStorage,
        name: str,
        out: Path,
        graph: Graph,
        clauses: Sequence[Clause],
        settings: Settings,
        space: Space,
    ) -> None:
        self.name, self.storage = name, storage
        self._worker = f"{socket.gethostname()}:{out.absolute()}"
        self._sampler = ParzenEstimator(space, settings)
        description = _description(graph, clauses, settings, space)
        with _quiet():
            self._study = storage.patiently(lambda: self._joined(description))

    def trials(self) -> list[Trial]:
        """Return the trials of all workers that ended, by number."""
        return [trial for trial in map(_ended, self._all()) if trial is not None]

    def tell_again(self, trials: Sequence[Trial]) -> None:
        """Tell of trials in the journal of this worker whose end the study did not hear of."""
        running = {trial.number + 1 for trial in self._all() if trial.state.name == "RUNNING"}
        for trial in trials:
            if trial.number in running and trial.ended:
                self.storage.patiently(lambda trial=trial: self._tell(trial))  # type: ignore[misc]

    def run_one(
        self, attempt: Callable[[int, Proposal], Trial], most: int | None, deadline: float, observer: Observer
    ) -> bool:
        """Let ``attempt`` make the next trial, and tell the study of it; False where there is nothing more to do.

        Where as many are begun as there may be, this waits for those of other workers: one that is lost is left to do.
        """
        if not self._has_room(most, deadline, observer):
            return False
        asked = self.storage.patiently(self._ask)
        if most is not None and len(self._begun(before=asked.number)) >= most:  # another worker was faster
            self.storage.patiently(lambda: self._end(asked.number, None, "FAIL"))
            return True
        ignored = (*storage_errors(), import_optuna().exceptions.UpdateFinishedTrialError)
        proposal = self.storage.patiently(lambda: self._sampler.proposal(asked, ignored=ignored))
        with self._beating(asked):
            try:
                trial = attempt(asked.number + 1, proposal)
            except (KeyboardInterrupt, ClausalError):
                self._give_back(asked)
                raise
        if not self.storage.patiently(lambda: self._tell(trial)):
            observer.message(f"trial {trial.number} was taken up by another worker, as this one was silent too long")
        return True

    def _ask(self) -> optuna.Trial:
        self._give_up_lost()
        with _quiet():
            asked = self._study.ask()
        self._beat(asked._trial_id)
        return asked

    def _give_up_lost(self) -> None:
        """Leave trials to do again whose workers gave no sign of life for too long."""
        with _quiet():
            import_optuna().storages.fail_stale_trials(self._study)

    def _beat(self, id: int) -> None:
        """Give a sign of life of a trial."""
        self.storage.optuna.record_heartbeat(id)

    @contextmanager
    def _beating(self, asked: optuna.Trial) -> Iterator[None]:
        """Give signs of life of a trial, so that no other worker takes it up."""
        ended = threading.Event()

        def beat() -> None:
            while not ended.is_set():
                with suppress(*storage_errors()):  # one that could not be given is no failure: another one follows
                    self._beat(asked._trial_id)
                ended.wait(self.storage.optuna.heartbeat_interval)
            self.storage.optuna.remove_session()

        thread = threading.Thread(target=beat, name="clausal-heartbeat", daemon=True)
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join(_PAUSE)

    def _give_back(self, asked: optuna.Trial) -> None:
        """Leave a trial to another worker; if the database is away, it will find out by itself."""
        with suppress(*storage_errors()):
            self._end(asked.number, None, "FAIL")
            self._study.enqueue_trial(asked.params)

    def _joined(self, description: dict[str, str]) -> Any:
        optuna = import_optuna()
        options = {"storage": self.storage.optuna, "study_name": self.name, "pruner": self._sampler.pruner()}
        options["sampler"] = self._sampler.sampler(constant_liar=True)
        try:
            study = optuna.create_study(direction="maximize", **options)
            study.enqueue_trial(self._sampler.start)
        except optuna.exceptions.DuplicatedStudyError:
            study = optuna.load_study(**options)
        before = study.user_attrs.get(_OURS)
        if before is None:
            study.set_user_attr(_OURS, description)
            return study
        for what, value in description.items():
            if before.get(what) != value:
                seen = f" ({before.get(what)} there, {value} here)" if what == _VERSION else ""
                raise InputError(
                    f"{self.storage.address}: the study '{self.name}' was begun with {what}{seen}; all workers of a "
                    "study search the same; join it with the same, or name another one with --study"
                )
        return study

    def _has_room(self, most: int | None, deadline: float, observer: Observer) -> bool:
        told = False
        known: set[int] = set()
        while most is not None:
            self.storage.patiently(self._give_up_lost)
            begun, ended = len(self._begun()), len(self.trials())
            if ended >= most:
                return False
            if begun < most:
                return True
            if time.monotonic() > deadline:
                return False
            if not told:
                observer.message(f"waiting for {count(begun - ended, 'trial')} of other workers")
                told = True
            self.storage.patiently(lambda: self._beat_for_running(known))
            time.sleep(_PAUSE)
        return True

    def _beat_for_running(self, known: set[int]) -> None:
        """Give one sign of life of each running trial that is not known yet.

        A worker that was killed before its first one has none on record, and optuna never gives up such a trial.
        """
        for trial in self._study.get_trials(deepcopy=False):
            if trial.state.name == "RUNNING" and trial._trial_id not in known:
                self._beat(trial._trial_id)
                known.add(trial._trial_id)

    def _all(self) -> list[optuna.trial.FrozenTrial]:
        return self.storage.patiently(lambda: self._study.get_trials(deepcopy=False))

    def _begun(self, before: int | None = None) -> list[optuna.trial.FrozenTrial]:
        """Return the trials that ended or are running, of those with a number below ``before``."""
        return [
            trial
            for trial in self._all()
            if (trial.state.name == "RUNNING" or _ended(trial)) and (before is None or trial.number < before)
        ]

    def _tell(self, trial: Trial) -> bool:
        """Tell the study how a trial went; False where it had given it up already.

        One that was cut short before it could be judged is as if it never was.
        """
        (id,) = (one._trial_id for one in self._study.get_trials(deepcopy=False) if one.number == trial.number - 1)
        if trial.ended:
            told = written_trial(trial) | {WORKER: self._worker}
            try:
                self.storage.optuna.set_trial_user_attr(id, _OURS, told)
            except import_optuna().exceptions.UpdateFinishedTrialError:
                return False
        state = "COMPLETE" if trial.judged else "PRUNED" if trial.state == PRUNED else "FAIL"
        self._end(trial.number - 1, trial.value if trial.judged else None, state)
        return True

    def _end(self, number: int, value: float | None, state: str) -> None:
        states = import_optuna().trial.TrialState
        self._study.tell(number, value, state=states[state], skip_if_finished=True)


def _ended(trial: optuna.trial.FrozenTrial) -> Trial | None:
    """Return a trial that ended, as journals have it; None for one that runs, waits, or will be taken up again."""
    if not trial.state.is_finished():
        return None
    if _OURS in trial.user_attrs:
        return read_trial(trial.number + 1, trial.user_attrs[_OURS])
    if len(trial.system_attrs.get("retry_history", ())) < RETRIES:
        return None
    error = f"its worker was lost during it, {RETRIES + 1} times"
    return Trial(trial.number + 1, FAILED, None, 0, 0.0, dict(trial.params), error)


_VERSION = "another version of clausal"


def _description(graph: Graph, clauses: Sequence[Clause], settings: Settings, space: Space) -> dict[str, str]:
    """Return what workers of one study have in common, by what it is called where it differs."""
    facts = hashlib.sha256(json.dumps([list(graph.entities), list(graph.relations)]).encode())
    for name, part in (graph.splits | dict(graph.parts)).items():
        facts.update(name.encode() + part.tobytes())
    searched = json.dumps([settings.model_dump(mode="json"), [asdict(one) for one in space]], sort_keys=True)
    return {
        _VERSION: clausal.__version__,
        "another graph": facts.hexdigest(),
        "other clauses": hashlib.sha256("\n".join(map(print_clause, clauses)).encode()).hexdigest(),
        "other settings": hashlib.sha256(searched.encode()).hexdigest(),
    }


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep optuna from warning of what it calls experiments, and of heartbeats that are not its own."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
