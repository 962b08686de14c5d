"""One training at a time in a run directory.

The log of a run: one JSON object for each epoch.

The run directory: what a training leaves behind. ``docs/reference/run-directory.md`` is its specification.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any

from torch import Tensor

import clausal
from clausal.config import Settings
from clausal.errors import InputError, RunError
from clausal.evaluation import Calibration
from clausal.graph.graph import Graph
from clausal.logic.parser import parse_clauses
from clausal.logic.printer import print_clause
from clausal.logic.syntax import Clause
from clausal.run.checkpoint import read_tensors, write_tensors
from clausal.run.files import explained_os_errors, read_json, read_text, require_kind, write_json, write_text
from clausal.run.storage import FACTS, VOCABULARY, read_graph, write_graph


@contextmanager
def locked(run: Path, lock: Path) -> Iterator[None]:
    """Hold the file ``lock`` of the run; the system lets go of it when the process ends, however it ends."""
    with explained_os_errors(run):
        lock.parent.mkdir(exist_ok=True)
        file = os.open(lock, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW, 0o666)
    try:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise RunError(f"{run}: another process is training in this directory") from None
        except OSError:
            pass  # some network file systems have no locks; training without one is better than not at all
        yield
    finally:
        os.close(file)


def append_record(path: Path, record: Mapping[str, Any]) -> None:
    """Add one line to the log."""
    with explained_os_errors(path), path.open("a", encoding="utf-8") as log:
        log.write(json.dumps(record) + "\n")


def read_records(path: Path) -> list[dict[str, Any]]:
    """Return the log's records; a line cut off by a kill is left out."""
    lines = read_text(path).splitlines() if path.exists() else []
    return [record for record in map(_read_record, lines) if record is not None]


def rewind(path: Path, epoch: int, workshop: Path) -> None:
    """Drop the records after an epoch, whose passes will be made again."""
    kept = [record for record in read_records(path) if record["epoch"] <= epoch]
    write_text(path, "".join(json.dumps(record) + "\n" for record in kept), workshop)


def _read_record(line: str) -> dict[str, Any] | None:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return None
    numbers = isinstance(record, dict) and all(isinstance(record.get(key), int | float) for key in ("epoch", "seconds"))
    return record if numbers else None


FORMAT = 1
MODEL = "model.safetensors"
CALIBRATION = "calibration.json"
LOG = "log.jsonl"
CHECKPOINT = Path("checkpoint") / "state.safetensors"
_LOCK = CHECKPOINT.with_name("lock")
_START = ("run.json", "config.toml", "clauses.txt", VOCABULARY, FACTS)
_FILES = (*_START, LOG, CHECKPOINT, _LOCK, "metrics.json", CALIBRATION, MODEL)


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
    ) -> RunDirectory:
        """Make a new run directory; an existing one is never touched."""
        path = Path(path)
        if path.exists():
            raise InputError(
                f"{path}: exists already; choose another --out, or go on with an unfinished run there by --resume"
            )
        building = path.with_name(f".{path.name}.{os.getpid()}.tmp")
        try:
            with explained_os_errors(path):
                (building / CHECKPOINT.parent).mkdir(parents=True)
            write_graph(building, graph)
            write_text(building / "clauses.txt", "".join(f"{print_clause(clause)}\n" for clause in clauses))
            write_text(building / "config.toml", settings.to_toml())
            about = {
                "format": FORMAT,
                "clausal": clausal.__version__,
                "graph": graph.name,
                "custom": list(custom),
            }
            write_json(building / "run.json", about)
            with explained_os_errors(path):
                building.rename(path)
        finally:
            shutil.rmtree(building, ignore_errors=True)
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
        require_kind(run.workshop, folder=True)
        for name in _FILES:
            require_kind(run.path / name)
        version = run.about.get("format")
        if version != FORMAT:
            raise InputError(
                f"{path}: run format {version!r} is not known to clausal {clausal.__version__}, "
                f"which reads format {FORMAT}"
            )
        return run

    @property
    def workshop(self) -> Path:
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
        return Settings.load(self.path / "config.toml")

    @cached_property
    def graph(self) -> Graph:
        """The graph that the run was trained on."""
        return read_graph(self.path, str(self.about.get("graph", "graph")))

    @cached_property
    def clauses(self) -> list[Clause]:
        """The clauses of the training."""
        path = self.path / "clauses.txt"
        text = read_text(path)
        return parse_clauses(text, source=str(path)) if text.strip() else []

    @property
    def finished(self) -> bool:
        """Whether the training came to its end."""
        return (self.path / MODEL).is_file()

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep a second process from training in the same directory, and sweep up after a killed one."""
        with locked(self.path, self.path / _LOCK):
            for path in self.workshop.glob(".*"):
                path.unlink(missing_ok=True)
            yield

    def save_checkpoint(self, tensors: Mapping[str, Tensor], position: Mapping[str, Any]) -> None:
        """Replace the checkpoint by the state of a training."""
        write_tensors(self.path / CHECKPOINT, tensors, {"position": json.dumps(position)})

    def load_checkpoint(self) -> tuple[dict[str, Tensor], dict[str, Any]] | None:
        """Return the last saved state, or None if there is none yet."""
        path = self.path / CHECKPOINT
        if not path.is_file():
            return None
        tensors, metadata = read_tensors(path)
        try:
            position = json.loads(metadata["position"])
        except (KeyError, ValueError, RecursionError):
            raise InputError(f"{path}: damaged: it does not say how far the training had come") from None
        return tensors, position

    def append_log(self, record: Mapping[str, Any]) -> None:
        """Add one epoch to the log."""
        append_record(self.path / LOG, record)

    def read_log(self) -> list[dict[str, Any]]:
        """Return the records of the epochs so far."""
        return read_records(self.path / LOG)

    def rewind_log(self, epoch: int) -> None:
        """Drop the records after an epoch: those passes will be made again."""
        rewind(self.path / LOG, epoch, self.workshop)

    def finish(
        self, tensors: Mapping[str, Tensor], metrics: Mapping[str, Any], calibration: Calibration | None = None
    ) -> None:
        """Write metrics, calibration and the final model, which marks the run as finished; drop the checkpoint."""
        write_json(self.path / "metrics.json", metrics, self.workshop)
        if calibration is not None:
            write_json(self.path / CALIBRATION, calibration.to_dict(self.graph.relations), self.workshop)
        write_tensors(self.path / MODEL, tensors, {}, self.workshop)
        shutil.rmtree(self.workshop, ignore_errors=True)

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
