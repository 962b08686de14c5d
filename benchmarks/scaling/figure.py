"""The figure of the measurements, one panel for each axis; on logarithmic scales a line of slope 1 is linear growth."""

from __future__ import annotations

from pathlib import Path
from typing import Any

_LINES = {"pass": ("a pass, s", "o"), "ranking": ("ranking 1,000 facts, s", "s"), "loading": ("loading, s", "^")}
_TITLES = {"triples": "triples", "entities": "entities", "dim": "dim", "clauses": "clauses"}


def draw(stored: dict[str, Any], path: Path) -> None:
    """Draw all axes into one file."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, panels = plt.subplots(2, 2, figsize=(10, 7.5), layout="constrained")
    for panel, (axis, title) in zip(panels.flat, _TITLES.items(), strict=True):
        points = [found for found in stored["points"].values() if found["axis"] == axis]
        (_draw_clauses if axis == "clauses" else _draw_costs)(panel, axis, points)
        panel.set_xlabel(title)
        panel.grid(which="major", alpha=0.3)
        sizes = sorted({found[axis] for found in points})
        panel.set_xticks(sizes, [_short(size) for size in sizes])
        panel.tick_params(which="minor", bottom=False, labelbottom=False)
        if axis in ("triples", "clauses"):  # the others have the lines of triples
            panel.legend(fontsize=8)
    figure.savefig(path, dpi=150)
    plt.close(figure)


def draw_growth(points: list[dict[str, Any]], path: Path) -> None:
    """Draw what a million facts cost on a GPU, and its memory, as graphs grow."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, panel = plt.subplots(figsize=(6, 4), layout="constrained")
    facts = [point["facts"] for point in points]
    panel.plot(
        facts, [point["seconds_per_million"] for point in points], marker="o", label="a pass, s per million facts"
    )
    panel.plot(facts, [point["memory_gb"] for point in points], marker="x", linestyle=":", label="memory, GB")
    panel.set(xscale="log", yscale="log", xlabel="facts", ylabel="s, GB")
    panel.set_xticks(facts, [_short(size) for size in facts])
    panel.grid(which="major", alpha=0.3)
    panel.legend(fontsize=8)
    figure.savefig(path, dpi=150)
    plt.close(figure)


def _draw_costs(panel: Any, axis: str, points: list[dict[str, Any]]) -> None:
    from matplotlib.ticker import LogLocator

    sizes = [found[axis] for found in points]
    for key, (label, marker) in _LINES.items():
        panel.plot(sizes, [found[key] for found in points], marker=marker, label=label)
    panel.plot(sizes, [found["memory"] / 1000 for found in points], marker="x", linestyle=":", label="peak memory, GB")
    panel.set_xscale("log")
    panel.set_yscale("log")
    panel.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    panel.yaxis.set_major_formatter("{x:g}")
    panel.yaxis.set_minor_formatter("")
    panel.set_ylabel("s, GB")


def _draw_clauses(panel: Any, axis: str, points: list[dict[str, Any]]) -> None:
    for adversary, marker in (("gradient", "o"), ("closed-form", "s")):
        some = [found for found in points if found["adversary"] == adversary]
        panel.plot([f[axis] for f in some], [f["pass"] for f in some], marker=marker, label=f"a pass, {adversary}")
    panel.set_xscale("symlog", linthresh=10)
    panel.set_ylim(0, 1.1 * max(found["pass"] for found in points))
    panel.set_ylabel("s")


def _short(size: int) -> str:
    for unit, letter in ((1_000_000, "M"), (1_000, "k")):
        if size >= unit:
            return f"{size / unit:g}{letter}"
    return str(size)
