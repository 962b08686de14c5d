"""Clauses that no data set has, and what follows from train by those that hold: its closure, and the ceiling it sets.

FB122's clauses are weighed and FB15k-237's are mined. Both are counted on train facts, and kept in a file beside the
records of the table.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor

from clausal.errors import InputError
from clausal.evaluation import EntailedFirst, evaluate
from clausal.graph import Facts, Graph, occur_in
from clausal.logic import Clause, close, measure_clauses, mine, read_clauses, weigh_clauses, write_mined, write_rules
from clausal.observer import Observer

MINED = "mined.clauses"
WEIGHED = "weighed.clauses"
MIN_SUPPORT = 100
MIN_CONFIDENCE = 0.8

OWN_CLAUSES = {"fb122": WEIGHED, "fb15k-237": MINED}
"""The file of the tables whose clauses no data set has."""


def mined_clauses(graph: Graph, folder: Path, observer: Observer | None = None) -> list[Clause]:
    """Return the clauses that a folder has for a graph; where it has none yet, they are mined and written there.

    The same as ``clausal mine fb15k-237 --min-support 100 --min-confidence 0.8 --keep-redundant --out FILE``.
    """
    path = folder / MINED
    if not path.exists():
        rules = mine(graph, min_support=MIN_SUPPORT, min_confidence=MIN_CONFIDENCE, observer=observer)
        note = f"{len(rules):,} rules mined from the {len(graph.train):,} train facts of {graph.name}"
        write_mined(path, rules, "confidence", [note])
    return read_clauses(path)


def weighed_clauses(graph: Graph, clauses: Sequence[Clause], folder: Path) -> list[Clause]:
    """Return a data set's clauses with their confidence in train as weight, written to a folder that lacks them.

    The same as ``clausal clauses fb122 --graph fb122 --weigh --out FILE``.
    """
    path = folder / WEIGHED
    if not path.exists():
        write_rules(path, weigh_clauses(clauses, measure_clauses(clauses, graph)))
    return read_clauses(path)


ClosureOf = Callable[[Graph], Facts]
"""Returns the closure of a graph's train facts under the confident clauses of its data set."""

DEDUCIBLE, OTHER = "deducible", "other"
"""The parts of test by what follows from limited train facts."""

CONFIDENT = 0.5
"""The least weight of a clause that entails: what others conclude is more often wrong than right."""


def closure_under(clauses: Sequence[Clause]) -> ClosureOf:
    """Return what computes closures under confident clauses by DuckDB, for machines that have it."""
    confident = [clause for clause in clauses if clause.weight >= CONFIDENT]

    def closure(graph: Graph) -> Facts:
        return close(graph, confident).facts

    return closure


def with_deducible_parts(graph: Graph, closure: Facts) -> Graph:
    """Part test into the facts that follow from train and the others."""
    deducible = occur_in(graph.test, closure, len(graph.entities), len(graph.relations))
    return replace(graph, parts={DEDUCIBLE: graph.test[deducible], OTHER: graph.test[~deducible]})


def ceilings_of(graph: Graph, closure: Facts, gone: Facts) -> dict[str, dict[str, float]]:
    """Return the ceiling that deduction alone sets, by filter: of the limited graph, and with the facts that went."""
    found = {"full": deduction_ceiling(graph, closure), "whole": deduction_ceiling(graph, closure, gone)}
    return {
        filter: {name: round(value, 5) for name, value in ceiling._asdict().items()}
        for filter, ceiling in found.items()
    }


class DeductionCeiling(NamedTuple):
    """The share of test facts that follow from train, and the filtered MRR of deduction alone: of all, and of those."""

    share: float
    mrr: float
    deducible_mrr: float


def deduction_ceiling(graph: Graph, closure: Facts, also_known: Facts | None = None) -> DeductionCeiling:
    """Rank test facts by whether they are in the closure of train, all else tied, with realistic ties.

    ``closure`` are facts, as ``close(graph, clauses).facts``; ``also_known`` ones are filtered too. A model that knows
    no more than the clauses ranks so; one that learns from facts too can pass it, but only on facts that do not
    follow.
    """
    if not len(graph.test):
        raise InputError(f"{graph.name}: no test facts to deduce")
    deducible = occur_in(graph.test, closure, len(graph.entities), len(graph.relations))
    undecided = _Undecided(len(graph.entities), len(graph.relations))
    ranks = evaluate(EntailedFirst(undecided, closure), graph, also_known=also_known).ranks
    inverse = (1 / ranks.of("filtered", "both")).reshape(2, -1)  # [sides, facts]
    return DeductionCeiling(
        share=float(deducible.mean()),
        mrr=float(inverse.mean()),
        deducible_mrr=float(inverse[:, deducible].mean()) if deducible.any() else 0.0,
    )


class _Undecided:
    """A ranker to which all facts are the same."""

    device = torch.device("cpu")

    def __init__(self, num_entities: int, num_relations: int) -> None:
        self.num_entities = num_entities
        self.num_relations = num_relations

    def score(self, subjects: Tensor, relations: Tensor, objects: Tensor) -> Tensor:
        return torch.zeros(len(subjects))

    def score_objects(self, subjects: Tensor, relations: Tensor) -> Tensor:
        return torch.zeros(len(subjects), self.num_entities)

    def score_subjects(self, relations: Tensor, objects: Tensor) -> Tensor:
        return torch.zeros(len(objects), self.num_entities)
