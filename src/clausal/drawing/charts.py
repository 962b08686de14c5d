"""Charts as SVG: lines over epochs, bars, and how far probabilities can be trusted."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from clausal.drawing.html import Html, tag

_WIDTH, _HEIGHT = 460, 240
_LEFT, _RIGHT, _TOP, _BOTTOM = 58, 12, 12, 40
_COLOURS = ("#2563c9", "#c2410c", "#15803d", "#7e22ce")
_MOST_POINTS = 400


class Series(NamedTuple):
    """A line of a chart: its name and its points."""

    name: str
    points: Sequence[tuple[float, float]]


class _Frame:
    """Where numbers are drawn: the ranges of both axes, and their ticks."""

    def __init__(self, points: Sequence[tuple[float, float]], *, zero: bool = True) -> None:
        across, up = [x for x, _ in points], [y for _, y in points]
        self.x_ticks = _ticks(min(across), max(across))
        self.y_ticks = _ticks(min([0.0, *up] if zero else up), max(up))

    def x(self, value: float) -> float:
        return _LEFT + (_WIDTH - _LEFT - _RIGHT) * _share(value, self.x_ticks)

    def y(self, value: float) -> float:
        return _HEIGHT - _BOTTOM - (_HEIGHT - _TOP - _BOTTOM) * _share(value, self.y_ticks)

    def axes(self, x_label: str, y_label: str) -> list[Html]:
        left, right, bottom = _LEFT, _WIDTH - _RIGHT, _HEIGHT - _BOTTOM
        parts = []
        for value in self.y_ticks:
            y = _at(self.y(value))
            parts.append(_line(left, y, right, y, "grid"))
            parts.append(_text(left - 6, float(y) + 4, _written(value), "end"))
        for value in self.x_ticks:
            x = _at(self.x(value))
            parts.append(_line(x, bottom, x, bottom + 4, "axis"))
            parts.append(_text(float(x), bottom + 17, _written(value), "middle"))
        parts.append(_line(left, bottom, right, bottom, "axis"))
        parts.append(_text((left + right) / 2, _HEIGHT - 6, x_label, "middle"))
        middle = (_TOP + bottom) / 2
        parts.append(
            tag("text", y_label, x=11, y=_at(middle), text_anchor="middle", transform=f"rotate(-90 11 {_at(middle)})")
        )
        return parts


def line_chart(series: Sequence[Series], *, title: str, x: str = "epoch", y: str = "") -> Html:
    """Draw lines; points that are no finite numbers are left out. Nothing is drawn where there are none."""
    lines = [Series(one.name, _finite(one.points)) for one in series]
    lines = [one for one in lines if one.points]
    if not lines:
        return Html("")
    frame = _Frame([point for one in lines for point in one.points])
    parts = frame.axes(x, y)
    for place, one in enumerate(lines):
        colour, kind = _COLOURS[place % len(_COLOURS)], f"line series-{place % len(_COLOURS)}"
        spots = " ".join(f"{_at(frame.x(a))},{_at(frame.y(b))}" for a, b in one.points)
        parts.append(tag("polyline", points=spots, fill="none", stroke=colour, class_=kind))
        if len(one.points) <= 30:
            parts += [
                tag("circle", cx=_at(frame.x(a)), cy=_at(frame.y(b)), r=2.5, fill=colour, class_=f"spot {kind}")
                for a, b in one.points
            ]
    return _figure(title, parts, [one.name for one in lines] if len(lines) > 1 else [])


def bar_chart(values: Sequence[tuple[str, float]], *, title: str) -> Html:
    """Draw a bar for each name, lengths in proportion to the largest value, with the value behind it."""
    finite = [(name, value) for name, value in values if math.isfinite(value) and value >= 0]
    if not finite:
        return Html("")
    row, most = 22, max(value for _, value in finite) or 1.0
    room = min(260, 16 + 7 * max(len(name) for name, _ in finite))
    parts = []
    for place, (name, value) in enumerate(finite):
        y = place * row
        length = (_WIDTH - room - 70) * value / most
        shown = name if len(name) <= 38 else f"{name[:37]}…"
        parts.append(tag("text", shown, tag("title", name), x=room - 8, y=y + 15, text_anchor="end"))
        parts.append(
            tag("rect", x=room, y=y + 4, width=_at(length), height=14, rx=2, fill=_COLOURS[0], class_="bar series-0")
        )
        parts.append(_text(room + length + 6, y + 15, _written(value), "start"))
    return _figure(title, parts, [], height=row * len(finite) + 4)


def reliability_chart(bins: Sequence[tuple[int, float, float]], *, title: str) -> Html:
    """Draw the share of true facts against their probability, for bins of (facts, mean probability, share true).

    A bin's spot is the larger the more facts it has; good probabilities lie on the diagonal.
    """
    if not bins:
        return Html("")
    frame = _Frame([(0.0, 0.0), (1.0, 1.0)])
    parts = frame.axes("probability", "share that is true")
    parts.append(_line(frame.x(0), frame.y(0), frame.x(1), frame.y(1), "diagonal"))
    most = max(facts for facts, _, _ in bins)
    spots = " ".join(f"{_at(frame.x(p))},{_at(frame.y(true))}" for _, p, true in bins)
    parts.append(tag("polyline", points=spots, fill="none", stroke=_COLOURS[0], class_="line series-0"))
    for facts, probability, true in bins:
        about = f"{facts:,} facts of probability {probability:.2f}: {true:.0%} are true"
        radius = _at(2.5 + 5.5 * math.sqrt(facts / most))
        spot = {"cx": _at(frame.x(probability)), "cy": _at(frame.y(true)), "r": radius}
        parts.append(tag("circle", tag("title", about), **spot, fill=_COLOURS[0], class_="spot series-0"))
    return _figure(title, parts, [])


def svg(title: str, parts: Sequence[Html], width: float, height: float) -> Html:
    """Write an SVG that grows with its place and says in words what it shows."""
    about = {"role": "img", "aria_label": title, "xmlns": "http://www.w3.org/2000/svg"}
    return tag("svg", *parts, viewBox=f"0 0 {width:g} {height:g}", **about)


def _figure(title: str, parts: Sequence[Html], names: Sequence[str], height: float = _HEIGHT) -> Html:
    keys = [
        tag("li", tag("span", class_=f"key series-{place % len(_COLOURS)}"), name) for place, name in enumerate(names)
    ]
    legend = [tag("ul", *keys, class_="legend")] if keys else []
    return tag("figure", tag("figcaption", title), svg(title, parts, _WIDTH, height), *legend, class_="chart")


def _finite(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Leave out what cannot be drawn, and of very many points all but some, the last one kept."""
    found = [(float(a), float(b)) for a, b in points if math.isfinite(a) and math.isfinite(b)]
    every = -(-len(found) // _MOST_POINTS) or 1
    return [*found[:-1:every], *found[-1:]]


def _ticks(low: float, high: float) -> list[float]:
    """Return round numbers, from at most ``low`` to at least ``high``."""
    if not high > low:
        low, high = low - (abs(low) or 1) / 2, high + (abs(high) or 1) / 2
    rough = (high - low) / 4
    unit = 10.0 ** math.floor(math.log10(rough))
    step = next(unit * by for by in (1, 2, 2.5, 5, 10) if unit * by >= rough * 0.999)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [place * step for place in range(first, last + 1)]


def _share(value: float, ticks: Sequence[float]) -> float:
    return (value - ticks[0]) / (ticks[-1] - ticks[0])


def _written(value: float) -> str:
    return f"{value:,.0f}" if 1000 <= abs(value) < 1e6 else f"{value:.3g}"


def _at(value: float) -> str:
    return f"{float(value):.1f}"


def _line(x1: object, y1: object, x2: object, y2: object, kind: str) -> Html:
    ends = {
        name: _at(float(str(value))) for name, value in zip(("x1", "y1", "x2", "y2"), (x1, y1, x2, y2), strict=True)
    }
    return tag("line", **ends, stroke="currentColor", stroke_opacity=0.25, class_=kind)


def _text(x: float, y: float, text: str, anchor: str) -> Html:
    return tag("text", text, x=_at(x), y=_at(y), text_anchor=anchor)
