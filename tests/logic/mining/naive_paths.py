"""Path rules and rules with constants counted one entity at a time over Python sets: what mining is compared with."""

from collections import Counter
from itertools import product

import numpy as np

from clausal.logic.mining import Edges


def edges_of(triples, entities, relations):
    """The edges of facts that are given as ids."""
    return Edges(np.array(list(triples), np.int64).reshape(-1, 3), entities, relations)


def labelled(triples, relations):
    """Every edge both ways, without loops."""
    return {e for s, r, o in triples if s != o for e in ((s, r, o), (o, r + relations, s))}


def path_pairs(edges, body):
    """The pairs that paths with these labels join; all entities of a path are different."""
    paths = {(x,) for x, label, _ in edges if label == body[0]}
    for b in body:
        paths = {(*path, z) for path, (y, label, z) in product(paths, edges) if label == b and path[-1] == y}
        paths = {path for path in paths if len(set(path)) == len(path)}
    return {(path[0], path[-1]) for path in paths}


def backwards(body, relations):
    """The same body from its end to its beginning."""
    return tuple((b + relations) % (2 * relations) for b in reversed(body))


def naive_paths(triples, relations, longest):
    """The support and pairs of every path rule with support, by head and body."""
    edges = labelled(triples, relations)
    found = {}
    for length in range(1, longest + 1):
        for body in product(range(2 * relations), repeat=length):
            pairs = path_pairs(edges, body)
            for head in range(relations):
                support = sum((x, head, z) in edges for x, z in pairs)
                if support and body != (head,):
                    found[head, body] = (support, len(pairs))
    return found


def naive_attributes(triples, relations):
    """The support of every rule with constants, by body and head, and how many entities have each body."""
    edges = labelled(triples, relations)
    has = {}
    for x, label, y in edges:
        has.setdefault(x, set()).update({(label, y), (label, -1)})
    with_body = Counter(attribute for attributes in has.values() for attribute in attributes)
    both = Counter(
        (body, head)
        for attributes in has.values()
        for body, head in product(attributes, repeat=2)
        if body != head and head[1] != -1
    )
    return both, with_body
