"""A race on valid: short trainings choose the settings of a long one, within a budget that is counted in work.

The race climbs along one setting after the other, from those of the rule on, and moves where a trial is better by more
than half a standard error of the paired difference. So few valid facts leave the rule's settings as they are.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from clausal.config import AUTO, Settings
from clausal.errors import InputError
from clausal.graph.graph import Graph
from clausal.graph.splits import split_facts
from clausal.logic import check_clauses
from clausal.logic.syntax import Clause
from clausal.observer import Observer
from clausal.search.best import best_settings, clause_weight, this_machine
from clausal.search.journal import Journal, Trial
from clausal.search.racing.clause_weight import (
    CLAUSE_FACTORS,
    CLAUSE_TRIALS,
    ClauseOutcome,
    choose_weight,
)
from clausal.search.racing.clauses import clause_table, weigh_for_training
from clausal.search.racing.judging import Comparison, compare
from clausal.search.racing.ladders import (
    Ladder,
    further_ladders,
    other_training,
    regulariser_ladder,
    relation_weights,
)
from clausal.search.racing.plan import MINUTES, Plan, make_plan
from clausal.search.racing.report import explain
from clausal.search.racing.trial import Raced, RankFiles, make_trial
from clausal.search.racing.work import Size, training_work
from clausal.search.space import change, setting

_HOPELESS = 0.05  # so much below the leader at the same epoch, and no trial has caught up
_OVERTAKING = 1.5  # standard errors by which a trial that is behind must be expected to overtake
_FINE = 10**0.25  # the factor of the last steps along the regulariser's weight
_HELD_OUT = 0.1  # of train, where there are no valid facts


@dataclass(frozen=True, eq=False)
class Race:
    """What a race chose: the settings of the final training, every trial, and why in a paragraph."""

    settings: Settings
    changes: Mapping[str, Any]
    trials: Sequence[Trial]
    plan: Plan
    work: int
    explanation: str
    clauses: Sequence[Clause] = ()
    table: Sequence[Mapping[str, Any]] = field(default_factory=list)


def race(
    graph: Graph,
    clauses: Sequence[Clause] = (),
    settings: Settings | None = None,
    *,
    fixed: Collection[str] = (),
    plan: Plan | None = None,
    minutes: float = MINUTES,
    journal: str | Path | None = None,
    ranks: str | Path | None = None,
    observer: Observer | None = None,
) -> Race:
    """Choose settings for a graph on its valid facts, from ``settings`` on, or from those of the rule.

    Settings named in ``fixed`` stay as they are. The work is at most 40 % of the final training's, or ``minutes`` where
    that is more. With a ``journal``, and a folder for ``ranks``, a race that was interrupted goes on where it was.
    """
    settings = start_settings(graph, clauses, settings, fixed)
    check_clauses(clauses, graph.entities, graph.relations)
    judged, held_out = judged_graph(graph, settings)
    size, machine = Size.of(judged), this_machine(settings.train.device)
    plan = plan or make_plan(size, settings, len(clauses), machine, minutes)
    if not len(judged.valid):
        nothing = "No race: there are no valid facts, and train has none to spare; these are the settings of the rule."
        return Race(settings, {}, [], plan, 0, nothing, clauses)
    track = _Track(judged, settings, plan, Journal(Path(journal)) if journal else None, ranks, observer or Observer())
    raced_clauses = bool(clauses) and settings.clauses.weight == AUTO and settings.clauses.adversary != "none"
    weighed = weigh_for_training(clauses, judged, observer) if raced_clauses else []
    used = [one.clause for one in weighed if one.weight]
    track.reserve(used)
    runner = _Runner(track, settings, fixed)
    winner = runner.run()
    chosen = dict(winner.trial.changes)
    table: list[dict[str, Any]] = []
    if raced_clauses:
        outcome = runner.weigh_clauses(winner, used)
        chosen["clauses.weight"] = outcome.weight
        clauses = [one.clause for one in weighed]
        table = clause_table(weighed, outcome.weight, judged, judged.valid, winner.ranks, outcome.ranks)
    if held_out:
        # The final training has no valid facts, and takes its epochs from the race.
        peak = winner.trial.epoch
        epochs = peak if peak < max(winner.trial.validations) else 2 * peak
        chosen |= {"train.epochs": min(epochs, change(settings, chosen).train.epochs), "evaluate.every": 0}
        chosen = {name: value for name, value in chosen.items() if name not in fixed}
    final = change(settings, chosen)
    text = explain(track.made, winner, plan, track.spent, held_out)
    if raced_clauses:
        text = f"{text} {outcome.explanation}"
    return Race(final, chosen, [one.trial for one in track.made], plan, track.spent, text, clauses, table)


def start_settings(
    graph: Graph, clauses: Sequence[Clause], settings: Settings | None, fixed: Collection[str]
) -> Settings:
    """Return what a race starts from: settings, or those of the rule, whose clauses' weight is raced if not fixed."""
    settings = settings or best_settings(graph, clauses)
    raced = bool(clauses) and "clauses.weight" not in fixed
    return change(settings, {"clauses.weight": AUTO}) if raced else settings


