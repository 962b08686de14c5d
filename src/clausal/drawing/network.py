"""A small network as SVG: entities as spots, facts as arrows, laid out by forces; the same picture each time."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from clausal.drawing.charts import svg
from clausal.drawing.html import Html, tag

Kind = Literal["known", "entailed", "predicted"]
_WIDTH, _HEIGHT, _MARGIN = 900, 520, 60
_STEPS = 200
_COLOURS = 8
_LONGEST = 24
_LINES = {"entailed": "dashed", "predicted": "dotted"}


class Edge(NamedTuple):
    """A fact that is drawn, in full names, and whether it is known, follows, or is predicted."""

    subject: str
    relation: str
    object: str
    kind: Kind = "known"


def draw_network(
    edges: Sequence[Edge],
    *,
    title: str,
    centre: str | None = None,
    entity: Callable[[str], str] = str,
    relation: Callable[[str], str] = str,
) -> Html:
    """Draw facts; ``entity`` and ``relation`` say how names are shown, and ``centre`` is drawn larger.

    Relations are told apart by colour, the most frequent first; facts that follow are dashed, predicted ones dotted.
    """
    if not edges:
        return Html("")
    nodes = list(dict.fromkeys(name for edge in edges for name in (edge.subject, edge.object)))
    places = {name: place for place, name in enumerate(nodes)}
    pairs = np.array([(places[edge.subject], places[edge.object]) for edge in edges])
    spots = layout(len(nodes), pairs)
    colours = _colours(edges)
    parts = [_edge(edge, spots, places, colours[edge.relation], relation) for edge in edges]
    parts += [_node(name, spots[place], name == centre, entity(name)) for place, name in enumerate(nodes)]
    return tag(
        "figure",
        tag("figcaption", title),
        svg(title, parts, _WIDTH, _HEIGHT),
        _legend(edges, colours, relation),
        class_="network",
    )


def layout(nodes: int, pairs: NDArray[np.int64]) -> NDArray[np.float64]:
    """Place nodes by forces (Fruchterman & Reingold 1991): linked ones near, others apart. Shape [nodes, 2]."""
    angles = 2 * math.pi * np.arange(nodes) / max(1, nodes)
    spots = 0.4 * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    if nodes == 1:
        return np.array([[_WIDTH / 2, _HEIGHT / 2]])
    length = 0.9 / math.sqrt(nodes)
    starts, ends = pairs[pairs[:, 0] != pairs[:, 1]].T if len(pairs) else np.empty((2, 0), np.int64)
    for step in range(_STEPS):
        between = spots[:, None] - spots[None]
        distances = np.maximum(np.sqrt((between**2).sum(-1)), 1e-3)
        forces = (between * (length**2 / distances**2)[..., None]).sum(1)
        pull = spots[starts] - spots[ends]
        pull *= np.sqrt((pull**2).sum(-1, keepdims=True)) / length
        np.add.at(forces, starts, -pull)
        np.add.at(forces, ends, pull)
        forces -= 0.3 * spots  # parts that are not linked stay in view
        sizes = np.maximum(np.sqrt((forces**2).sum(-1, keepdims=True)), 1e-9)
        spots = spots + forces / sizes * np.minimum(sizes, 0.1 * (1 - step / _STEPS))
    low, high = spots.min(0), spots.max(0)
    room = np.array([_WIDTH - 2 * _MARGIN, _HEIGHT - 2 * _MARGIN])
    placed: NDArray[np.float64] = _MARGIN + (spots - low) / np.maximum(high - low, 1e-9) * room
    return placed


def _colours(edges: Sequence[Edge]) -> dict[str, int]:
    """Return the number of each relation's colour; those beyond the colours share the last."""
    counts: dict[str, int] = {}
    for edge in edges:
        counts[edge.relation] = counts.get(edge.relation, 0) + 1
    order = sorted(counts, key=lambda name: (-counts[name], name))
    return {name: min(place, _COLOURS - 1) for place, name in enumerate(order)}


def _edge(
    edge: Edge, spots: NDArray[np.float64], places: dict[str, int], colour: int, relation: Callable[[str], str]
) -> Html:
    about = tag("title", f"{relation(edge.relation)}: {edge.subject} → {edge.object} ({edge.kind})")
    (x1, y1), (x2, y2) = spots[places[edge.subject]], spots[places[edge.object]]
    dash = None if edge.kind == "known" else "6 4" if edge.kind == "entailed" else "2 4"
    if edge.subject == edge.object:
        path, head = f"M{x1 - 5:.1f} {y1 - 6:.1f}c-22 -30 32 -30 10 0", _head(x1 + 5, y1 - 6, -0.5, 0.85)
    else:
        bend = 0.1  # so that both directions of a pair can be seen
        control = (x1 + x2) / 2 - bend * (y2 - y1), (y1 + y2) / 2 + bend * (x2 - x1)
        size = max(math.hypot(x2 - control[0], y2 - control[1]), 1e-9)
        along, across = (x2 - control[0]) / size, (y2 - control[1]) / size
        tip = x2 - 7 * along, y2 - 7 * across
        path = f"M{x1:.1f} {y1:.1f}Q{control[0]:.1f} {control[1]:.1f} {tip[0]:.1f} {tip[1]:.1f}"
        head = _head(*tip, along, across)
    line = tag(
        "path", d=path, stroke="currentColor", stroke_dasharray=dash, fill="none", class_=f"edge colour-{colour}"
    )
    tip_of_it = tag("path", d=head, fill="currentColor", class_=f"head colour-{colour}")
    return tag("g", about, line, tip_of_it, class_=edge.kind)


def _head(x: float, y: float, along: float, across: float) -> str:
    """Return the head of an arrow whose tip is here and that points along a direction of length 1."""
    back = x - 8 * along, y - 8 * across
    return (
        f"M{x:.1f} {y:.1f}L{back[0] - 3.2 * across:.1f} {back[1] + 3.2 * along:.1f}"
        f"L{back[0] + 3.2 * across:.1f} {back[1] - 3.2 * along:.1f}z"
    )


def _node(name: str, spot: NDArray[np.float64], central: bool, shown: str) -> Html:
    x, y = spot
    short = shown if len(shown) <= _LONGEST else f"{shown[: _LONGEST - 1]}…"
    return tag(
        "g",
        tag("title", name),
        tag("circle", cx=f"{x:.1f}", cy=f"{y:.1f}", r=9 if central else 6, class_="node" + " centre" * central),
        tag("text", short, x=f"{x:.1f}", y=f"{y - (13 if central else 10):.1f}", text_anchor="middle"),
    )


def _legend(edges: Sequence[Edge], colours: dict[str, int], relation: Callable[[str], str]) -> Html:
    named = [(name, colour) for name, colour in colours.items() if colour < _COLOURS - 1]
    others = [name for name, colour in colours.items() if colour == _COLOURS - 1]
    if len(others) == 1:
        named.append((others[0], _COLOURS - 1))
    keys = [tag("li", tag("span", class_=f"key colour-{colour}"), relation(name)) for name, colour in named]
    if len(others) > 1:
        keys.append(tag("li", tag("span", class_=f"key colour-{_COLOURS - 1}"), f"{len(others):,} other relations"))
    kinds = {edge.kind for edge in edges}
    keys += [tag("li", f"{line}: {kind}") for kind, line in _LINES.items() if kind in kinds]
    return tag("ul", *keys, class_="legend")
