"""Trainings of a moment: whole ones, ones that kill their own process after some passes, and what becomes of each."""

from __future__ import annotations

import hashlib
import os
import signal
import tempfile
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import clausal
from clausal import Graph, Settings, parse_clauses
from clausal.observer import Calling, Observer
from small_graphs import CLAUSES, QUICK, small_facts

HARD = "manages(X, Y) => works_with(X, Y) <hard>\nworks_with(X, Y) => works_with(Y, X)\n"
VARIANTS: dict[str, tuple[str, dict[str, Any]]] = {
    "gradient": (CLAUSES, {}),
    "adam": (CLAUSES, {"train.optimizer": "adam", "train.learning_rate": 0.01, "train.averaging": 0.6}),
    "all entities": (
        CLAUSES,
        {"facts.training": "1-vs-all", "facts.loss": "softmax", "model.domain": "none", "model.reciprocal": True,
         "clauses.adversary": "closed-form"},
    ),
    "hard": (HARD, {"clauses.adversary": "closed-form"}),
}  # fmt: skip
PASSES = QUICK["train.epochs"] * QUICK["train.passes"]


class _Killer(Observer):
    """Kills its own process at a pass, as a power cut would: nothing is closed, nothing is written any more."""

    def __init__(self, after: int) -> None:
        self.left = after

    def passed(self, report: Any) -> None:
        self.left -= 1
        if self.left < 0:
            os.kill(os.getpid(), signal.SIGKILL)


def train(variant: str, out: Path, observer: Observer | None = None) -> None:
    """Train a variant into a new folder."""
    clauses, changes = VARIANTS[variant]
    sections: dict[str, dict[str, Any]] = {}
    for key, value in (QUICK | {"train.device": "cpu"} | changes).items():
        section, _, name = key.partition(".")
        sections.setdefault(section, {})[name] = value
    graph = Graph.from_triples(small_facts()).split(valid=0.3, test=0.1)
    quiet = observer or Calling(message=lambda _: None)
    clausal.train(graph, parse_clauses(clauses), Settings.from_mapping(sections), out=out, observer=quiet)


def killed(variant: str | None, out: Path, after: int) -> bool:
    """Train, or resume where no variant is given, in a process that is killed after some passes; say if it was."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # threads of other libraries are idle here
        child = os.fork()  # of a warm process: a kill takes no longer than the passes before it
    if not child:
        code = 1
        try:
            if variant is None:
                clausal.resume(out, observer=_Killer(after))
            else:
                train(variant, out, _Killer(after))
            code = 0
        finally:
            os._exit(code)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert code in (0, -signal.SIGKILL), f"exit code {code}"
    return code != 0


@cache
def reference(variant: str) -> tuple[str, dict[str, float]]:
    """What an undisturbed training of a variant ends in: the bits of its model, and its metrics on test."""
    with tempfile.TemporaryDirectory() as folder:
        train(variant, Path(folder) / "run")
        return model_bits(Path(folder) / "run"), metrics(clausal.load(Path(folder) / "run"))


def model_bits(path: Path) -> str:
    """Return a digest of the model of a run."""
    return hashlib.sha256((path / "model.safetensors").read_bytes()).hexdigest()


def metrics(run: clausal.Run) -> dict[str, float]:
    """Return the filtered metrics of a run on test."""
    return run.evaluate("test").to_dict()["filtered"]["both"]


def snapshot(path: Path) -> dict[str, bytes]:
    """Return the content of each file of a run."""
    return {str(file.relative_to(path)): file.read_bytes() for file in sorted(path.rglob("*")) if file.is_file()}


DAMAGES: dict[str, Callable[[bytes], bytes | None]] = {
    "emptied": lambda content: b"",
    "halved": lambda content: content[: len(content) // 2],
    "noise": lambda content: b"\xff\x00" * 20,
    "removed": lambda content: None,
}
