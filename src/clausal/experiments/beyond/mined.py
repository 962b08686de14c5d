"""The clauses of FB15k-237, which comes without any: mined from its train facts, with confidence as weight."""

from __future__ import annotations

from pathlib import Path

from clausal.graph.graph import Graph
from clausal.logic import Clause, mine, read_clauses
from clausal.logic.mining import Progress, write_mined

FILE = "mined.clauses"
MIN_SUPPORT = 100
MIN_CONFIDENCE = 0.8


def mined_clauses(graph: Graph, folder: Path, progress: Progress | None = None) -> list[Clause]:
    """Return the clauses that a folder has for a graph; where it has none yet, they are mined and written there.

    The same as ``clausal mine fb15k-237 --min-support 100 --min-confidence 0.8 --out FILE``.
    """
    path = folder / FILE
    if not path.exists():
        rules = mine(graph, min_support=MIN_SUPPORT, min_confidence=MIN_CONFIDENCE, progress=progress)
        note = f"{len(rules):,} rules mined from the {len(graph.train):,} train facts of {graph.name}"
        write_mined(path, rules, "confidence", [note])
    return read_clauses(path)