def judged_graph(graph: Graph, settings: Settings) -> tuple[Graph, bool]:
    """Return the graph that trials see, and whether its valid facts are held out of train.

    As in the training that follows, test facts are in the filter of a ranking, and nowhere else: on a dense graph the
    true answers among them would outrank what is asked for, and the better the model, the more so.
    """
    if len(graph.valid):
        return graph, False
    train, valid, _ = split_facts(graph.train, valid=_HELD_OUT, test=0.0, seed=settings.train.seed)
    return replace(graph, train=train, valid=valid), True


class _Track:
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
        self.reserved = 0
        self.share = 1  # how often the plan's dimension goes into that of the trials now

    def reserve(self, clauses: Sequence[Clause]) -> None:
        """Keep a part of the budget for trials with clauses, at most half of it."""
        if clauses:
            one = self._work(self._settings({"clauses.weight": 1.0}), len(clauses))
            self.reserved = min(CLAUSE_TRIALS * one, self.plan.budget // 2)

    def find(self, changes: Mapping[str, Any]) -> Raced | None:
        """Return the trial with these changes, if it was made before at the present dimension."""
        return next((one for one in self.made if one.trial.changes == changes and one.share == self.share), None)

    def enlarge(self, leader: Raced, trials: int) -> Raced:
        """Go on at twice the dimension, where the budget has room for some trials; return the leader there."""
        if 2 * self.plan.dim * self.share > self.start.model.dim:
            return leader
        self.share *= 2
        work, room = self._work(self._settings(leader.trial.changes), 0), self.plan.budget - self.reserved
        larger = self.attempt(leader.trial.changes, leader) if self.spent + trials * work <= room else None
        if larger is None or larger.ranks is None:
            self.share //= 2
            return leader
        return larger

    def attempt(self, changes: Mapping[str, Any], leader: Raced | None, clauses: Sequence[Clause] = ()) -> Raced | None:
        """Make a trial and compare it with the leader; None where the rest of the budget is too small for it."""
        before = self.find(changes)
        if before is not None:
            return before
        settings = self._settings(changes)
        work = self._work(settings, len(clauses))
        if leader is not None and self.spent + work > self.plan.budget - (0 if clauses else self.reserved):
            return None
        number = len(self.made) + 1
        raced = self._replayed(number, changes)
        if raced is None:
            raced = make_trial(
                self.graph, clauses, settings, changes, self._hopeless(leader, settings), _Quiet(self.observer)
            )
            epochs = raced.trial.about["epochs"]
            about = {"work": self._work(settings, len(clauses), epochs), "dim": settings.model.dim, "epochs": epochs}
            if leader is not None:
                about["against"] = leader.trial.number
                if raced.ranks is not None and leader.ranks is not None:
                    found = compare(raced.ranks, leader.ranks)
                    about |= {"difference": round(found.difference, 6), "error": round(found.error, 6)}
            raced = self.files.write(replace(raced, trial=replace(raced.trial, about=about)), number)
            if self.journal is not None:
                self.journal.append(raced.trial)
        raced = replace(raced, share=self.share)
        self.made.append(raced)
        self.spent += int(raced.trial.about["work"])
        self._tell(raced)
        return raced

    def _settings(self, changes: Mapping[str, Any]) -> Settings:
        """Return the settings of a trial, which is smaller and shorter than the final training."""
        wanted = change(self.start, changes)
        dim = max(2, round(self.share * wanted.model.dim * self.plan.dim / self.start.model.dim / 2) * 2)
        weight = changes.get("clauses.weight", 0.0)
        small = {"model.dim": dim, "evaluate.patience": 0, "clauses.weight": weight, "evaluate.metric": "mrr"}
        settings = change(wanted, small | {"train.epochs": self.plan.epochs, "evaluate.every": self.plan.every})
        if settings.train.passes == self.start.train.passes:
            return settings
        # Another kind of training, with other passes: as much work as the others.
        usual = training_work(self.size, self._settings({}), 0, self.machine)
        one = training_work(self.size, settings, 0, self.machine, epochs=1)
        epochs = max(1, min(usual // one, wanted.train.epochs))
        return change(settings, {"train.epochs": epochs, "evaluate.every": max(1, epochs // 8)})

    def _work(self, settings: Settings, clauses: int, epochs: int | None = None) -> int:
        return training_work(self.size, settings, clauses, self.machine, epochs)

    def _hopeless(self, leader: Raced | None, settings: Settings) -> Any:
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

    def _tell(self, raced: Raced) -> None:
        trial = raced.trial
        percent = min(100, round(100 * self.spent / max(1, self.plan.budget)))
        what = f"{trial.value:.4f}" if trial.value is not None else f"failed, {trial.error}"
        gain = f" ({trial.about['difference']:+.4f})" if "difference" in trial.about else ""
        self.observer.message(
            f"race, trial {trial.number}, {percent} % of its work: valid MRR {what}{gain}: "
            f"{trial.describe() or 'the settings of the rule'}"
        )
        self.observer.advanced("race", percent, 100, "%")


class _Quiet(Observer):
    """Passes on what a trial trains, without its messages."""

    def __init__(self, observer: Observer) -> None:
        self.observer = observer

    def message(self, text: str) -> None:
        """Keep what is said of clauses and forms for the final training."""


class _Runner:
    """Climbs along one setting after the other."""

    def __init__(self, track: _Track, start: Settings, fixed: Collection[str]) -> None:
        self.track, self.start, self.fixed = track, start, fixed

    def run(self) -> Raced:
        """Return the winner."""
        leader = self.track.attempt({}, None)
        assert leader is not None
        for ladder in regulariser_ladder(self.start, self.fixed):
            leader = self.climb(leader, ladder)
        leader = self.track.enlarge(leader, trials=2)
        for weight in relation_weights(self.start, self.fixed):
            leader = self.weigh_relations(leader, weight)
        for ladder in further_ladders(change(self.start, leader.trial.changes), self.fixed):
            leader = self.climb(leader, ladder)
        other = other_training(self.start, self.fixed)
        if other:
            leader = self.challenge(leader, other)
        for ladder in regulariser_ladder(change(self.start, leader.trial.changes), self.fixed, _FINE):
            leader = self.climb(leader, ladder)
        if "model.dim" not in self.fixed and self.track.plan.dim == self.start.model.dim:
            leader = self.challenge(leader, {**leader.trial.changes, "model.dim": 2 * self.start.model.dim})
        return leader

    def weigh_relations(self, leader: Raced, name: str) -> Raced:
        """Try weights of predicting relations: from 1 upwards if that is better than none, and else downwards."""
        without = leader
        for weights in ((1.0, 4.0), (0.25, 0.05)):
            for weight in weights:
                found = self.challenge(leader, {**without.trial.changes, name: weight})
                if found is leader and weight == 1.0:
                    break
                leader = found
            if leader is not without:
                break
        return leader

    def _value(self, leader: Raced, name: str) -> Any:
        return setting(change(self.start, leader.trial.changes), name)

    def challenge(self, leader: Raced, changes: Mapping[str, Any]) -> Raced:
        """Return the better one of the leader and a trial with these changes."""
        found = self.track.attempt(changes, leader)
        return leader if found is None or not self._better(found, leader) else found

    def _better(self, one: Raced, leader: Raced) -> bool:
        if one.ranks is None or leader.ranks is None:
            return one.ranks is not None
        epochs = self.start.train.epochs
        found = compare(one.ranks, leader.ranks)
        later = Comparison(found.difference + one.to_come(epochs) - leader.to_come(epochs), found.error)
        return later.better() if found.difference > 0 else later.better(_OVERTAKING)

    def weigh_clauses(self, leader: Raced, clauses: Sequence[Clause]) -> ClauseOutcome:
        """Try weights of the clauses against none, and keep the largest that costs nothing beyond noise."""
        usual = clause_weight(change(self.start, leader.trial.changes))
        tried: list[tuple[float, Raced]] = []
        for factor in CLAUSE_FACTORS if clauses and leader.ranks is not None else ():
            weight = float(f"{factor * usual:.2g}")
            found = self.track.attempt({**leader.trial.changes, "clauses.weight": weight}, leader, clauses)
            if found is not None and found.ranks is not None:
                tried.append((weight, found))
        return choose_weight(tried, leader)

    def climb(self, leader: Raced, ladder: Ladder) -> Raced:
        """Go along the values of a setting, up or else down, for as long as it gets better."""
        name, values = ladder
        start = values.index(self._value(leader, name))
        for direction in (1, -1):
            place, first = start + direction, leader
            while 0 <= place < len(values):
                changes = {**leader.trial.changes, name: values[place]}
                found = self.challenge(leader, changes)
                if found is leader:
                    break
                leader, place = found, place + direction
            if leader is not first:
                break
        return leader
