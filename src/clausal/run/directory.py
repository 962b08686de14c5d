"""The run directory: what a training leaves behind. ``docs/reference/run-directory.md`` is its specification."""

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
from clausal.graph.graph import Graph
from clausal.logic.parser import parse_clauses
from clausal.logic.printer import print_clause
from clausal.logic.syntax import Clause
from clausal.run.files import explained_os_errors, read_json, read_text, write_atomically, write_json
from clausal.run.storage import read_graph, write_graph
from clausal.run.tensors import read_tensors, write_tensors

FORMAT = 1
MODEL = "model.safetensors"
CHECKPOINT = Path("checkpoint") / "state.safetensors"


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
            text = "".join(f"{print_clause(clause)}\n" for clause in clauses)
            write_atomically(building / "clauses.txt", lambda file: file.write_text(text, encoding="utf-8"))
            write_atomically(
                building / "config.toml", lambda file: file.write_text(settings.to_toml(), encoding="utf-8")
            )
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
            raise InputError(f"{path}: no such run directory")
        if not (run.path / "run.json").is_file():
            raise InputError(f"{path}: not a run directory (it has no run.json)")
        version = run.about.get("format")
        if version != FORMAT:
            raise InputError(
                f"{path}: run format {version!r} is not known to clausal {clausal.__version__}, "
                f"which reads format {FORMAT}"
            )
        return run

    @cached_property
    def about(self) -> dict[str, Any]:
        """The version of the format and where the run comes from."""
        return read_json(self.path / "run.json")

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
        """Keep a second process from training in the same directory."""
        with explained_os_errors(self.path):
            lock = (self.path / ".lock").open("w")
        with lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise RunError(f"{self.path}: another process is training in this directory") from None
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
        except (KeyError, json.JSONDecodeError):
            raise InputError(f"{path}: damaged: it does not say how far the training had come") from None
        return tensors, position

    def append_log(self, record: Mapping[str, Any]) -> None:
        """Add one line to the log."""
        with explained_os_errors(self.path / "log.jsonl"), (self.path / "log.jsonl").open("a") as log:
            log.write(json.dumps(record) + "\n")

    def read_log(self) -> list[dict[str, Any]]:
        """Return the log's records; a line cut off by a kill is left out."""
        path = self.path / "log.jsonl"
        records = []
        for line in read_text(path).splitlines() if path.is_file() else []:
            try:
                records.append(json.loads(line))
            except json.JSONDecodeError:
                continue
        return records

    def rewind_log(self, epoch: int) -> None:
        """Drop the records after an epoch: those passes will be made again."""
        kept = [record for record in self.read_log() if record.get("epoch", 0) <= epoch]
        text = "".join(json.dumps(record) + "\n" for record in kept)
        write_atomically(self.path / "log.jsonl", lambda file: file.write_text(text, encoding="utf-8"))

    def finish(self, tensors: Mapping[str, Tensor], metrics: Mapping[str, Any]) -> None:
        """Write metrics and the final model, which marks the run as finished, and drop the checkpoint."""
        write_json(self.path / "metrics.json", metrics)
        write_tensors(self.path / MODEL, tensors, {})
        shutil.rmtree(self.path / CHECKPOINT.parent, ignore_errors=True)

    @property
    def metrics(self) -> dict[str, Any]:
        """What the training measured at its end."""
        return read_json(self.path / "metrics.json")
