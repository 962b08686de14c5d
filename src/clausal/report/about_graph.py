"""The section on the graph: how large it is, what its relations are, and a part of it drawn."""

from __future__ import annotations

from clausal.drawing import Html, join, paragraphs
from clausal.graph.display import DisplayNames
from clausal.graph.graph import Graph
from clausal.graph.html import relations_html, sample_html, sizes_html


def graph_section(graph: Graph, names: DisplayNames) -> Html:
    """Write what the graph is."""
    drawn = ""
    if graph.drawn is not None:
        drawn = (
            f"Valid and test were drawn at random from one set of facts (shares {graph.drawn.valid:g} and "
            f"{graph.drawn.test:g}, seed {graph.drawn.seed})."
        )
    return join(
        [
            paragraphs(
                f"{graph.name}: facts (subject, relation, object). The model learns from train; valid chooses the "
                "model, and test, which training never sees, measures it.",
                drawn,
            ),
            sizes_html(graph),
            sample_html(graph, names=names),
            relations_html(graph, names=names),
        ]
    )
