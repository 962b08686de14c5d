"""The run directory: what a training leaves behind. ``docs/reference/run-directory.md`` is its specification.

A log has one JSON object for each epoch, and a lock lets one process at a time train in a directory.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from functools import cached_property
from pathlib import Path
from typing import Any, overload

from torch import Tensor

import clausal
from clausal.config import Settings, load_stored_settings
from clausal.errors import InputError, RunError
from clausal.evaluation import Calibration
from clausal.files import (
    atomic_folder,
    check_new_folder,
    copy_file,
    explained_os_errors,
    locked_file,
    read_json,
    read_text,
    sync,
    sync_folder,
    write_json,
    write_text,
)
from clausal.graph.graph import Graph
from clausal.graph.splits import DrawnSplit
from clausal.logic.parser import parse_clauses
from clausal.logic.printer import print_clause
from clausal.logic.syntax import Clause
from clausal.model.features import Features
from clausal.run.checkpoint import read_metadata, read_tensors, write_tensors
from clausal.run.feature_files import read_features, write_features
from clausal.run.storage import FACTS, LITERALS, PREFIXES, VOCABULARY, load_stored_graph, store_graph

FORMAT = 1
MODEL = "model.safetensors"
CALIBRATION = "calibration.json"
FEATURES = "features.safetensors"
FUSION = "fusion.json"
FUSION_ARRAYS = "fusion.safetensors"
LOG = "log.jsonl"
RACE = "race.json"
RACE_TRIALS = "race.jsonl"
CHECKPOINT = Path("checkpoint") / "state.safetensors"
_LOCK = CHECKPOINT.with_name("lock")
_START = ("run.json", "config.toml", "clauses.txt", VOCABULARY, FACTS)
_EXTRAS = (LITERALS, PREFIXES, FEATURES, LOG, RACE, RACE_TRIALS, "metrics.json", CALIBRATION, MODEL)
_FILES = (*_START, *_EXTRAS, CHECKPOINT, _LOCK, FUSION, FUSION_ARRAYS)


class _StoredClauses(Sequence[Clause]):
    """Clauses that are parsed on first use: a question needs none, and the parser takes longer than the answer."""

    def __init__(self, text: str, source: str) -> None:
        self._text, self._source = text, source

    @cached_property
    def _clauses(self) -> list[Clause]:
        return parse_clauses(self._text, source=self._source) if self._text.strip() else []

    def __len__(self) -> int:
        return len(self._clauses)

    @overload
    def __getitem__(self, place: int) -> Clause: ...
    @overload
    def __getitem__(self, place: slice) -> list[Clause]: ...
    def __getitem__(self, place: int | slice) -> Clause | list[Clause]:
        return self._clauses[place]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and self._clauses == list(other)

    def __repr__(self) -> str:
        return repr(self._clauses)


class RunDirectory:
    """Reads and writes one run directory. Nothing in it is trusted: every file is checked before use."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)

    @staticmethod
    def create(
        path: str | Path,
        graph: Graph,
        clauses: Sequence[Clause],
        settings: Settings,
        custom: Sequence[str] = (),
        race: Mapping[str, Any] | None = None,
        start: str | None = None,
        features: Sequence[Features] = (),
    ) -> RunDirectory:
        """Make a new run directory; an existing one is never touched.

        With ``race`` the settings are those that a race starts from, and ``settle_race`` replaces them. ``start`` names
        the run whose vectors the training starts with, and ``features`` are those of described entities.
        """
        path = Path(path)
        check_new_folder(path, "choose another --out, or go on with an unfinished run there by --resume")
        with atomic_folder(path) as folder:
            (folder / CHECKPOINT.parent).mkdir()
            _write_start(folder, graph, clauses, settings, _about(graph, custom) | ({"start": start} if start else {}))
            if race is not None:
                write_json(folder / RACE, race)
            if features:
                write_features(folder / FEATURES, features)
        return RunDirectory(path)

    @staticmethod
    def open(path: str | Path) -> RunDirectory:
        """Open an existing run directory and check its version."""
        run = RunDirectory(path)
        if not run.path.is_dir():
            what = "a file, not a run directory" if run.path.exists() else "no such run directory"
            raise InputError(f"{path}: {what}")
        if not (run.path / "run.json").exists():
            raise InputError(f"{path}: not a run directory (it has no run.json)")
        _require_own(run.temporary_folder, folder=True)
        for name in _FILES:
            _require_own(run.path / name)
        for name in (*_START, *(("metrics.json",) if run.finished else ())):
            if not (run.path / name).exists():
                raise InputError(f"{run.path / name}: missing, the run directory is incomplete")
        version = run.about.get("format")
        if version != FORMAT:
            raise InputError(
                f"{path}: run format {version!r} is not known to clausal {clausal.__version__}, "
                f"which reads format {FORMAT}"
            )
        return run

    @property
    def temporary_folder(self) -> Path:
        """Where an unfinished run keeps its checkpoint and the files it is writing."""
        return self.path / CHECKPOINT.parent

    @cached_property
    def about(self) -> dict[str, Any]:
        """The version of the format and where the run comes from."""
        return read_json(self.path / "run.json")

    @property
    def custom(self) -> list[str]:
        """Which of ``scorer`` and ``encoder`` were a user's own modules."""
        custom = self.about.get("custom", [])
        return [str(name) for name in custom] if isinstance(custom, list) else []

    @cached_property
    def settings(self) -> Settings:
        """The settings of the training."""
        return load_stored_settings(self.path / "config.toml")

    @cached_property
    def graph(self) -> Graph:
        """The graph that the run was trained on."""
        graph = load_stored_graph(self.path, str(self.about.get("graph", "graph")))
        return replace(graph, drawn=_read_split(self.about.get("split")))

    @cached_property
    def features(self) -> list[Features]:
        """The features of described entities; none where they are not described."""
        path = self.path / FEATURES
        return read_features(path, len(self.graph.entities)) if self.settings.descriptions.given else []

    @cached_property
    def clauses(self) -> Sequence[Clause]:
        """The clauses of the training."""
        path = self.path / "clauses.txt"
        return _StoredClauses(read_text(path), str(path))

    @property
    def race(self) -> dict[str, Any] | None:
        """What was raced for the settings, and what won once ``racing`` is over; None without a race."""
        path = self.path / RACE
        return read_json(path) if path.exists() else None

    @property
    def racing(self) -> bool:
        """Whether the settings are still being chosen."""
        race = self.race
        return race is not None and "changes" not in race

    def settle_race(self, race: Mapping[str, Any], settings: Settings, clauses: Sequence[Clause]) -> None:
        """End a race: write what it chose, and last that it has ended."""
        text = "".join(f"{print_clause(clause)}\n" for clause in clauses)
        write_text(self.path / "clauses.txt", text, self.temporary_folder)
        write_text(self.path / "config.toml", settings.to_toml(), self.temporary_folder)
        write_json(self.path / RACE, race, self.temporary_folder)
        for name in ("settings", "clauses"):
            self.__dict__.pop(name, None)  # what was read before

    @property
    def finished(self) -> bool:
        """Whether the training came to its end."""
        return (self.path / MODEL).is_file()

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep a second process from training in the same directory, and sweep up after a killed one."""
        with locked(self.path, self.path / _LOCK):
            for path in self.temporary_folder.glob(".*"):
                path.unlink(missing_ok=True)
            yield

    def save_checkpoint(self, tensors: Mapping[str, Tensor], position: Mapping[str, Any]) -> None:
        """Replace the checkpoint by the state of a training; the log up to there is on the disk before."""
        self._sync_log()
        write_tensors(self.path / CHECKPOINT, tensors, {"position": json.dumps(position)})

    def load_checkpoint(self) -> tuple[dict[str, Tensor], dict[str, Any]] | None:
        """Return the last saved state, or None if there is none yet."""
        path = self.path / CHECKPOINT
        if not path.is_file():
            return None
        tensors, metadata = read_tensors(path)
        return tensors, _read_position(path, metadata)

    def load_position(self) -> dict[str, Any] | None:
        """Return how far the last saved state of one process had come, or None if there is none yet."""
        path = self.path / CHECKPOINT
        return _read_position(path, read_metadata(path)) if path.is_file() else None

    def append_log(self, record: Mapping[str, Any]) -> None:
        """Add one epoch to the log."""
        append_record(self.path / LOG, record)

    def _sync_log(self) -> None:
        path = self.path / LOG
        if path.exists():
            with explained_os_errors(path):
                sync(path)
                sync_folder(self.path)

    def read_log(self) -> list[dict[str, Any]]:
        """Return the records of the epochs so far."""
        return read_records(self.path / LOG)

    def rewind_log(self, epoch: int) -> None:
        """Drop the records after an epoch: those passes will be made again."""
        kept = [record for record in self.read_log() if record["epoch"] <= epoch]
        write_text(self.path / LOG, "".join(json.dumps(record) + "\n" for record in kept), self.temporary_folder)

    def finish(
        self, tensors: Mapping[str, Tensor], metrics: Mapping[str, Any], calibration: Calibration | None = None
    ) -> None:
        """Write metrics, calibration and the final model, which marks the run as finished; drop the checkpoint."""
        self.write_results(metrics, calibration)
        write_tensors(self.path / MODEL, tensors, {}, self.temporary_folder)
        self.drop_checkpoint()

    def write_results(self, metrics: Mapping[str, Any], calibration: Calibration | None = None) -> None:
        """Write metrics and calibration."""
        self._sync_log()
        write_json(self.path / "metrics.json", metrics, self.temporary_folder)
        if calibration is not None:
            write_json(self.path / CALIBRATION, calibration.to_dict(self.graph.relations), self.temporary_folder)

    def drop_checkpoint(self) -> None:
        """Remove what only an unfinished run needs; what cannot be removed does no harm."""
        shutil.rmtree(self.temporary_folder, ignore_errors=True)

    @property
    def metrics(self) -> dict[str, Any]:
        """What the training measured at its end."""
        return read_json(self.path / "metrics.json")

    @property
    def calibration(self) -> Calibration | None:
        """How scores are read as probabilities; None where there were too few valid facts, or in an old run."""
        path = self.path / CALIBRATION
        if not path.exists():
            return None
        try:
            return Calibration.from_dict(read_json(path), self.graph.relations)
        except ValueError as error:
            raise InputError(f"{path}: damaged: {error}") from None


def _read_position(path: Path, metadata: Mapping[str, str]) -> dict[str, Any]:
    """Return how far a training had come, from what a checkpoint says beside its tensors."""
    try:
        position = json.loads(metadata["position"])
    except (KeyError, ValueError, RecursionError):
        raise InputError(f"{path}: damaged: it does not say how far the training had come") from None
    if not isinstance(position, dict):
        raise InputError(f"{path}: damaged: its position is not of a training")
    return position


def _about(graph: Graph, custom: Sequence[str] = ()) -> dict[str, Any]:
    """Return what ``run.json`` holds."""
    return {
        "format": FORMAT,
        "clausal": clausal.__version__,
        "graph": graph.name,
        "source": dict(graph.source) or None,
        "split": None if graph.drawn is None else asdict(graph.drawn),
        "custom": list(custom),
    }


def _write_start(
    folder: Path, graph: Graph, clauses: Sequence[Clause], settings: Settings, about: Mapping[str, Any]
) -> None:
    """Write what a run directory has from its start."""
    store_graph(folder, graph)
    write_text(folder / "clauses.txt", "".join(f"{print_clause(clause)}\n" for clause in clauses))
    write_text(folder / "config.toml", settings.to_toml())
    write_json(folder / "run.json", about)


def write_finished(
    folder: Path,
    graph: Graph,
    clauses: Sequence[Clause],
    settings: Settings,
    metrics: Mapping[str, Any],
    calibration: Calibration | None,
    *,
    like: Path | None = None,
    features: Sequence[Features] = (),
) -> None:
    """Write a finished run into a new folder, all but its model.

    What says how it was trained comes from the directory of another run, where there is one. ``features`` are those of
    described entities.
    """
    if features:
        write_features(folder / FEATURES, features)
    origin = {} if like is None else RunDirectory(like).about
    _write_start(folder, graph, clauses, settings, {**_about(graph), **origin, "clausal": clausal.__version__})
    write_json(folder / "metrics.json", metrics)
    if calibration is not None:
        write_json(folder / CALIBRATION, calibration.to_dict(graph.relations))
    for name in (LOG, RACE, RACE_TRIALS):
        if like is not None and (like / name).exists():
            copy_file(like / name, folder / name)


def copy_finished(source: Path, target: Path) -> None:
    """Copy the files of a finished run, all but its fusion."""
    for name in (*_START, *_EXTRAS):
        if (source / name).exists():
            copy_file(source / name, target / name)


@contextmanager
def locked(directory: Path, lock: Path) -> Iterator[None]:
    """Hold the file ``lock`` of a directory, or say that another process trains there."""

    def refuse() -> None:
        raise RunError(f"{directory}: another process is training in this directory")

    with explained_os_errors(directory):
        lock.parent.mkdir(exist_ok=True)
    with locked_file(lock, refuse):
        yield


def append_record(path: Path, record: Mapping[str, Any]) -> None:
    """Add one line to a log."""
    with explained_os_errors(path), path.open("a", encoding="utf-8") as log:
        log.write(json.dumps(record) + "\n")


def read_records(path: Path) -> list[dict[str, Any]]:
    """Return the records of a log; a line cut off by a kill is left out."""
    lines = read_text(path).splitlines() if path.exists() else []
    return [record for record in map(_read_record, lines) if record is not None]


def _read_record(line: str) -> dict[str, Any] | None:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return None
    numbers = isinstance(record, dict) and all(isinstance(record.get(key), int | float) for key in ("epoch", "seconds"))
    return record if numbers else None


def _read_split(value: Any) -> DrawnSplit | None:
    """Read how valid and test were drawn; older runs do not say it, and nothing depends on it."""
    try:
        return DrawnSplit(float(value["valid"]), float(value["test"]), int(value["seed"]))
    except (KeyError, TypeError, ValueError, OverflowError):
        return None


def _require_own(path: Path, *, folder: bool = False) -> None:
    """Refuse a link, a pipe or a device in the place of a file or folder: what it leads to is not the run's."""
    if path.is_symlink() or (path.exists() and not (path.is_dir() if folder else path.is_file())):
        raise InputError(
            f"{path}: expected a {'folder' if folder else 'file'} of the run itself, not a link or something else"
        )
