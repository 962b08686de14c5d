"""Searching settings for a graph: begun, gone on with, and read back. The test facts are taken away before."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from clausal.config import Settings
from clausal.errors import InputError
from clausal.graph.graph import Graph, no_facts
from clausal.logic import check_clauses
from clausal.logic.syntax import Clause
from clausal.observer import Observer, all_arguments, replaces
from clausal.run.training import keep
from clausal.search.best import best_settings, largest_dim
from clausal.search.directory import SearchDirectory
from clausal.search.journal import FAILED, FINISHED, STUDY_NUMBER, Trial
from clausal.search.result import SearchResult, best_of, read_result
from clausal.search.samplers import Proposal, SamplerName, grid_points, import_optuna, make_sampler
from clausal.search.space import Space, change, make_space
from clausal.search.storage import StudyStorage
from clausal.search.study import SharedStudy
from clausal.search.trials import Attempt, make_trials, train_trial

MINUTES = 30.0
_ATTEMPTS = 2  # a trial that the process did not survive twice is left alone
_LOG = logging.getLogger("clausal")


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


@replaces(on_trial=("trial_finished", all_arguments), tell=("message", all_arguments))
def search(
    graph: Graph,
    clauses: Sequence[Clause] = (),
    settings: Settings | None = None,
    *,
    out: str | Path,
    space: Space | None = None,
    sampler: SamplerName = "tpe",
    minutes: float | None = None,
    trials: int | None = None,
    storage: str | None = None,
    study: str | None = None,
    observer: Observer | None = None,
) -> SearchResult:
    """Search for the settings with the best validation, from ``settings`` on, or from those of the rule.

    The search ends after ``minutes`` or ``trials`` in all, 30 minutes where neither is given. If ``out`` holds the
    same search already, it goes on, and trials that ended are not made again. With the sampler ``grid`` every
    combination of the choices in ``space`` is trained once.

    With a ``storage`` (``postgresql://HOST/NAME``, or ``sqlite:FILE`` on one machine) this process is one worker of
    many that share the ``study`` of this name, that of the graph by default. Each has its own ``out`` and its own
    minutes; the trials are those of all workers together.
    """
    limits = Limits.of(minutes, trials)
    settings = settings or best_settings(graph, clauses)
    if space is None:
        space = make_space(settings, clauses=bool(clauses), largest_dim=largest_dim(graph, settings))
    _check(graph, settings, space)
    check_clauses(clauses, graph.entities, graph.relations)  # before they are written, and then read, elsewhere
    if sampler == "grid":
        grid_points(space)
    else:
        import_optuna()  # where it is missing, before anything is written
    if storage is not None and sampler == "grid":
        raise InputError("a grid is searched by one process, with several at once by make_trials; leave out storage")
    if study is not None and storage is None:
        raise InputError(f"the study '{study}' needs a storage that its workers share, such as postgresql://HOST/NAME")
    directory = SearchDirectory(out)
    with _opened(storage, study or graph.name) as shared:
        about = None if shared is None else shared.about
        if directory.begun:
            directory.require_study(about)
            directory.require_same(graph, clauses, settings, space, sampler)
        else:
            directory.begin(graph, clauses, settings, space, sampler, about)
        return _go_on(directory, limits, observer, shared)


@replaces(on_trial=("trial_finished", all_arguments), tell=("message", all_arguments))
def resume_search(
    out: str | Path,
    *,
    minutes: float | None = None,
    trials: int | None = None,
    storage: str | None = None,
    observer: Observer | None = None,
) -> SearchResult:
    """Go on with the search in ``out``; the limits count what was done before.

    A worker of a shared study needs its ``storage`` again, as no address with a password is kept.
    """
    directory = SearchDirectory.open(out)
    before = directory.study
    if before is not None and storage is None:
        raise InputError(f"{out}: is a worker's folder of a study in {before.get('storage')}; give that --storage too")
    with _opened(storage, (before or {}).get("name", "")) as shared:
        directory.require_study(None if shared is None else shared.about)
        return _go_on(directory, Limits.of(minutes, trials), observer, shared)


def load_search(out: str | Path) -> SearchResult:
    """Return what a search has found so far, without going on with it."""
    directory = SearchDirectory.open(out)
    with directory.locked():
        return read_result(
            directory, directory.start.settings, [trial for trial in directory.journal.read() if trial.ended]
        )


def _go_on(
    directory: SearchDirectory,
    limits: Limits,
    observer: Observer | None,
    shared: _Shared | None = None,
) -> SearchResult:
    with directory.locked():
        if shared is None:
            return _Search(directory, limits, observer or Observer()).run()
        return _Worker(directory, limits, observer or Observer(), shared).run()


@contextmanager
def _opened(storage: str | None, study: str) -> Iterator[_Shared | None]:
    """Open the storage of a shared study, if there is one."""
    if storage is None:
        yield None
        return
    with closing(StudyStorage(storage)) as found:
        yield _Shared(found, study)


@dataclass(frozen=True)
class _Shared:
    """An open storage, and the name of a study in it."""

    storage: StudyStorage
    name: str

    @property
    def about(self) -> dict[str, str]:
        """What directories keep of it: nothing secret."""
        return {"storage": self.storage.address, "name": self.name}


def _check(graph: Graph, settings: Settings, space: Space) -> None:
    if not len(graph.valid):
        raise InputError(
            f"{graph.name}: the valid split is empty, and a search judges by it; add a file of valid facts, "
            "or give one file of facts, which is split, with a share of valid facts above 0"
        )
    if not settings.evaluate.every:
        raise InputError("evaluate.every: a search needs validations; set it to 1 or more")
    if not space:
        raise InputError("there is nothing to search: every setting is fixed; use clausal train")


class _Search:
    """Asks for settings, trains with them, and writes down how it went, until a limit is reached."""

    def __init__(
        self,
        directory: SearchDirectory,
        limits: Limits,
        observer: Observer,
    ) -> None:
        self.directory, self.limits, self.observer = directory, limits, observer
        start = directory.start
        self.settings, self.clauses, self.graph = start.settings, start.clauses, start.graph
        self.judged = replace(self.graph, test=no_facts(), parts={})
        self.sampler = make_sampler(directory.sampler, directory.space, self.settings)
        self.journal = directory.journal
        written = self.journal.read()
        self.number = len(written)
        self.trials = [trial for trial in written if trial.ended]
        spent = sum(trial.seconds for trial in written)
        minutes = float("inf") if limits.minutes is None else limits.minutes
        self.deadline = time.monotonic() + 60 * minutes - spent

    def run(self) -> SearchResult:
        """Make trials until the time or their number is used up, or the sampler has no more."""
        self._require_model()
        for trial in make_trials(self._proposals(), self._attempt, self.journal):
            self._take(trial)
        return self._found()

    def _found(self) -> SearchResult:
        return read_result(self.directory, self.settings, list(self.trials))

    def _require_model(self) -> None:
        """Refuse a journal whose best model is elsewhere, and finish what a kill interrupted between two files."""
        found = self._found()
        if found.run and not found.run.is_dir():
            raise InputError(
                f"{self.journal.path}: the best trial has no model in {found.run}: the journal is that of another "
                "search, or the model was removed; put it back, or begin anew in another --out"
            )
        if found.best and found.settings:
            self.directory.keep_best(found.best.number, found.settings)
        else:
            self.directory.drop_models()

    def _proposals(self) -> Iterator[Proposal]:
        while time.monotonic() < self.deadline and not self._enough():
            proposal = self.sampler.ask(self.trials)
            if proposal is None:
                return
            yield proposal

    def _enough(self) -> bool:
        return self.limits.trials is not None and len(self.trials) >= self.limits.trials

    def _attempt(self, proposal: Proposal) -> Trial:
        number = self.number + 1
        if self.directory.begin_trial(number) > _ATTEMPTS:
            error = f"the process ended during it, {_ATTEMPTS} times"
            return Trial(number, FAILED, None, 0, 0.0, proposal.changes, error, drawn=proposal.drawn)
        try:
            return self._make(number, proposal)
        finally:
            self.directory.end_trial()

    def _make(self, number: int, proposal: Proposal) -> Trial:
        """Train one trial."""
        settings = change(self.settings, proposal.changes)
        started = time.monotonic()
        self.observer.trial_started(number, settings)
        # What is said of the clauses would be the same for each trial.
        tell = self.observer.message if number == 1 else _LOG.debug
        result = train_trial(
            self.judged,
            self.clauses,
            settings,
            hopeless=proposal.hopeless,
            deadline=self.deadline,
            observer=self.observer,
            tell=tell,
        )
        return self._outcome(number, proposal, result, time.monotonic() - started)

    def _outcome(self, number: int, proposal: Proposal, result: Attempt, seconds: float) -> Trial:
        """Return how a trial went; the model of a new best is on disk before the journal says so."""
        metric = self.settings.evaluate.ranked_by
        training, value = result.training, result.value
        validations = {record["epoch"]: record["valid"][metric] for record in result.records if "valid" in record}
        state, error = result.state, result.error
        if state == FINISHED and value is None:
            state, error = FAILED, "it was never validated"
        trial = Trial(
            number=number,
            state=state,
            value=None if state == FAILED else value,
            epoch=training.position.best_epoch if training else 0,
            seconds=seconds,
            changes=proposal.changes,
            error=error,
            validations=validations,
            drawn=proposal.drawn,
        )
        if training is not None and best_of([*self.trials, trial]) is trial:
            keep(training, self.directory.run_of(number), self.graph, self.clauses, self.judged, result.records)
        return trial

    def _take(self, trial: Trial) -> None:
        self.number = trial.number
        if not trial.ended:
            return
        self.trials.append(trial)
        if best_of(self.trials) is trial:
            self.directory.keep_best(trial.number, change(self.settings, trial.changes))
        left = None if self.limits.minutes is None else max(0.0, self.deadline - time.monotonic())
        self.observer.trial_finished(self._found(), left)


class _Worker(_Search):
    """One of many processes that search together; trials have the numbers of the study that they share."""

    def __init__(self, directory: SearchDirectory, limits: Limits, observer: Observer, shared: _Shared) -> None:
        super().__init__(directory, limits, observer)
        own, space = self.trials, directory.space
        start = (self.graph, self.clauses, self.settings, space)
        self.study = SharedStudy(shared.storage, shared.name, directory.path, *start)
        self.study.tell_again(own)
        self._look_around()

    def run(self) -> SearchResult:
        while time.monotonic() < self.deadline:
            seen = len(self.trials)
            if not self.study.run_one(self._written, self.limits.trials, self.deadline, self.observer):
                break
            self._look_around()
            if len(self.trials) > seen:
                left = None if self.limits.minutes is None else max(0.0, self.deadline - time.monotonic())
                self.observer.trial_finished(self._found(), left)
        self._look_around()
        return self._found()

    def _written(self, number: int, proposal: Proposal) -> Trial:
        self._look_around()  # whether the model is the best is judged by the trials of all workers
        trial = self._make(number, proposal)
        trial = replace(trial, about={STUDY_NUMBER: number})
        self.journal.append(trial)
        return trial

    def _look_around(self) -> None:
        """Learn of the trials of all workers, and keep the best settings and no model but the best."""
        self.trials = self.study.trials()
        best = best_of(self.trials)
        if best is not None:
            self.directory.keep_best(best.number, change(self.settings, best.changes))
