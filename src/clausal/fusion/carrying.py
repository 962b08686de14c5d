"""Votes carried to a graph that has changed: the same rules with the same weights, on other facts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from clausal.fusion.evidence import VotingRules
from clausal.fusion.fusion import Fusion
from clausal.fusion.lists import Ids
from clausal.graph.graph import Graph
from clausal.logic.mining import AttributeRules, Attributes, Edges


def on_changed_graph(fusion: Fusion, graph: Graph) -> Fusion:
    """Return a fusion for a graph with the same relations, whose known entities have kept their ids.

    Rules keep the counts they were mined with. One with a constant of which no fact is left cannot vote any more.
    """
    sizes = len(graph.entities), len(graph.relations)
    rules = fusion.rules
    attributes = _renumbered(rules.attributes, Attributes.of(Edges(graph.train, *sizes)))
    return replace(fusion, rules=VotingRules(rules.paths, attributes))


def _renumbered(rules: AttributeRules, attributes: Attributes) -> AttributeRules:
    """Return rules with constants by the numbers that attributes have now."""
    number = _numbers(rules, attributes)
    kept = (number[rules.bodies] >= 0) & (number[rules.heads] >= 0)
    bodies, heads, support = number[rules.bodies][kept], number[rules.heads][kept], rules.support[kept]
    order = np.lexsort((heads, bodies))
    counts = np.zeros(len(attributes), np.int64)
    there = number >= 0
    counts[number[there]] = rules.entities_with[there]
    starts = np.append(0, np.cumsum(np.bincount(bodies, minlength=len(attributes))))
    return AttributeRules(
        *(rules.relations, attributes.label, attributes.entity, counts),
        *(starts, heads[order], support[order], rules.complete),
    )


def _numbers(rules: AttributeRules, attributes: Attributes) -> Ids:
    """Return the number that each attribute of the rules has among others, or −1. Shape [attributes of the rules]."""
    width = attributes.entities + 1
    keys = attributes.label * width + attributes.entity + 1  # sorted, as attributes are
    wanted = rules.attribute_label * width + rules.attribute_entity + 1
    places = np.minimum(np.searchsorted(keys, wanted), max(0, len(keys) - 1))
    found: Ids = np.where(keys[places] == wanted, places, -1) if len(keys) else np.full(len(wanted), -1)
    return found
