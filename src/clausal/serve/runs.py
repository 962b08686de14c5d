"""Runs that are served: loaded, and loaded again when their files change, without dropping a request."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import Any

from clausal.errors import ClausalError, InputError
from clausal.evaluation.index import VectorIndex
from clausal.logic import Measures, measure_clauses
from clausal.logic.syntax import Clause
from clausal.model.predictor import LinkPredictor
from clausal.run import Run, load
from clausal.run.directory import CALIBRATION, FUSION, MODEL, RunDirectory
from clausal.run.indexing import with_fitting
from clausal.run.known_facts import KnownFacts, SortedFacts
from clausal.serve.names import ServedNames
from clausal.serve.problems import Problem, without_paths
from clausal.serve.statuses import Statuses

_LOG = logging.getLogger("clausal.serve")
_WATCHED = ("run.json", "config.toml", "clauses.txt", "vocabulary.parquet", "facts.parquet", MODEL, CALIBRATION, FUSION)


class ServedRun:
    """One state of a run directory: the run, what follows by its clauses, and its names. It never changes."""

    def __init__(self, name: str, path: Path, device: str, indexes: Sequence[VectorIndex] = ()) -> None:
        self.name, self.path = name, path
        self.stamp = stamp(path)
        self.digest = hashlib.sha256(repr(self.stamp).encode()).hexdigest()[:12]
        self.directory = RunDirectory.open(path)
        self.finished = self.directory.finished
        self.certificates: dict[str, dict[str, Any]] = {}
        """The newest certificate of each clause, by its text."""
        self.tolerance: float | None = None
        self._lock = Lock()
        self._run = with_fitting(load(path, device=device), indexes) if self.finished else None
        if self._run is not None:
            self._statuses, self._names = Statuses(self._run), ServedNames(self._run.graph)
            if len(self._run.graph.train):  # the first question indexes the facts
                first = self._run.graph.train[0]
                self._run.predict((self._run.graph.entities[first[0]], self._run.graph.relations[first[1]], None), 1)

    @property
    def run(self) -> Run:
        """The run; a problem where its training has not finished."""
        self.require_finished()
        assert self._run is not None
        return self._run

    def require_finished(self) -> None:
        """Refuse what a run cannot answer while it is being trained."""
        if self._run is None:
            raise Problem(409, f"the training of '{self.name}' has not finished; until then see /v1/run/log")

    @property
    def statuses(self) -> Statuses:
        """What is known of facts."""
        self.require_finished()
        return self._statuses

    @property
    def names(self) -> ServedNames:
        """How names are shown, and found."""
        self.require_finished()
        return self._names

    @cached_property
    def known(self) -> SortedFacts:
        """The facts of all splits."""
        graph = self.run.graph
        return SortedFacts(graph.known, len(graph.entities), len(graph.relations))

    @cached_property
    def splits(self) -> KnownFacts:
        """The facts by split."""
        return KnownFacts(self.run.graph)

    @cached_property
    def table(self) -> LinkPredictor:
        """The model with every entity encoded once."""
        return self.run.predictor.with_table()

    @cached_property
    def clause_numbers(self) -> dict[str, int]:
        """The numbers of the clauses, by their texts; the first of equal ones."""
        return {str(clause): number for number, clause in reversed(list(enumerate(self.run.clauses)))}

    @property
    def rankings(self) -> list[str]:
        """The rankings that the run can be asked by."""
        return [
            "model",
            *(["entailed"] if self.run.clauses else []),
            *(["rules", "fused"] if self.run.is_fused else []),
        ]

    @property
    def measures(self) -> Sequence[Measures | None]:
        """What the clauses predict in train, and how much of it is there; counted once."""
        with self._lock:
            return self._measures

    @cached_property
    def _measures(self) -> Sequence[Measures | None]:
        return measure_clauses(self.run.clauses, self.run.graph) if self.run.clauses else []

    @property
    def measures_of_all(self) -> Sequence[Measures | None]:
        """The same in all facts of the graph, those of valid and test too: for people, no choice rests on it."""
        with self._lock:
            return self._measures_of_all

    @cached_property
    def _measures_of_all(self) -> Sequence[Measures | None]:
        graph = self.run.graph
        return measure_clauses(self.run.clauses, graph, graph.known) if self.run.clauses else []

    def clause(self, number: int) -> Clause:
        """Return a clause by its number."""
        if not 0 <= number < len(self.run.clauses):
            raise Problem(404, f"no clause {number}; the run '{self.name}' has {len(self.run.clauses):,}, from 0")
        return self.run.clauses[number]


def stamp(path: Path) -> tuple[tuple[str, int, int], ...]:
    """Return what tells that the files of a run have changed; the log may grow."""
    found = []
    for name in _WATCHED:
        try:
            state = (path / name).stat()
        except OSError:
            continue
        found.append((name, state.st_mtime_ns, state.st_size))
    return tuple(found)


class Runs:
    """The runs of a service by name; each can be replaced while requests go on."""

    def __init__(
        self, paths: Sequence[Path], device: str = "auto", indexes: Mapping[Path, VectorIndex] | None = None
    ) -> None:
        self._device, self._indexes = device, list((indexes or {}).values())
        self.paths = _named(paths)
        self.hidden = {str(path): name for name, path in self.paths.items()}
        self.hidden |= {str(path.resolve()): name for name, path in self.paths.items()}
        self._served = {name: ServedRun(name, path, device, self._indexes) for name, path in self.paths.items()}
        used = [served.run.index for served in self._served.values() if served.finished]
        for path, index in (indexes or {}).items():
            if index not in used:
                raise InputError(f"{path}: an index of other vectors than those of {', '.join(self.paths)}")
        self._refused: dict[str, tuple[Any, ...]] = {}
        self.reloads = 0

    def __iter__(self) -> Any:
        return iter(list(self._served.values()))

    def get(self, name: str | None) -> ServedRun:
        """Return a run by name, the first without one."""
        if name is None:
            return next(iter(self._served.values()))
        if name not in self._served:
            raise Problem(404, f"no run '{name[:100]}' here; the runs are: {', '.join(self._served)}")
        return self._served[name]

    def reload(self) -> None:
        """Load again the runs whose files have changed; one that cannot be read stays as it was."""
        for name, path in self.paths.items():
            now = stamp(path)
            if now in (self._served[name].stamp, self._refused.get(name)) or not now:
                continue
            try:
                fresh = ServedRun(name, path, self._device, self._indexes)
            except (ClausalError, OSError, ValueError) as error:
                if stamp(path) == now:  # else it is being written, and looked at again
                    self._refused[name] = now
                    _LOG.warning("the run %s has changed and cannot be read, so it stays as it was: %s", name, error)
                continue
            if stamp(path) == fresh.stamp == now:
                before, self._served[name] = self._served[name], fresh
                self.reloads += 1
                lost = before.finished and before.run.index is not None and fresh.finished and fresh.run.index is None
                _LOG.warning("loaded the run %s again%s", name, "; its index is of the old vectors" if lost else "")

    def plain(self, message: str) -> str:
        """Return a message without paths of the host."""
        return without_paths(message, self.hidden)


def read_log(served: ServedRun, after: int) -> dict[str, Any]:
    """Return the records of the epochs after one, as the log has them now."""
    directory = RunDirectory(served.path)
    records = [record for record in directory.read_log() if record["epoch"] > after]
    return {"run": served.name, "finished": directory.finished, "epochs": records}


def _named(paths: Sequence[Path]) -> dict[str, Path]:
    """Name runs by their folders; two folders of one name are told apart by a number."""
    if not paths:
        raise InputError("name at least one run directory")
    found: dict[str, Path] = {}
    for path in paths:
        base = name = path.resolve().name or "run"
        number = 2
        while name in found:
            name, number = f"{base}-{number}", number + 1
        found[name] = path
    return found
