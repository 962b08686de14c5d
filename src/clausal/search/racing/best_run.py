"""``best``: a race chooses the settings, and a training with them follows, both in one run directory.

While the race is on, the directory holds the settings that it starts from. ``race.jsonl`` has its trials, a line each,
and ``race.json`` what is raced and, at the end, what won.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

from clausal.config import Settings
from clausal.errors import InputError
from clausal.graph.graph import Graph
from clausal.logic.syntax import Clause
from clausal.observer import Observer
from clausal.run.directory import RACE_TRIALS, RunDirectory
from clausal.run.run import Run
from clausal.run.training import resume
from clausal.search.best import this_machine
from clausal.search.racing.plan import MINUTES, Plan, make_plan
from clausal.search.racing.race import Race, judged_graph, race, start_settings
from clausal.search.racing.work import Size
from clausal.training.prepare import check_arguments

MINING_SECONDS = 120.0
"""Mining for the votes of ``best`` ends after so long; what was found by then votes."""
_MOST_FACTS = 2_000_000
"""Of larger graphs rules are mined only if they are asked for: it takes minutes and gigabytes."""
_RANKS = "race"


def train_best(
    graph: Graph,
    clauses: Sequence[Clause] = (),
    settings: Settings | None = None,
    *,
    out: str | Path,
    fixed: Collection[str] = (),
    minutes: float = MINUTES,
    votes: bool = True,
    observer: Observer | None = None,
) -> Run:
    """Race for settings, from ``settings`` or those of the rule on, and train with them in a run directory.

    Settings named in ``fixed``, such as ``model.dim``, are not raced. With ``votes``, the clauses and rules mined from
    train vote in the run, under the ranking ``fused``.
    """
    settings = start_settings(graph, clauses, settings, fixed)
    check_arguments(graph, clauses, settings)
    size = Size.of(judged_graph(graph, settings)[0])
    plan = make_plan(size, settings, this_machine(settings.train.device), minutes)
    about = {"fixed": sorted(fixed), "plan": plan.to_dict(), "votes": votes}
    directory = RunDirectory.create(out, graph, clauses, settings, race=about)
    return _go_on(directory, observer or Observer())


def resume_best(out: str | Path, *, observer: Observer | None = None) -> Run:
    """Go on with a run: in its race if that has not ended, in its training, or with its votes."""
    return _go_on(RunDirectory.open(out), observer or Observer())


def _go_on(directory: RunDirectory, observer: Observer) -> Run:
    if directory.racing:
        with directory.locked():
            _race_in(directory, observer)
    run = resume(directory.path, observer=observer)
    voting = bool((RunDirectory(directory.path).race or {}).get("votes"))
    return run if not voting or run.is_fused else _with_votes(run, observer)


def _with_votes(run: Run, observer: Observer) -> Run:
    """Let the clauses and mined rules vote; a graph that is too large to mine has no votes."""
    if len(run.graph.train) > _MOST_FACTS:
        observer.message(f"no votes of rules: the graph is large; clausal fuse {run.path} --mine --out RUN2 mines them")
        return run
    try:
        return run.fuse(run.clauses or None, mine=True, seconds=MINING_SECONDS, out=run.path, observer=observer)
    except InputError as error:
        observer.message(f"no votes of rules: {error}")
        return run


def _race_in(directory: RunDirectory, observer: Observer) -> None:
    about = directory.race or {}
    found = race(
        directory.graph,
        list(directory.clauses),
        directory.settings,
        fixed=about.get("fixed", []),
        plan=_plan(directory, about),
        journal=directory.path / RACE_TRIALS,
        ranks=directory.temporary_folder / _RANKS,
        observer=observer,
    )
    observer.message(found.explanation)
    directory.settle_race(about | _outcome(found), found.settings, found.clauses)


def _plan(directory: RunDirectory, about: dict[str, Any]) -> Plan:
    try:
        return Plan(**{name: int(value) for name, value in about["plan"].items()})
    except (KeyError, TypeError, ValueError, AttributeError):
        raise InputError(f"{directory.path}/race.json: damaged: it has no plan of a race") from None


def _outcome(found: Race) -> dict[str, Any]:
    return {
        "changes": dict(found.changes),
        "trials": len(found.trials),
        "work": found.work,
        "explanation": found.explanation,
        "clauses": [dict(row) for row in found.table],
    }
