"""The directory of a search: what is searched, the journal, the best settings and the run of the best model.

``start/`` is a run directory that was never trained: it holds the graph, the clauses and the settings of the first
trial, so that a search can go on without the files it was begun from.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from clausal.config import Settings
from clausal.errors import InputError
from clausal.files import check_new_folder, make_folder, read_json, write_json, write_text
from clausal.graph.graph import Graph
from clausal.logic.printer import print_clause
from clausal.logic.syntax import Clause
from clausal.run.directory import RunDirectory, locked
from clausal.search.journal import Journal
from clausal.search.samplers import SamplerName
from clausal.search.space import Choice, Range, Space

_START, _SEARCH, _JOURNAL, _BEST, _LOCK = "start", "search.json", "journal.jsonl", "best.toml", "lock"
_RUNNING = "running.json"
_OLD_JOURNAL = "journal.log"
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
        directory.require_readable()
        return directory

    def require_readable(self) -> None:
        """Refuse the journal of an early version, which was optuna's own."""
        if (self.path / _OLD_JOURNAL).exists():
            raise InputError(
                f"{self.path}: is a search of an earlier version of clausal, which cannot go on; {self.best} and the "
                "model beside it are as good as before, and another --out begins a new search"
            )

    @property
    def begun(self) -> bool:
        """Whether there is a search to go on with."""
        return (self.path / _SEARCH).is_file()

    def begin(
        self,
        graph: Graph,
        clauses: Sequence[Clause],
        settings: Settings,
        space: Space,
        sampler: SamplerName,
        study: Mapping[str, str] | None = None,
    ) -> None:
        """Keep what is searched, in a new or empty directory, and of which shared study it is a worker's."""
        if self.path.exists() and not (self.path.is_dir() and self._is_empty()):
            raise InputError(f"{self.path}: exists already and is no search; choose another --out")
        if not self.path.exists():
            check_new_folder(self.path, "choose another --out")
        make_folder(self.path)
        shutil.rmtree(self.path / _START, ignore_errors=True)  # of a search that was killed right here
        RunDirectory.create(self.path / _START, graph, clauses, settings)
        shared = {} if study is None else {"study": dict(study)}
        write_json(self.path / _SEARCH, {"sampler": sampler, "space": [asdict(one) for one in space], **shared})

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

    @property
    def sampler(self) -> SamplerName:
        """What chooses the next trial."""
        return "grid" if read_json(self.path / _SEARCH).get("sampler") == "grid" else "tpe"

    @property
    def study(self) -> dict[str, str] | None:
        """The storage and the name of the shared study whose worker's directory this is."""
        found: dict[str, str] | None = read_json(self.path / _SEARCH).get("study")
        return found

    def require_study(self, study: Mapping[str, str] | None) -> None:
        """Refuse to mix a worker's directory with another study, or with a search of one process."""
        before = self.study
        if before == study:
            return
        if before is None:
            raise InputError(f"{self.path}: was begun without --storage; give this worker another --out")
        raise InputError(
            f"{self.path}: is a worker's folder of the study '{before.get('name')}' in {before.get('storage')}; go on "
            "with that --storage and --study, or choose another --out"
        )

    def require_same(
        self, graph: Graph, clauses: Sequence[Clause], settings: Settings, space: Space, sampler: SamplerName
    ) -> None:
        """Refuse to mix two searches in one directory."""
        self.require_readable()
        start = self.start
        facts = graph.splits | dict(graph.parts)
        before = start.graph.splits | dict(start.graph.parts)
        same_facts = facts.keys() == before.keys() and all(np.array_equal(facts[part], before[part]) for part in facts)
        names, names_before = ([*one.entities, *one.relations] for one in (graph, start.graph))
        same = {
            "another graph": same_facts and names == names_before,
            "other clauses": [print_clause(one) for one in clauses] == [print_clause(one) for one in start.clauses],
            "other settings": settings == start.settings and list(space) == self.space and sampler == self.sampler,
        }
        for what, holds in same.items():
            if not holds:
                raise InputError(
                    f"{self.path}: was begun with {what}; choose another --out, or go on with that search by "
                    f"clausal search --out {self.path} --resume"
                )

    @property
    def journal(self) -> Journal:
        """All trials."""
        return Journal(self.path / _JOURNAL)

    def begin_trial(self, number: int) -> int:
        """Write down that a trial is begun, and return how often it was, with this time; ``end_trial`` takes it back.

        A process that was killed leaves its trial as begun.
        """
        path = self.path / _RUNNING
        before = read_json(path) if path.exists() else {}
        times = 1 + (int(before.get("times", 0)) if before.get("trial") == number else 0)
        write_json(path, {"trial": number, "times": times})
        return times

    def end_trial(self) -> None:
        """Write down that no trial is running."""
        (self.path / _RUNNING).unlink(missing_ok=True)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep a second process from searching in the same directory."""
        make_folder(self.path)
        with locked(self.path, self.path / _LOCK):
            yield

    def run_of(self, number: int) -> Path:
        """Return where the model of a trial is kept while it is the best."""
        return self.path / f"{_RUN}{number}"

    def keep_best(self, number: int, settings: Settings) -> None:
        """Write the best settings, and drop the models of all other trials."""
        write_text(self.path / _BEST, settings.to_toml())
        self.drop_models(number)

    def drop_models(self, kept: int | None = None) -> None:
        """Drop the models of all trials but one."""
        for path in self.path.glob(f"{_RUN}*"):
            if kept is None or path != self.run_of(kept):
                shutil.rmtree(path, ignore_errors=True)

    @property
    def best(self) -> Path:
        """The best settings so far, for ``clausal train --config``."""
        return self.path / _BEST


def _parameter(entry: dict[str, Any]) -> Range | Choice:
    if "values" in entry:
        return Choice(str(entry["name"]), tuple(entry["values"]))
    return Range(str(entry["name"]), float(entry["low"]), float(entry["high"]))
