"""Searching settings: begun, gone on with, and read back."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from pathlib import Path

from clausal.config import Settings
from clausal.errors import InputError
from clausal.graph.graph import Graph
from clausal.logic import check_clauses
from clausal.logic.syntax import Clause
from clausal.search.best import best_settings, largest_dim
from clausal.search.directory import SearchDirectory
from clausal.search.loop import Limits, OnTrial, TrialLoop, Watch
from clausal.search.result import SearchResult, read_result
from clausal.search.space import Space, make_space
from clausal.search.study import import_optuna, open_study

_LOG = logging.getLogger("clausal")


def search(
    graph: Graph,
    clauses: Sequence[Clause] = (),
    settings: Settings | None = None,
    *,
    out: str | Path,
    space: Space | None = None,
    minutes: float | None = None,
    trials: int | None = None,
    watch: Watch | None = None,
    on_trial: OnTrial | None = None,
    tell: Callable[[str], None] = _LOG.info,
) -> SearchResult:
    """Search for the settings with the best validation, from ``settings`` on, or from those of the rule.

    The search ends after ``minutes`` or ``trials`` in all, 30 minutes where neither is given. If ``out`` holds the
    same search already, it goes on, and trials that ended are not made again.
    """
    limits = Limits.of(minutes, trials)
    settings = settings or best_settings(graph, clauses)
    if space is None:
        space = make_space(settings, clauses=bool(clauses), largest_dim=largest_dim(graph, settings))
    _check(graph, settings, space)
    check_clauses(clauses, graph.entities, graph.relations)  # before they are written, and then read, elsewhere
    import_optuna()  # where it is missing, before anything is written
    directory = SearchDirectory(out)
    if directory.begun:
        directory.require_same(graph, clauses, settings, space)
    else:
        directory.begin(graph, clauses, settings, space)
    return _go_on(directory, limits, watch, on_trial, tell)


def resume_search(
    out: str | Path,
    *,
    minutes: float | None = None,
    trials: int | None = None,
    watch: Watch | None = None,
    on_trial: OnTrial | None = None,
    tell: Callable[[str], None] = _LOG.info,
) -> SearchResult:
    """Go on with the search in ``out``; the limits count what was done before."""
    return _go_on(SearchDirectory.open(out), Limits.of(minutes, trials), watch, on_trial, tell)


def load_search(out: str | Path) -> SearchResult:
    """Return what a search has found so far, without going on with it."""
    directory = SearchDirectory.open(out)
    with directory.locked():
        return read_result(directory, open_study(directory.journal))


def _go_on(
    directory: SearchDirectory,
    limits: Limits,
    watch: Watch | None,
    on_trial: OnTrial | None,
    tell: Callable[[str], None],
) -> SearchResult:
    with directory.locked():
        study = open_study(directory.journal)
        TrialLoop(directory, study, limits, watch, on_trial, tell).run()
        return read_result(directory, study)


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
