"""The demo: an embedded graph of countries, trained without and with clauses from the same seed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.resources import as_file, files
from pathlib import Path
from typing import NamedTuple

import numpy as np

from clausal.config import Settings
from clausal.evaluation import Evaluation
from clausal.graph import Graph, load_graph
from clausal.logic import Clause, read_clauses
from clausal.run import Run, train
from clausal.run.training import OnEpoch, OnPass

WITH_CLAUSES = {
    "model": {"scorer": "complex", "dim": 100, "domain": "cube"},
    "clauses": {"adversary": "closed-form", "fallback": "gradient", "weight": 0.3, "sets": 10, "steps": 10},
    "train": {"epochs": 20, "passes": 10, "seed": 0},
    "evaluate": {"every": 2, "patience": 0},
}
"""The settings of the demo; without clauses they are the same."""


class Rescued(NamedTuple):
    """A test fact that the clauses put at the top of the answers."""

    fact: str
    without: float
    with_clauses: float


@dataclass(frozen=True)
class Comparison:
    """What the demo shows: the same model without and with clauses."""

    without: Run
    with_clauses: Run
    evaluation_without: Evaluation
    evaluation_with: Evaluation

    def rescued(self, per_relation: int = 2) -> list[Rescued]:
        """Return deducible test facts that rank first only with clauses, the worst without them first."""
        graph = self.without.graph
        facts = graph.parts["test-II"]
        before = self.evaluation_without.part_ranks["test-II"].of("filtered", "object")
        after = self.evaluation_with.part_ranks["test-II"].of("filtered", "object")
        chosen: list[int] = []
        for relation in np.unique(facts[:, 1]):
            members = np.flatnonzero((facts[:, 1] == relation) & (after == 1) & (before > 1))
            chosen += members[np.argsort(-before[members], kind="stable")][:per_relation].tolist()
        names = [f"{graph.relations[r]}({graph.entities[s]}, {graph.entities[o]})" for s, r, o in facts[chosen]]
        return [
            Rescued(name, float(before[i]), float(after[i])) for name, i in zip(names, chosen, strict=True)
        ]


def world() -> tuple[Graph, list[Clause]]:
    """Load the embedded graph of countries, capitals, borders and languages, and its clauses."""
    with as_file(files("clausal") / "data" / "world") as folder:
        return load_graph(folder), read_clauses(folder / "clauses.txt")


def compare(
    progress: Callable[[str], Iterator[tuple[OnPass, OnEpoch]]] | None = None, out: Path | None = None
) -> Comparison:
    """Train both models; ``out`` keeps the one with clauses as a run directory."""
    graph, clauses = world()
    settings = Settings.from_mapping(WITH_CLAUSES)
    without = train(graph, (), settings)
    with_clauses = train(graph, clauses, settings, out=out)
    return Comparison(without, with_clauses, without.evaluate(), with_clauses.evaluate())
