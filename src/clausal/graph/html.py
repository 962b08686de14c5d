"""A graph as HTML: its sizes, its relations, what a user should read, and a part of it drawn."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest

import numpy as np

from clausal.drawing import Edge, Html, draw_network, figures, html, join, paragraphs, table, tag
from clausal.graph.display import DisplayNames
from clausal.graph.facts import Facts
from clausal.graph.graph import Graph

SHOWN_RELATIONS = 20
_SAMPLED = 1_000_000  # facts that are looked at for the middle of a sample


def graph_html(graph: Graph, *, most: int = SHOWN_RELATIONS) -> Html:
    """Write the sizes of a graph, its most frequent relations and its notes."""
    return join([sizes_html(graph), relations_html(graph, most=most), notes_html(graph)])


def sizes_html(graph: Graph) -> Html:
    """Write how many entities, relations and facts a graph has, and how its test facts are parted."""
    sizes = {"entities": len(graph.entities), "relations": len(graph.relations)}
    facts = {name: len(split) for name, split in graph.splits.items()}
    return figures(sizes | facts | {f"of {name}": len(part) for name, part in graph.parts.items()})


def relations_html(graph: Graph, *, most: int = SHOWN_RELATIONS, names: DisplayNames | None = None) -> Html:
    """Write the most frequent relations, with how many subjects and objects they have in train."""
    counts = np.bincount(graph.train[:, 1], minlength=len(graph.relations))
    order = np.argsort(-counts, kind="stable")
    shown = names or graph.display
    rows = [
        {"relation": shown.relation(graph.relations[relation]), **_relation_counts(graph, relation)}
        for relation in order[:most].tolist()
    ]
    more = len(graph.relations) - len(rows)
    return join([table(rows), paragraphs(f"and {more:,} more relations" if more else "")])


def _relation_counts(graph: Graph, relation: int) -> dict[str, int]:
    facts = graph.train[graph.train[:, 1] == relation]
    return {
        **{name: int((split[:, 1] == relation).sum()) for name, split in graph.splits.items()},
        "subjects": len(np.unique(facts[:, 0])),
        "objects": len(np.unique(facts[:, 2])),
    }


def notes_html(graph: Graph) -> Html:
    """Write what a user should know of a graph, if anything."""
    return tag("ul", *(tag("li", note) for note in graph.notes)) if graph.notes else Html("")


def sample_html(graph: Graph, *, nodes: int = 30, names: DisplayNames | None = None) -> Html:
    """Draw a part of train: what is around the entity with the most different relations."""
    if not len(graph.train):
        return Html("")
    centre = graph.entities[central_entity(graph.train)]
    edges = around(graph, centre, nodes=nodes)
    shown = {name for edge in edges for name in (edge.subject, edge.object)}
    names = names or graph.display
    title = f"a part of train: {names.entity(centre)} and {len(shown) - 1:,} entities around it"
    return draw_network(edges, title=title, centre=centre, entity=names.entity, relation=names.relation)


def central_entity(facts: Facts) -> int:
    """Return the entity that takes part in the most relations, and of several the one with the most facts."""
    facts = facts[:_SAMPLED]
    ends = np.concatenate([facts[:, [0, 1]], facts[:, [2, 1]]]).astype(np.int64)
    degrees = np.bincount(ends[:, 0])
    kinds = np.bincount(np.unique(ends, axis=0)[:, 0], minlength=len(degrees))
    return int(np.lexsort((-degrees, -kinds))[0])


def around(graph: Graph, name: str, *, nodes: int = 30, facts: Facts | None = None) -> list[Edge]:
    """Return facts, of train unless others are given, around an entity: its own, its neighbours' and those between.

    At most ``nodes`` entities occur in them. Relations take turns, so that none crowds out the others.
    """
    facts = graph.train if facts is None else facts
    chosen = {graph.entities.id(name)}
    for limit in (max(2, 2 * nodes // 3), nodes):
        near = facts[np.isin(facts[:, 0], list(chosen)) | np.isin(facts[:, 2], list(chosen))]
        for subject, _, object in in_turns(near):
            if len(chosen | {subject, object}) <= limit:
                chosen |= {subject, object}
    inside = facts[np.isin(facts[:, 0], list(chosen)) & np.isin(facts[:, 2], list(chosen))]
    kept = [row for row, _ in zip(in_turns(inside), range(4 * nodes), strict=False)]
    return [Edge(graph.entities[s], graph.relations[r], graph.entities[o]) for s, r, o in kept]


def in_turns(facts: Facts, most: int = 200) -> Iterator[tuple[int, int, int]]:
    """Yield facts as ids, one of each relation after the other, and of each relation at most so many."""
    ordered = facts[np.argsort(facts[:, 1], kind="stable")]
    starts = np.flatnonzero(np.diff(ordered[:, 1])) + 1
    for together in zip_longest(*(group[:most].tolist() for group in np.split(ordered, starts))):
        for fact in together:
            if fact is not None:
                yield fact[0], fact[1], fact[2]


def name_html(name: str, shown: str) -> Html:
    """Write a name as it is shown; the full one appears where the pointer rests."""
    return html(shown) if name == shown else tag("span", shown, title=name)
