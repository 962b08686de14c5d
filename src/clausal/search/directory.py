"""The directory of a search: what is searched, the journal, the best settings and the run of the best model.

``start/`` is a run directory that was never trained: it holds the graph, the clauses and the settings of the first
trial, so that a search can go on without the files it was begun from.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from clausal.config import Settings
from clausal.errors import InputError
from clausal.files import explained_os_errors, read_json, write_json, write_text
from clausal.graph.graph import Graph
from clausal.logic.printer import print_clause
from clausal.logic.syntax import Clause
from clausal.run.directory import RunDirectory, locked
from clausal.search.space import Choice, Range, Space

_START, _SEARCH, _JOURNAL, _BEST, _LOCK = "start", "search.json", "journal.log", "best.toml", "lock"
_RUN = "trial-"


class SearchDirectory:
    """Reads and writes one directory of a search."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)

    @staticmethod
    def open(path: str | Path) -> SearchDirectory:
        """Open the directory of a search that was begun."""
        directory = SearchDirectory(path)
        if not directory.begun:
            raise InputError(f"{path}: no search was begun here; give the graph to search settings for")
        return directory

    @property
    def begun(self) -> bool:
        """Whether there is a search to go on with."""
        return (self.path / _SEARCH).is_file()

    def begin(self, graph: Graph, clauses: Sequence[Clause], settings: Settings, space: Space) -> None:
        """Keep what is searched, in a new or empty directory."""
        if self.path.exists() and not (self.path.is_dir() and self._is_empty()):
            raise InputError(f"{self.path}: exists already and is no search; choose another --out")
        with explained_os_errors(self.path):
            self.path.mkdir(parents=True, exist_ok=True)
        shutil.rmtree(self.path / _START, ignore_errors=True)  # of a search that was killed right here
        RunDirectory.create(self.path / _START, graph, clauses, settings)
        write_json(self.path / _SEARCH, {"space": [asdict(parameter) for parameter in space]})

    def _is_empty(self) -> bool:
        return all(entry.name in (_START, _LOCK) or entry.name.startswith(".") for entry in self.path.iterdir())

    @property
    def start(self) -> RunDirectory:
        """The graph, the clauses and the settings that the search starts from."""
        return RunDirectory.open(self.path / _START)

    @property
    def space(self) -> list[Range | Choice]:
        """What is varied."""
        try:
            return [_parameter(entry) for entry in read_json(self.path / _SEARCH)["space"]]
        except (KeyError, TypeError, ValueError):
            raise InputError(f"{self.path / _SEARCH}: damaged: it does not say what is searched") from None

    def require_same(self, graph: Graph, clauses: Sequence[Clause], settings: Settings, space: Space) -> None:
        """Refuse to mix two searches in one directory."""
        start = self.start
        facts = graph.splits | dict(graph.parts)
        before = start.graph.splits | dict(start.graph.parts)
        same_facts = facts.keys() == before.keys() and all(np.array_equal(facts[part], before[part]) for part in facts)
        names, names_before = ([*one.entities, *one.relations] for one in (graph, start.graph))
        same = {
            "another graph": same_facts and names == names_before,
            "other clauses": [print_clause(one) for one in clauses] == [print_clause(one) for one in start.clauses],
            "other settings": settings == start.settings and list(space) == self.space,
        }
        for what, holds in same.items():
            if not holds:
                raise InputError(
                    f"{self.path}: was begun with {what}; choose another --out, or go on with that search by "
                    f"clausal search --out {self.path} --resume"
                )

    @property
    def journal(self) -> Path:
        """The file of all trials."""
        return self.path / _JOURNAL

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep a second process from searching in the same directory."""
        with explained_os_errors(self.path):
            self.path.mkdir(parents=True, exist_ok=True)
        with locked(self.path, self.path / _LOCK):
            yield

    def run_of(self, number: int) -> Path:
        """Return where the model of a trial is kept while it is the best."""
        return self.path / f"{_RUN}{number}"

    def keep_only(self, number: int, settings: Settings) -> None:
        """Write the best settings, and drop the models of all other trials."""
        write_text(self.path / _BEST, settings.to_toml())
        for path in self.path.glob(f"{_RUN}*"):
            if path != self.run_of(number):
                shutil.rmtree(path, ignore_errors=True)

    @property
    def best(self) -> Path:
        """The best settings so far, for ``clausal train --config``."""
        return self.path / _BEST


def _parameter(entry: dict[str, Any]) -> Range | Choice:
    if "values" in entry:
        return Choice(str(entry["name"]), tuple(entry["values"]))
    return Range(str(entry["name"]), float(entry["low"]), float(entry["high"]))
