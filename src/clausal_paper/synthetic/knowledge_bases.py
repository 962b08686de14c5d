"""Synthetic knowledge bases as in the paper: random facts, random clauses of one type, and what they entail."""

from __future__ import annotations

import itertools
import random
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from clausal.graph import Facts, Graph, Names
from clausal.logic import Clause, parse_clause
from clausal.logic.closure import close

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
