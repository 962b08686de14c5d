"""The demo: an embedded graph of countries, trained without and with clauses from the same seed and settings."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from importlib.resources import as_file, files
from pathlib import Path
from typing import NamedTuple

import numpy as np

from clausal.config import Settings
from clausal.evaluation import Evaluation
from clausal.files import check_new_folder
from clausal.graph import Graph, load_graph
from clausal.graph.query import name_fact
from clausal.logic import Clause, read_clauses
from clausal.logic.closure import close
from clausal.logic.proofs import Proof, Prover
from clausal.observer import Observer
from clausal.run import Run, train

SETTINGS = Settings.from_mapping(
    {
        "model": {"scorer": "complex", "dim": 100, "domain": "cube"},
        "facts": {"margin": 5.0},  # the best on valid for the model without clauses
        "clauses": {"adversary": "closed-form", "fallback": "gradient"},
        "train": {"epochs": 20},
        "evaluate": {"every": 2, "patience": 0},
    }
)

Observe = Callable[[str], AbstractContextManager[Observer]]
"""Given the label of a training, returns an observer for the time that it takes."""


class Rescued(NamedTuple):
    """A test fact that ranks first only with clauses, and its proof from train facts."""

    rank_without: float
    rank_with: float
    proof: Proof


@dataclass(frozen=True, eq=False)
class Comparison:
    """The same model without and with clauses."""

    without: Run
    with_clauses: Run
    evaluation_without: Evaluation
    evaluation_with: Evaluation

    def rescued(self, most: int = 6) -> list[Rescued]:
        """Return deducible test facts that rank first only with clauses: by each clause the worst one without."""
        graph = self.without.graph
        facts = graph.parts["test-II"]
        before = self.evaluation_without.part_ranks["test-II"].of("filtered", "object")
        after = self.evaluation_with.part_ranks["test-II"].of("filtered", "object")
        clauses = self.with_clauses.clauses
        prover = Prover(graph, clauses, close(graph, clauses))
        candidates = np.flatnonzero((after == 1) & (before > 1))
        best: dict[tuple[Clause, ...], list[Rescued]] = {}
        for index in candidates[np.argsort(-before[candidates], kind="stable")]:
            proof = prover.prove(name_fact(graph, facts[index]))
            if proof is not None:
                row = Rescued(float(before[index]), float(after[index]), proof)
                best.setdefault(tuple(proof.clauses()), []).append(row)
        rounds = [row for place in range(most) for rows in best.values() for row in rows[place : place + 1]]
        return rounds[:most]


def world() -> tuple[Graph, list[Clause]]:
    """Load the embedded graph of countries, capitals, borders and languages, and its clauses."""
    with as_file(files("clausal") / "data" / "world") as folder:
        return load_graph(folder), read_clauses(folder / "clauses.txt")


def without_beside(out: Path) -> Path:
    """Return where the run without clauses is kept."""
    return out.with_name(f"{out.name}-without")


def compare(
    graph: Graph, clauses: list[Clause], out: Path | None = None, *, observe: Observe | None = None
) -> Comparison:
    """Train both models; ``out`` keeps the one with clauses as a run directory, and beside it the one without."""
    observe = observe or (lambda label: nullcontext(Observer()))
    if out is not None:
        check_new_folder(out, "choose another --out")
        check_new_folder(without_beside(out), "choose another --out")
    with observe("without clauses") as observer:
        without = train(graph, (), SETTINGS, out=None if out is None else without_beside(out), observer=observer)
    with observe("with clauses") as observer:
        with_clauses = train(graph, clauses, SETTINGS, out=out, observer=observer)
    return Comparison(without, with_clauses, without.evaluate(), with_clauses.evaluate())
