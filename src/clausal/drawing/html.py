"""HTML as text that knows it is HTML: all other text is escaped where it is put into it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from html import escape
from importlib.resources import files
from typing import Any

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
_EMPTY = frozenset({"br", "meta", "line", "circle", "rect", "path"})
"""Elements that have no content."""


class Html(str):
    """Text that is HTML already. A notebook shows it as such."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        return str(self)


def html(value: object) -> Html:
    """Return a value as HTML: text is escaped, control characters are written as escapes."""
    if isinstance(value, Html):
        return value
    return Html(escape(_CONTROL.sub(lambda found: repr(found[0])[1:-1], str(value))))


def join(parts: Iterable[object], between: str = "") -> Html:
    """Put parts together, each escaped where it is no HTML."""
    return Html(str(html(between)).join(html(part) for part in parts))


def tag(name: str, /, *content: object, **attributes: object) -> Html:
    """Write an element. ``class_="x"`` is the attribute class, ``stroke_width`` is stroke-width; None is left out."""
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{html(str(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    if name in _EMPTY and not content:
        return Html(f"<{name}{written}>" if name in ("br", "meta") else f"<{name}{written}/>")
    return Html(f"<{name}{written}>{join(content)}</{name}>")


def table(rows: Sequence[Mapping[str, Any]], *, numbers: Iterable[str] = ()) -> Html:
    """Write rows as a table, numbers to the right; columns are those of the first row.

    ``numbers`` names columns of numbers that are written as text.
    """
    if not rows:
        return Html("")
    right = {name for name in rows[0] if name in set(numbers) or _is_number(rows, name)}
    head = tag("tr", *(tag("th", name, scope="col", class_="number" if name in right else None) for name in rows[0]))
    body = [
        tag("tr", *(tag("td", _cell(row[name]), class_="number" if name in right else None) for name in rows[0]))
        for row in rows
    ]
    return tag("div", tag("table", tag("thead", head), tag("tbody", *body)), class_="scroll", tabindex=0)


def _is_number(rows: Sequence[Mapping[str, Any]], name: str) -> bool:
    value = next((row[name] for row in rows if row[name] is not None), None)
    return isinstance(value, int | float) and not isinstance(value, bool)


def _cell(value: object) -> Html:
    if value is None:
        return Html("")
    if isinstance(value, bool):
        return html("yes" if value else "no")
    if isinstance(value, float):
        return html(f"{value:.3f}" if abs(value) < 100 else f"{value:,.1f}")
    return html(f"{value:,}" if isinstance(value, int) else value)


def paragraphs(*texts: object) -> Html:
    """Write each text as a paragraph; empty ones are left out."""
    return join(tag("p", text) for text in texts if text)


def figures(values: Mapping[str, object]) -> Html:
    """Write a few large figures with what they are; those that are None are left out."""
    shown = {name: value for name, value in values.items() if value is not None}
    pairs = (tag("div", tag("dt", name), tag("dd", _cell(value))) for name, value in shown.items())
    return tag("dl", *pairs, class_="figures")


@cache
def styles() -> str:
    """Return the style sheet of all that this package writes."""
    return (files("clausal.drawing") / "styles.css").read_text(encoding="utf-8")


def notebook(*content: object) -> Html:
    """Write what a notebook shows for an object: with its own styles, in the colours of the notebook."""
    return tag("div", tag("style", Html(styles())), *content, class_="clausal")


def page(title: str, *content: object) -> Html:
    """Write a whole page that needs nothing else: no script, no font and no picture from elsewhere."""
    policy = "default-src 'none'; style-src 'unsafe-inline'"
    head = join(
        [
            tag("meta", charset="utf-8"),
            tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
            tag("meta", name="color-scheme", content="light dark"),
            tag("meta", http_equiv="Content-Security-Policy", content=policy),
            tag("title", title),
            tag("style", Html(styles())),
        ],
        "\n",
    )
    body = tag("body", *content, class_="clausal page")
    return Html(f'<!DOCTYPE html>\n<html lang="en">\n<head>\n{head}\n</head>\n{body}\n</html>\n')
