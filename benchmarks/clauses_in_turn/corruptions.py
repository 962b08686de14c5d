"""Epochs on FB122 against corruptions: without clauses, and with many of several shapes that are made at random."""

from __future__ import annotations

import random
from typing import Any

from clausal.config import Settings
from clausal.graph import Graph, load_graph
from clausal.logic import Clause, parse_clauses
from clauses_in_turn.timing import ratios

_SHAPES = (
    "{}(X, Y) => {}(X, Y)",
    "{}(X, Y) => {}(Y, X)",
    "{}(X, Y), {}(Y, Z) => {}(X, Z)",
    "{}(Y, X), {}(Y, Z) => {}(X, Z)",
    "{}(X, Y), {}(Z, Y) => {}(X, Z)",
)


def main(task: dict[str, Any]) -> dict[str, Any]:
    """Return the ratio for each number of clauses, and the seconds in which a training was prepared."""
    graph = load_graph("fb122")
    settings = Settings.load(None, ["evaluate.every=0", "train.device=cpu"], preset=task["preset"])
    return ratios(graph, [(), *(random_clauses(graph, count) for count in task["counts"])], settings, task["rounds"])


def random_clauses(graph: Graph, count: int) -> list[Clause]:
    """Return distinct clauses over the relations of a graph, of one and of two atoms in the body."""
    generator, names, found = random.Random(0), [f'"{name}"' for name in graph.relations], dict[str, None]()
    while len(found) < count:
        found[generator.choice(_SHAPES).format(*generator.choices(names, k=3))] = None
    return parse_clauses("\n".join(found))
