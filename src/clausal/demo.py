"""The demo: an embedded graph of countries, trained without clauses, with soft and with hard ones, otherwise alike."""

from __future__ import annotations

from collections.abc import Callable, Sequence
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
HARD = SETTINGS.model_copy(update={"clauses": SETTINGS.clauses.model_copy(update={"hard": "all"})})

Observe = Callable[[str], AbstractContextManager[Observer]]
"""Given the label of a training, returns an observer for the time that it takes."""


class Rescued(NamedTuple):
    """A test fact that ranks first only with soft clauses, and its proof from train facts."""

    rank_without: float
    rank_with: float
    proof: Proof


class Measured(NamedTuple):
    """A trained model, and how it ranks test."""

    run: Run
    evaluation: Evaluation

    def guaranteed(self, clauses: Sequence[Clause]) -> list[bool]:
        """Say of each clause whether no entity, seen or not, can break it."""
        certified = self.run.certify(clauses, tolerance=0, entities=False)
        return [one.verdict == "holds for all" for one in certified.clauses]

    def broken(self, clauses: Sequence[Clause]) -> list[int]:
        """Return how many times entities of the graph break each clause by what the model accepts."""
        decided = self.run.decisions(clauses, consistent=False).clauses
        return [one.before.broken if one.before else 0 for one in decided]


@dataclass(frozen=True, eq=False)
class Comparison:
    """The same model without clauses, with soft and with hard ones."""

    without: Measured
    soft: Measured
    hard: Measured

    def rescued(self, most: int = 6) -> list[Rescued]:
        """Return deducible test facts that rank first only with clauses: by each clause the worst one without."""
        graph = self.without.run.graph
        facts = graph.parts["test-II"]
        before, after = (
            one.evaluation.part_ranks["test-II"].of("filtered", "object") for one in (self.without, self.soft)
        )
        clauses = self.soft.run.clauses
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


def hard_beside(out: Path) -> Path:
    """Return where the run with hard clauses is kept."""
    return out.with_name(f"{out.name}-hard")


def compare(
    graph: Graph, clauses: list[Clause], out: Path | None = None, *, observe: Observe | None = None
) -> Comparison:
    """Train the three models; ``out`` keeps the one with soft clauses as a run directory, and beside it the others."""
    observe = observe or (lambda label: nullcontext(Observer()))
    folders = [None, None, None] if out is None else [without_beside(out), out, hard_beside(out)]
    for folder in filter(None, folders):
        check_new_folder(folder, "choose another --out")

    def measured(label: str, used: Sequence[Clause], settings: Settings, folder: Path | None) -> Measured:
        with observe(label) as observer:
            run = train(graph, used, settings, out=folder, observer=observer)
        return Measured(run, run.evaluate())

    return Comparison(
        measured("without clauses", (), SETTINGS, folders[0]),
        measured("with soft clauses", clauses, SETTINGS, folders[1]),
        measured("with hard clauses", clauses, HARD, folders[2]),
    )
