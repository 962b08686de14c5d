"""HTML and SVG without a script and without a library: text that is escaped, tables, charts, small networks.

Colours and sizes are in ``styles.css``, by classes: there is no ``style`` attribute, so that a page may forbid them.
"""

from clausal.drawing.charts import Series, bar_chart, line_chart, reliability_chart
from clausal.drawing.html import Html, figures, html, join, notebook, page, paragraphs, table, tag
from clausal.drawing.network import Edge, draw_network

__all__ = [
    "Edge",
    "Html",
    "Series",
    "bar_chart",
    "draw_network",
    "figures",
    "html",
    "join",
    "line_chart",
    "notebook",
    "page",
    "paragraphs",
    "reliability_chart",
    "table",
    "tag",
]
