"""WN18 with limited training data: facts of the relations that clauses conclude are thinned out, others kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from clausal.graph.graph import Graph
from clausal.logic import Atom, Clause, horn_parts


def limit(graph: Graph, clauses: Sequence[Clause], share: float, seed: int) -> Graph:
    """Keep round(share · n) of the n train facts of each relation in the head of a clause, drawn at random.

    The facts that go are in no other split, so that no filter knows them. Named parts of test go too: what can be
    deduced from fewer facts is another set.
    """
    heads = {parts[1].relation for clause in clauses if (parts := horn_parts(clause)) and isinstance(parts[1], Atom)}
    rng = np.random.default_rng(seed)
    kept = np.ones(len(graph.train), dtype=np.bool_)
    for relation in sorted(graph.relations.id(name) for name in heads):
        places = np.flatnonzero(graph.train[:, 1] == relation)
        gone = len(places) - round(share * len(places))
        kept[rng.choice(places, gone, replace=False)] = False
    return replace(graph, train=graph.train[kept], parts={}, name=f"{graph.name} limited to {share:.0%}")
