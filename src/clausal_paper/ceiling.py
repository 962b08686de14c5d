"""The ceiling that deduction sets: what is reached on test by the closure of train alone, without any model."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from clausal.errors import InputError
from clausal.evaluation import EntailedFirst, evaluate
from clausal.graph.facts import Facts, occur_in
from clausal.graph.graph import Graph


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
