"""The clauses of the tables beyond the paper that no data set has: FB122's weighed, and FB15k-237's mined.

Both are counted on train facts, and kept in a file beside the records of the table.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from clausal.graph.graph import Graph
from clausal.logic import Clause, measure_clauses, mine, read_clauses, weigh_clauses, write_rules
from clausal.logic.mining import write_mined
from clausal.observer import Observer

MINED = "mined.clauses"
WEIGHED = "weighed.clauses"
MIN_SUPPORT = 100
MIN_CONFIDENCE = 0.8

OWN_CLAUSES = {"fb122": WEIGHED, "fb15k-237": MINED}
"""The file of the tables whose clauses no data set has."""


def mined_clauses(graph: Graph, folder: Path, observer: Observer | None = None) -> list[Clause]:
    """Return the clauses that a folder has for a graph; where it has none yet, they are mined and written there.

    The same as ``clausal mine fb15k-237 --min-support 100 --min-confidence 0.8 --out FILE``.
    """
    path = folder / MINED
    if not path.exists():
        rules = mine(graph, min_support=MIN_SUPPORT, min_confidence=MIN_CONFIDENCE, observer=observer)
        note = f"{len(rules):,} rules mined from the {len(graph.train):,} train facts of {graph.name}"
        write_mined(path, rules, "confidence", [note])
    return read_clauses(path)


def weighed_clauses(graph: Graph, clauses: Sequence[Clause], folder: Path) -> list[Clause]:
    """Return a data set's clauses with their confidence in train as weight, written to a folder that lacks them.

    The same as ``clausal clauses fb122 --graph fb122 --weigh --out FILE``.
    """
    path = folder / WEIGHED
    if not path.exists():
        write_rules(path, weigh_clauses(clauses, measure_clauses(clauses, graph)))
    return read_clauses(path)
