"""A race on valid: short trainings choose the settings of a long one, within a budget that is counted in work.

The race climbs along one setting after the other, from those of the rule on, and moves where a trial is better by more
than half a standard error of the paired difference. So few valid facts leave the rule's settings as they are.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from clausal.config import AUTO, Settings
from clausal.graph.graph import Graph
from clausal.graph.splits import split_facts
from clausal.logic import check_clauses
from clausal.logic.syntax import Clause
from clausal.observer import Observer
from clausal.search.best import best_settings, this_machine
from clausal.search.journal import Journal, Trial
from clausal.search.racing.clauses import clause_table, weigh_for_training
from clausal.search.racing.climbing import Climber
from clausal.search.racing.plan import MINUTES, Plan, make_plan
from clausal.search.racing.report import explain
from clausal.search.racing.track import Track
from clausal.search.racing.work import Size
from clausal.search.space import change

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
    that is more; up to two trials with clauses come on top. With a ``journal``, and a folder for ``ranks``, a race that
    was interrupted goes on where it was.
    """
    settings = start_settings(graph, clauses, settings, fixed)
    check_clauses(clauses, graph.entities, graph.relations)
    judged, held_out = judged_graph(graph, settings)
    size, machine = Size.of(judged), this_machine(settings.train.device)
    plan = plan or make_plan(size, settings, machine, minutes)
    if not len(judged.valid):
        nothing = "No race: there are no valid facts, and train has none to spare; these are the settings of the rule."
        return Race(settings, {}, [], plan, 0, nothing, clauses)
    track = Track(judged, settings, plan, Journal(Path(journal)) if journal else None, ranks, observer or Observer())
    raced_clauses = bool(clauses) and settings.clauses.weight == AUTO and settings.clauses.adversary != "none"
    weighed = weigh_for_training(clauses, judged, observer) if raced_clauses else []
    runner = Climber(track, settings, fixed)
    winner = runner.run()
    chosen = dict(winner.trial.changes)
    table: list[dict[str, Any]] = []
    if raced_clauses:
        outcome, changes = runner.weigh_clauses(winner, weighed)
        chosen |= changes
        weighed = list(outcome.clauses) or weighed
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
    work = track.spent + track.for_clauses
    return Race(final, chosen, [one.trial for one in track.made], plan, work, text, clauses, table)


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
