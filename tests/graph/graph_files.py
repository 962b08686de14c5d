"""Helpers of the graph tests: writing files of facts, and naming the facts of a graph."""

import gzip

FACTS = [
    ("anna", "knows", "bob"),
    ("bob", "knows", "carla"),
    ("carla", "lives in", "Köln"),
    ("a/b", "knows", "anna"),
]


def write(path, content):
    """Write text or bytes, compressed if the name ends in .gz."""
    content = content.encode() if isinstance(content, str) else content
    path.write_bytes(gzip.compress(content) if path.name.endswith(".gz") else content)
    return path


def lines(facts, delimiter="\t", end="\n"):
    return "".join(delimiter.join(fact) + end for fact in facts)


def named(graph, facts):
    """The facts as tuples of names, in order."""
    return [(graph.entities[s], graph.relations[r], graph.entities[o]) for s, r, o in facts.tolist()]
