"""The commands that write: how each is started, how it is finished after a fault, and what it must have left then."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from command_line import clausal
from faults.watching import Process
from small_graphs import interrupted_run, quick, small_facts, train_options, write_facts, write_small_graph

_TIMES = {"seconds", "finished", "date", "memory", "fast_forms"}
"""What may differ between two runs of one command: times, and which kernels the last process took."""


@dataclass(frozen=True)
class Command:
    """A command to be tried, in a folder that ``prepare`` has filled."""

    name: str
    arguments: Sequence[str]
    out: str
    finish: Callable[[Path], Sequence[str]] | None = None
    """What a user gives after the command has ended too early; the same command by default."""
    old: bool = False
    """Whether ``out`` is there before, and is replaced."""
    resumable: bool = False
    """Whether it goes on with what is there: else a folder that is there is whole."""
    environment: dict[str, str] = field(default_factory=dict)
    slow: bool = False
    """Whether it takes seconds, so that not every step is tried."""

    def prepare(self, template: Path, folder: Path) -> None:
        """Fill a new folder with what the command needs."""
        shutil.copytree(template, folder)
        (folder / "tmp").mkdir()
        for other in ("unfinished", "searched"):
            if other not in self.out:
                shutil.rmtree(folder / other, ignore_errors=True)
        if self.old:
            (folder / self.out).write_bytes(b"what was here before\n")

    def start(
        self,
        folder: Path,
        log: Path,
        *,
        watch: str | None = None,
        finish: bool = False,
        first: Callable[[], None] = lambda: None,
    ) -> Process:
        """Start it in its folder, or what finishes it; ``first`` is done in the new process."""
        arguments = self.finish(folder) if finish and self.finish else self.arguments

        def run() -> int:
            first()
            return _main(arguments, folder, self.environment)

        return Process(run, log, watch)

    def result(self, folder: Path) -> Any:
        """Return what the command left, without times and what else may differ."""
        out = folder / self.out
        if out.is_dir():
            return {str(path.relative_to(out)): _content(path) for path in sorted(out.rglob("*")) if _counts(path, out)}
        return _content(out) if out.exists() else None

    def untouched(self, folder: Path) -> bool:
        """Say whether all is as before the command."""
        out = folder / self.out
        return out.read_bytes() == b"what was here before\n" if self.old else not out.exists()


def _counts(path: Path, out: Path) -> bool:
    """Say whether a file is of the result: not what is hidden, nor what is left of an unfinished run or search."""
    hidden = any(part.startswith(".") for part in path.relative_to(out).parts)
    left = path.parent.name == "checkpoint" and (path.parents[1] / "model.safetensors").exists()
    return path.is_file() and not (hidden or left) and path.name not in ("lock", "running.json")


def _main(arguments: Sequence[str], folder: Path, environment: dict[str, str]) -> int:
    """Run the command line in this process as if it had just been started in the folder."""
    from clausal.cli import main

    os.chdir(folder)
    os.environ |= {"TMPDIR": str(folder / "tmp"), **environment}
    sys.argv = ["clausal", *arguments]
    try:
        main()
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else 0
    return 0


def _content(path: Path) -> Any:
    """Return what a file holds; of records in JSON what does not differ between two runs."""
    if path.suffix in (".json", ".jsonl"):
        lines = [path.read_text()] if path.suffix == ".json" else path.read_text().splitlines()
        with suppress(ValueError):  # what is half written is no record
            return [_timeless(json.loads(line)) for line in lines]
    return path.read_bytes()


def _timeless(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _timeless(one) for key, one in value.items() if key not in _TIMES}
    return [_timeless(one) for one in value] if isinstance(value, list) else value


_SETTINGS = quick(train__epochs=2, train__passes=2)
_CLAUSES = ("--clauses", "company/clauses.txt")
_RESUME = ("train", "--resume", "--out", "runs/run")
_TRAIN = ("train", "company", *_CLAUSES, *_SETTINGS, "--out", "runs/run")
_BEST = (
    "train", "company", *_CLAUSES, "--preset", "best", "--set", "model.dim=4",
    "--set", "train.epochs=2", "--set", "train.checkpoint_seconds=0", "--out", "runs/run",
)  # fmt: skip
_SEARCH = ("search", "company", "--trials", "2", *quick(train__epochs=2, train__passes=1), "--out", "searches/one")
_TABLE = ("reproduce", "fb122", "--quick", "--out", "reproduced")
_GRID = (
    "reproduce", "grid", "fb122", "--rows", "distmult", "--axis", "model.dim=2,3", "--axis", "facts.margin=1",
    "--set", "train.epochs=1", "--set", "train.passes=1", "--journal", "reproduced/grid.jsonl",
)  # fmt: skip
_COMPLETE = ("complete", "finished", "--min-probability", "0.01", "--limit", "50")
_DATA = {"CLAUSAL_DATA": "data"}


def _trained(arguments: Sequence[str]) -> Callable[[Path], Sequence[str]]:
    """Return what finishes a training: --resume where the run directory is there, else the same again."""
    return lambda folder: _RESUME if (folder / "runs/run").exists() else arguments


def _writing(name: str, out: str, *arguments: str, old: bool = True) -> Command:
    """Return a command that writes one file."""
    return Command(name, (*arguments, "--out", out), out, old=old)


COMMANDS = (
    Command("train", _TRAIN, "runs/run", _trained(_TRAIN), resumable=True),
    Command("train --resume", ("train", "--resume", "--out", "unfinished"), "unfinished", resumable=True),
    Command("search", _SEARCH, "searches/one", resumable=True),
    _writing("closure", "closed.tsv", "closure", "company", *_CLAUSES),
    _writing("closure to Parquet", "closed.parquet", "closure", "company", *_CLAUSES),
    _writing("closure to RDF", "closed.nt.gz", "closure", "company", *_CLAUSES),
    Command("update", ("update", "finished", "new.tsv", "--refine", "1", "--out", "runs/updated"), "runs/updated"),
    _writing("complete", "found.parquet", *_COMPLETE),
    _writing("complete to text", "found.jsonl", *_COMPLETE),
    Command("reproduce grid", _GRID, "reproduced", resumable=True, environment=_DATA),
    Command("fuse", ("fuse", "finished", *_CLAUSES, "--out", "runs/fused"), "runs/fused"),
    Command("split", ("split", "company", "--out", "splits/one"), "splits/one"),
    _writing("mine", "mined.txt", "mine", "company", old=False),
    _writing("predict", "answers.csv", "predict", "finished", "manages(?, person 07)"),
    _writing("score", "scores.parquet", "score", "finished", "company/test.tsv"),
    _writing("vectors", "vectors.safetensors", "vectors", "finished"),
    _writing("report", "report.html", "report", "finished"),
    Command("reproduce", _TABLE, "reproduced", resumable=True, environment=_DATA, slow=True),
    Command("train --preset best", _BEST, "runs/run", _trained(_BEST), resumable=True, slow=True),
)


def make_template(folder: Path) -> None:
    """Make what commands start from: a graph, new facts, a finished run and an unfinished one."""
    facts = small_facts()
    company = write_small_graph(folder / "company")
    write_facts(company / "train.tsv", [fact for index, fact in enumerate(facts) if index % 3])
    write_facts(company / "valid.tsv", facts[::3])
    shutil.copytree(company, folder / "data" / "fb122")
    (folder / "data" / "fb122" / "clauses.txt").rename(folder / "data" / "fb122" / "clauses.pl")
    write_facts(folder / "new.tsv", [("person 05", "manages", "somebody new"), *facts[:2]])
    train = train_options(company, train__epochs=2, train__passes=2)
    result = clausal(*train, "--out", folder / "finished")
    assert result.code == 0, result.stderr
    interrupted_run(company, folder / "unfinished", 2, train__epochs=2, train__passes=2)
