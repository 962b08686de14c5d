"""All text in pages is escaped, whatever it holds, and what is drawn is well formed."""

import itertools
import math
import re
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

from clausal.drawing import (
    Edge,
    Html,
    Series,
    bar_chart,
    draw_network,
    figures,
    html,
    line_chart,
    page,
    reliability_chart,
    table,
    tag,
)
from clausal.drawing.charts import _ticks
from clausal.drawing.network import layout

HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "a & b",
    "\x00\x1b[31m",
    "\udc80",
    "'",
    "‮abc",
    "",
]


def parsed(text):
    """Read a fragment as XML, which refuses what is not closed or not escaped."""
    return ElementTree.fromstring(f"<root>{text}</root>")


@pytest.mark.parametrize("text", HOSTILE)
def test_text_stays_text_in_elements_attributes_and_tables(text):
    shown = "".join(parsed(html(text)).itertext())
    assert "<" not in html(text)
    element = parsed(tag("p", text, title=text))[0]
    assert element.text == (shown or None)
    assert element.get("title") == shown
    (cell,) = parsed(table([{text: text}])).iter("td")
    assert "".join(cell.itertext()) == shown
    page(text, tag("p", text)).encode()


def test_html_is_not_escaped_twice():
    inner = tag("b", "1 < 2")
    assert tag("p", inner) == "<p><b>1 &lt; 2</b></p>"
    assert isinstance(tag("p", inner), Html)
    assert inner._repr_html_() == "<b>1 &lt; 2</b>"


def test_tables_show_numbers_to_the_right_and_what_is_missing_as_nothing():
    rows = [{"name": "a", "value": None, "yes": True}, {"name": "b", "value": 1234.5678, "yes": False}]
    found = parsed(table(rows))
    classes = [cell.get("class") for cell in found.iter("th")]
    assert classes == [None, "number", None]
    assert [cell.text for cell in found.iter("td")] == ["a", None, "yes", "b", "1,234.6", "no"]
    assert table([]) == ""


def test_figures_name_what_they_count():
    found = parsed(figures({"holds for all": 3, "none": None}))
    assert [element.text for element in found.iter() if element.text] == ["holds for all", "3"]


@pytest.mark.parametrize(
    "points",
    [
        [(1, 0.5)],
        [(1, 0), (2, 0)],
        [(1, math.nan), (2, math.inf), (3, 1.0)],
        [(epoch, 1e-30 * epoch) for epoch in range(5)],
        [(epoch, -1e30 * epoch) for epoch in range(5)],
        [(epoch, math.sin(epoch)) for epoch in range(10_000)],
    ],
    ids=["one", "constant", "not finite", "tiny", "huge", "many"],
)
def test_lines_stay_inside_their_picture(points):
    drawn = line_chart([Series(HOSTILE[0], points), Series("b", [])], title=HOSTILE[1])
    svg = next(parsed(drawn).iter("{http://www.w3.org/2000/svg}svg"))
    _, _, width, height = map(float, svg.get("viewBox").split())
    spots = re.findall(r'points="([^"]*)"', drawn)[0].split()
    assert 1 <= len(spots) <= 402
    for x, y in (map(float, spot.split(",")) for spot in spots):
        assert 0 <= x <= width
        assert 0 <= y <= height


def test_nothing_is_drawn_of_nothing():
    assert (
        line_chart([Series("a", [])], title="t") == bar_chart([], title="t") == reliability_chart([], title="t") == ""
    )
    assert draw_network([], title="t") == ""


@pytest.mark.parametrize(("low", "high"), [(0, 1), (0, 0), (-3, -3), (0, 1e-9), (5, 1e12), (-1, 0.001)])
def test_ticks_are_few_and_hold_the_range(low, high):
    ticks = _ticks(low, high)
    assert ticks[0] <= low
    assert ticks[-1] >= high
    assert 2 <= len(ticks) <= 12
    assert all(a < b for a, b in itertools.pairwise(ticks))


def test_bins_are_drawn_where_they_are():
    drawn = parsed(reliability_chart([(10, 0.1, 0.2), (40, 0.9, 1.0)], title="t"))
    titles = [element.text for element in drawn.iter() if element.tag.endswith("title")]
    assert titles == ["10 facts of probability 0.10: 20% are true", "40 facts of probability 0.90: 100% are true"]


def test_networks_are_escaped_complete_and_the_same_each_time():
    names = HOSTILE[:4]
    edges = [Edge(a, "r & s", b) for a in names for b in names]  # with loops and both directions
    edges.append(Edge(names[0], "t", "alone", "predicted"))
    drawn = draw_network(edges, title=HOSTILE[1], centre=names[0])
    assert drawn == draw_network(edges, title=HOSTILE[1], centre=names[0])
    found = parsed(drawn)
    assert sum(element.tag.endswith("circle") for element in found.iter()) == 5
    assert "dotted: predicted" in "".join(found.itertext())
    assert "nan" not in drawn


def test_many_relations_share_colours():
    drawn = draw_network([Edge("a", f"r{number}", f"b{number}") for number in range(30)], title="t")
    assert "23 other relations" in drawn


@pytest.mark.parametrize("nodes", [1, 2, 3, 150])
def test_nodes_are_placed_apart_inside_the_picture(nodes):
    pairs = np.array([(0, node) for node in range(nodes)])
    spots = layout(nodes, pairs)
    assert spots.shape == (nodes, 2)
    assert np.isfinite(spots).all()
    assert (spots >= 0).all()
    assert (spots <= (900, 520)).all()
    distances = np.sqrt(((spots[:, None] - spots[None]) ** 2).sum(-1)) + 1e9 * np.eye(nodes)
    assert distances.min() > 5
