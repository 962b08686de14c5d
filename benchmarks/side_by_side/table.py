"""The figures of both sides as rows with their ratio and target, and as a table."""

from __future__ import annotations

from typing import NamedTuple


class Row(NamedTuple):
    """One figure, that of the other side, their ratio, and what is asked of the figure or the ratio, in words."""

    graph: str
    scorer: str
    what: str
    ours: float
    other: float
    ratio: float
    unit: str = "s"
    target: str = ""
    met: bool | None = None


def compare(graph: str, scorer: str, ours: dict[str, float], peer: dict[str, float]) -> list[Row]:
    """Put the figures of both sides next to each other."""
    faster = {"pass": {"distmult": 8, "complex": 10}[scorer] if graph == "fb122" else None, "ranking": 40}
    rows = []
    for what in ("pass", "training", "ranking", "first pass"):
        least, ratio = faster.get(what), peer[what] / ours[what]
        target = f"at least {least} times as fast" if least else ""
        rows.append(Row(graph, scorer, what, ours[what], peer[what], ratio, "s", target, least and ratio >= least))
    for what, most in (("ranking memory", 500), ("memory", None)):
        target = f"at most {most} MB" if most else ""
        ratio = peer[what] / ours[what]
        rows.append(Row(graph, scorer, what, ours[what], peer[what], ratio, "MB", target, most and ours[what] <= most))
    return rows


def with_clauses(graph: str, scorer: str, found: dict[str, float], most: dict[str, float]) -> list[Row]:
    """Put a pass with clauses next to one without, for each adversary and the most that it may take."""
    rows = []
    for adversary, limit in most.items():
        what, ratio = f"pass, 47 clauses, {adversary}", found[f"{adversary} ratio"]
        target = f"at most {limit} of a pass without"
        rows.append(Row(graph, scorer, what, found[adversary], found["none"], ratio, "s", target, ratio <= limit))
    return rows


def line(row: Row) -> str:
    """Return a row as a line of the table."""
    verdict = {None: "", True: ": met", False: ": not met"}[row.met]
    ours, other = f"{row.ours:.3f} {row.unit:<2}", f"{row.other:.3f} {row.unit:<2}"
    what = f"{row.graph:<6} {row.scorer:<9} {row.what:<28}"
    return f"{what} {ours:>12} {other:>13} {row.ratio:>7.2f}  {row.target}{verdict}"


HEAD = f"{'graph':<6} {'scorer':<9} {'what':<28} {'clausal':>12} {'other':>13} {'ratio':>7}  target"
