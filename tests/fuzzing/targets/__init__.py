"""What is fuzzed: for each way into the program the cases that are drawn, and what is done with one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from hypothesis.strategies import SearchStrategy

from fuzzing.cases import Case

NAMES = (
    "tables",
    "databases",
    "rdf",
    "clauses",
    "rules",
    "settings",
    "trainings",
    "vectors",
    "runs",
    "queries",
    "requests",
    "commands",
)


@dataclass(frozen=True)
class Target:
    """A way into the program: ``cases`` draws, ``run`` takes a case and an empty folder, ``slice`` is for the suite."""

    cases: SearchStrategy[Case]
    run: Callable[[Case, Path], None]
    slice: int
    prepare: Callable[[], object] = lambda: None


def target(name: str) -> Target:
    """Return a target by its name."""
    return import_module(f"fuzzing.targets.{name}").TARGET
