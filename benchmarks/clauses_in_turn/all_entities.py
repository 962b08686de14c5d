"""Epochs against all entities, without rules and with mined ones of two-atom bodies, bounded over discs.

The graph is FB15k-237 between a third of its entities, drawn at random: about 33,000 facts.
"""

from __future__ import annotations

import random
from typing import Any

from clausal.config import Settings
from clausal.graph import Graph, load_graph
from clausal.logic import mine
from clausal.search.best import best_values
from clauses_in_turn.timing import ratios

_ENTITIES = 4900


def main(task: dict[str, Any]) -> dict[str, Any]:
    """Return the ratio of an epoch with so many rules to one without."""
    graph = part_of(load_graph("fb15k-237"))
    rules = [rule.clause() for rule in mine(graph, min_confidence=0.3) if len(rule.body) == 2]
    chosen = random.Random(0).sample(rules, task["rules"])
    values = best_values(graph, chosen, "cpu") | {"evaluate": {"every": 0}}
    values["model"] = values["model"] | {"dim": task["dim"]}
    values["train"] = values["train"] | {"device": "cpu"}
    return ratios(graph, [(), chosen], Settings.from_mapping(values), task["rounds"])


def part_of(graph: Graph) -> Graph:
    """Return the train facts between entities that are drawn at random."""
    names, relations = list(graph.entities), list(graph.relations)
    kept = set(random.Random(0).sample(range(len(names)), _ENTITIES))
    facts = [fact for fact in graph.train.tolist() if fact[0] in kept and fact[2] in kept]
    return Graph.from_triples([(names[s], relations[r], names[o]) for s, r, o in facts])
