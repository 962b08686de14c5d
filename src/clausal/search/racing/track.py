"""The track of a race: trials within the budget, each compared with the one that leads, and written down."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from clausal.config import Settings
from clausal.errors import InputError
from clausal.graph.graph import Graph
from clausal.logic.syntax import Clause
from clausal.observer import Calling, Observer, PassReport
from clausal.search.best import this_machine
from clausal.search.journal import Journal
from clausal.search.racing.judging import compare
from clausal.search.racing.plan import Plan
from clausal.search.racing.report import describe
from clausal.search.racing.trial import Raced, RankFiles, make_trial
from clausal.search.racing.work import Size, training_work
from clausal.search.space import change

_LENGTHS = 2, 3  # of trials that show what short ones do not
_HOPELESS = 0.05  # so much below the leader at the same epoch, and no trial has caught up


class Track:
    """Makes trials within the budget; those that a journal has are not made again."""

    def __init__(
        self,
        graph: Graph,
        start: Settings,
        plan: Plan,
        journal: Journal | None,
        ranks: str | Path | None,
        observer: Observer,
    ) -> None:
        self.graph, self.start, self.plan, self.journal, self.observer = graph, start, plan, journal, observer
        self.size, self.machine = Size.of(graph), this_machine(start.train.device)
        self.files = RankFiles(Path(ranks) if ranks else None)
        self.written = iter(journal.read() if journal else [])
        self.made: list[Raced] = []
        self.spent = 0
        self.for_clauses = 0
        self.share = 1  # how often the plan's dimension goes into that of the trials now
        self.length = 1  # and the plan's epochs into theirs

    def find(self, changes: Mapping[str, Any]) -> Raced | None:
        """Return the trial with these changes that was made before at the present dimension, as long or longer."""
        alike = [one for one in self.made if one.trial.changes == changes and one.share == self.share]
        return next((self.cut(one) for one in alike if one.length >= self.length), None)

    def cut(self, raced: Raced) -> Raced:
        """Return a longer trial as it was at the present length."""
        if raced.length <= self.length:
            return raced
        return replace(raced.until(self.length * self.plan.epochs), length=self.length)

    def enlarge(self, leader: Raced, trials: int) -> Raced:
        """Go on at twice the dimension, where the budget has room for some trials; return the leader there."""
        if 2 * self.plan.dim * self.share > self.start.model.dim:
            return leader
        self.share *= 2
        work = trials * self._work(self._settings(leader.trial.changes), 0)
        larger = self.attempt(leader.trial.changes, leader) if self.spent + work <= self.plan.budget else None
        if larger is None or larger.ranks is None:
            self.share //= 2
            return leader
        return larger

    def lengthen(self) -> None:
        """Make trials two or three times as long, if the budget has room for two of them and half a short one."""
        one, room = self._work(self._settings({}), 0), self.plan.budget - self.spent
        fitting = [
            length
            for length in _LENGTHS
            if (2 * length + 0.5) * one <= room and length * self.plan.epochs <= self.start.train.epochs
        ]
        self.length = max(fitting, default=1)

    def attempt(self, changes: Mapping[str, Any], leader: Raced | None, clauses: Sequence[Clause] = ()) -> Raced | None:
        """Make a trial and compare it with the leader; None where the rest of the budget is too small for it.

        Trials with clauses have a budget of their own, half of the other, so that settings are raced with clauses as
        without.
        """
        made = self.find(changes)
        if made is not None:
            return made
        settings = self._settings(changes)
        work = self._work(settings, len(clauses))
        spent, budget = (self.for_clauses, self.plan.budget // 2) if clauses else (self.spent, self.plan.budget)
        if leader is not None and spent + work > budget:
            return None
        number = len(self.made) + 1
        raced = self._replayed(number, changes)
        if raced is None:
            raced = make_trial(
                self.graph, clauses, settings, changes, self._hopeless(leader, settings), self._progress(work, settings)
            )
            epochs = raced.trial.about["epochs"]
            about = {"work": self._work(settings, len(clauses), epochs), "dim": settings.model.dim, "epochs": epochs}
            if leader is not None:
                about["against"] = leader.trial.number
                before = self.cut(leader).ranks
                if raced.ranks is not None and before is not None:
                    found = compare(raced.ranks, before)
                    about |= {"difference": round(found.difference, 6), "error": round(found.error, 6)}
            raced = self.files.write(replace(raced, trial=replace(raced.trial, about=about)), number)
            if self.journal is not None:
                self.journal.append(raced.trial)
        raced = replace(raced, share=self.share, length=self.length)
        self.made.append(raced)
        if clauses:
            self.for_clauses += int(raced.trial.about["work"])
        else:
            self.spent += int(raced.trial.about["work"])
        self._tell(raced)
        return raced

    def _settings(self, changes: Mapping[str, Any]) -> Settings:
        """Return the settings of a trial, which is smaller and shorter than the final training."""
        wanted = change(self.start, changes)
        dim = max(2, round(self.share * wanted.model.dim * self.plan.dim / self.start.model.dim / 2) * 2)
        weight = changes.get("clauses.weight", 0.0)
        small = {"model.dim": dim, "evaluate.patience": 0, "clauses.weight": weight, "evaluate.metric": "mrr"}
        epochs = self.length * self.plan.epochs
        settings = change(wanted, small | {"train.epochs": epochs, "evaluate.every": self.plan.every})
        if settings.train.passes == self.start.train.passes:
            return settings
        # Another kind of training, with other passes: as much work as the others.
        usual = training_work(self.size, self._settings({}), 0, self.machine)
        one = training_work(self.size, settings, 0, self.machine, epochs=1)
        epochs = max(1, min(usual // one, wanted.train.epochs))
        return change(settings, {"train.epochs": epochs, "evaluate.every": max(1, epochs // 8)})

    def _work(self, settings: Settings, clauses: int, epochs: int | None = None) -> int:
        return training_work(self.size, settings, clauses, self.machine, epochs)

    def _hopeless(self, leader: Raced | None, settings: Settings) -> Callable[[int, float], bool]:
        """Return what gives up a trial that is far below the leader after half of its epochs."""
        half = settings.train.epochs / 2
        curve = dict(leader.trial.validations) if leader is not None else {}

        def hopeless(epoch: int, value: float) -> bool:
            return epoch >= half and value < curve.get(epoch, -1.0) - _HOPELESS

        return hopeless

    def _replayed(self, number: int, changes: Mapping[str, Any]) -> Raced | None:
        """Return the next trial of the journal, which a race on the same graph has made as this one would."""
        trial = next(self.written, None)
        if trial is None:
            return None
        if trial.changes != json.loads(json.dumps(changes)) or "work" not in trial.about:
            assert self.journal is not None
            raise InputError(f"{self.journal.path}:{number}: a trial of another race; train in another --out")
        return self.files.read(trial, self.size.valid)

    def _progress(self, work: int, settings: Settings) -> Observer:
        """Return what counts the passes of a trial as work; its messages are left to the final training."""
        each, begun = work / (settings.train.epochs * settings.train.passes), self.spent

        def passed(report: PassReport) -> None:
            done = (report.epoch - 1) * settings.train.passes + report.passes
            self.observer.advanced("race", self._percent(begun + each * done), 100, "%")

        return Calling(passed=passed, message=lambda _: None)

    def _percent(self, work: float) -> int:
        return min(100, round(100 * work / max(1, self.plan.budget)))

    def _tell(self, raced: Raced) -> None:
        trial, percent = raced.trial, self._percent(self.spent)
        what = f"{trial.value:.4f}" if trial.value is not None else f"failed, {trial.error}"
        gain = f" ({trial.about['difference']:+.4f})" if "difference" in trial.about else ""
        self.observer.message(
            f"race, trial {trial.number}, {percent} % of its work: valid MRR {what}{gain}: "
            f"{describe(trial.changes) or 'the settings of the rule'}"
        )
