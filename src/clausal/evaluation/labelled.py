"""Labelled facts for triple classification, as Socher et al. (2013) made them: true facts, and corruptions of them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from clausal.graph.facts import fact_keys, found_in
from clausal.graph.graph import Facts, Graph

_MOST_DRAWS = 100

Labels = NDArray[np.bool_]


def label_facts(facts: Facts, graph: Graph, *, corruptions: int = 1, seed: int = 0) -> tuple[Facts, Labels]:
    """Return facts as true, and after them ``corruptions`` of each as false."""
    false = corrupt(facts, graph, corruptions=corruptions, seed=seed)
    return np.concatenate([facts, false]), np.arange(len(facts) + len(false)) < len(facts)


def corrupt(facts: Facts, graph: Graph, *, corruptions: int = 1, seed: int = 0) -> Facts:
    """Return facts with another subject or another object, drawn from a seed, that no split of the graph has.

    The other entity is one that train has in this place of the relation, so that a corruption is not false at first
    sight. Where all of those make known facts it may be any entity, and where even that fails there is none.
    """
    rng = np.random.default_rng(seed)
    entities, relations = len(graph.entities), len(graph.relations)
    known = np.sort(fact_keys(np.concatenate([graph.known, facts]), entities, relations))
    false = np.repeat(facts, corruptions, axis=0)
    side = rng.integers(2, size=len(false))  # 0 for the subject, 1 for the object
    candidates, starts = _seen(graph)
    place = side * relations + false[:, 1]
    pending = np.arange(len(false))
    for draw in range(_MOST_DRAWS):
        first, last = starts[place[pending]], starts[place[pending] + 1]
        anywhere = (draw >= _MOST_DRAWS // 2) | (first == last)
        drawn = first + (rng.random(len(pending)) * (last - first)).astype(np.int64)
        other = np.where(
            anywhere, rng.integers(entities, size=len(pending)), candidates[np.minimum(drawn, len(candidates) - 1)]
        )
        false[pending, 2 * side[pending]] = other
        pending = pending[found_in(fact_keys(false[pending], entities, relations), known)]
        if not len(pending):
            break
    return np.delete(false, pending, axis=0)


def _seen(graph: Graph) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the subjects that each relation has in train, then its objects, and where those of each relation start."""
    entities, relations = len(graph.entities), len(graph.relations)
    subjects, relation, objects = graph.train.astype(np.int64).T
    pairs = np.unique(np.concatenate([relation * entities + subjects, (relations + relation) * entities + objects]))
    return pairs % entities, np.searchsorted(pairs, np.arange(2 * relations + 1) * entities)
