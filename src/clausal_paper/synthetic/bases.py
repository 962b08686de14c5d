"""Synthetic knowledge bases as in the paper: random facts, random clauses of one type, and what they entail.

Several of them stand side by side in one link predictor, so that they train together. Entities and relations of the
bases are disjoint and corruption stays inside each, so the loss is a sum of one term for each base, and every base
trains as it would alone: AdaGrad and the projections work on each parameter or row by itself.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from clausal.config import ModelSettings
from clausal.graph import Facts, Graph, Names
from clausal.logic import Clause, close, measure_clauses, parse_clause
from clausal.model import LinkPredictor, Table, build_domain, build_scorer, xavier_

ENTITIES, RELATIONS, PAIRS, FACTS_EACH, CLAUSES = 30, 15, 90, 9, 10

CLAUSE_TYPES = {
    "symmetry": "{0}(X, Y) => {0}(Y, X)",
    "implication": "{0}(X, Y) => {1}(X, Y)",
    "inverse": "{0}(X, Y) => {1}(Y, X)",
    "transitivity": "{0}(X, Y), {0}(Y, Z) => {0}(X, Z)",
    "composition": "{0}(X, Y), {1}(Y, Z) => {2}(X, Z)",
}
"""The five templates of the paper's table; {0}, {1} and {2} are different relations."""


@dataclass(frozen=True, eq=False)
class KnowledgeBase:
    """Train facts, clauses, and labelled facts: those that only the closure has, and as many that do not hold."""

    graph: Graph
    clauses: list[Clause]
    labelled: Facts
    labels: NDArray[np.int64]

    @cached_property
    def evidence(self) -> tuple[int, int]:
        """In how many instances of the clauses body and head are both train facts, and in how many the body is.

        The paper says that train has no evidence of the clauses; facts that are drawn at random have some by chance.
        """
        measured = [found for found in measure_clauses(self.clauses, self.graph) if found is not None]
        return sum(found.support for found in measured), sum(found.body for found in measured)


def knowledge_base(clause_type: str, seed: int) -> KnowledgeBase:
    """Draw 90 of the ordered pairs of 30 entities, 9 of them for each of 15 relations, and 10 clauses."""
    rng = random.Random(f"{clause_type} {seed}")
    # The seed is part of every name, so that bases can stand side by side.
    entities = Names([f"e{i:02}_{seed}" for i in range(ENTITIES)], "entity")
    relations = Names([f"r{i:02}_{seed}" for i in range(RELATIONS)], "relation")
    pairs = rng.sample(list(itertools.permutations(range(ENTITIES), 2)), PAIRS)
    facts = [(x, r, y) for r in range(RELATIONS) for x, y in rng.sample(pairs, FACTS_EACH)]
    graph = Graph(entities, relations, np.array(facts, dtype=np.int32), name=f"{clause_type} {seed}")
    clauses = _draw_clauses(CLAUSE_TYPES[clause_type], list(relations), rng)
    closure = close(graph, clauses, threads=1)
    false = _draw_false(closure.facts, closure.derived, pairs, rng)
    return KnowledgeBase(
        graph,
        clauses,
        labelled=np.concatenate([closure.derived, false]),
        labels=np.repeat([1, 0], len(closure.derived)),
    )


def _draw_clauses(template: str, relations: list[str], rng: random.Random) -> list[Clause]:
    places = max(place for place in range(3) if f"{{{place}}}" in template) + 1
    chosen = rng.sample(list(itertools.permutations(relations, places)), CLAUSES)
    return [parse_clause(template.format(*names)) for names in chosen]


def _draw_false(true: Facts, deduced: Facts, drawn: list[tuple[int, int]], rng: random.Random) -> Facts:
    """For each deduced fact draw a known pair, drawn before or of any fact, for which its relation does not hold."""
    held = set(map(tuple, true.tolist()))
    pairs = sorted({(x, y) for x, _, y in held} | set(drawn))
    false = [rng.choice([(x, r, y) for x, y in pairs if (x, r, y) not in held]) for _, r, _ in deduced.tolist()]
    return np.array(false, dtype=np.int32)


class UnionPredictor(LinkPredictor):
    """A link predictor for the disjoint union of knowledge bases."""

    def __init__(self, settings: ModelSettings, bases: int) -> None:
        scorer = build_scorer(settings)
        table = Table(bases * ENTITIES, scorer.dim)
        sizes = {"num_entities": bases * ENTITIES, "num_relations": bases * RELATIONS}
        super().__init__(table, scorer, domain=build_domain(settings), **sizes)
        self.bases = bases

    def reset_parameters(self, generator: torch.Generator | None = None) -> None:
        """Initialise each base by itself: Xavier's range depends on the number of rows."""
        for entities in self.encode_all().data.chunk(self.bases):
            xavier_(entities, generator)
        for relations in self.relations.data.chunk(self.bases):
            self.scorer.reset_relations_(relations, generator)
        self.project_()

    @property
    def num_candidates(self) -> int:
        """A corruption is drawn from the entities of its own base, and numbered within it."""
        return ENTITIES

    def candidates(self, drawn: Tensor, facts: Tensor) -> Tensor:
        return drawn + facts[:, 0] // ENTITIES * ENTITIES

    def random_entities(self, shape: Sequence[int], generator: torch.Generator | None = None) -> Tensor:
        """Draw for each clause from the entities of its own base; every base has as many of the clauses."""
        base = torch.arange(shape[0], device=self.device) // (shape[0] // self.bases) * ENTITIES
        ids = torch.randint(ENTITIES, tuple(shape), generator=generator, device=self.device)
        return ids + base.view(-1, *[1] * (len(shape) - 1))


def union_graph(bases: Sequence[KnowledgeBase]) -> Graph:
    """Put the names and the train facts of the bases side by side."""
    entities = Names([name for base in bases for name in base.graph.entities], "entity")
    relations = Names([name for base in bases for name in base.graph.relations], "relation")
    return Graph(entities, relations, np.concatenate([in_union(base.graph.train, i) for i, base in enumerate(bases)]))


def in_union(facts: Facts, base: int) -> Facts:
    """Number facts of a base as the union does."""
    return facts + np.array([base * ENTITIES, base * RELATIONS, base * ENTITIES], dtype=facts.dtype)
