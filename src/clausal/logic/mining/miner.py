"""Mining for people: the rules that hold often enough in a graph, with names, measures and an order."""

from __future__ import annotations

import math
import time
from contextlib import closing
from typing import Any, Literal

import numpy as np

from clausal.errors import InputError
from clausal.graph import Graph
from clausal.logic.engines import open_engine
from clausal.logic.mining.attribute_rules import AttributeRules
from clausal.logic.mining.attributes import mine_attributes
from clausal.logic.mining.edges import Edges
from clausal.logic.mining.found_rules import FoundRules
from clausal.logic.mining.joined_paths import LONGEST, join_paths
from clausal.logic.mining.mined_rule import MinedRule
from clausal.logic.mining.path_rules import MOST_ATOMS, PRIOR
from clausal.logic.mining.paths import mine_paths
from clausal.observer import Observer, replaces

MiningEngine = Literal["memory", "duckdb", "spark"]
_TITLES = {"head_coverage": "head coverage", "confidence": "confidence", "pca": "PCA confidence"}
_ROUNDING = 1e-9  # a bound only saves work and is a little wide; the thresholds themselves are compared exactly


@replaces(progress=("advanced", lambda what, done, total, unit: (what, done, total)))
def mine(
    graph: Graph,
    *,
    min_support: int = 10,
    min_head_coverage: float = 0.01,
    min_confidence: float = 0.5,
    min_pca_confidence: float = 0.0,
    max_body: int = 2,
    constants: bool = False,
    prune: bool = False,
    seconds: float | None = None,
    engine: MiningEngine = "memory",
    memory: str | None = None,
    master: str | None = None,
    shared: str | None = None,
    observer: Observer | None = None,
) -> list[MinedRule]:
    """Find the Horn clauses that hold often enough in a graph's train facts, the most confident first.

    These are ``b(X, Y) => h(X, Y)`` and ``b(X, Y) => h(Y, X)``, and with more atoms chains such as
    ``b(X, Y), c(Y, Z) => h(X, Z)``, with the terms of the body's atoms in either order; with ``constants`` also
    ``s(X, "d") => r(X, "c")`` and ``s(X, Y) => r(X, "c")``. ``prune`` leaves out rules that are no better than chance
    and those whose facts better rules predict already. After ``seconds`` the search ends with what it has found, and
    the observer is told. Valid and test facts are not looked at.

    Rules are counted by walks in memory, or joined by ``engine``: DuckDB with so much ``memory`` and the disk, or the
    Spark cluster ``master``, whose machines see the folder ``shared``. These find the same rules of one and two atoms.

    Rules are in the order of confidence, then support; then shorter ones first.
    """
    _check(min_support, max_body, head_coverage=min_head_coverage, confidence=min_confidence, pca=min_pca_confidence)
    if engine == "memory":
        _refuse_in_memory(memory=memory, master=master, shared=shared)
    elif constants or max_body > LONGEST:
        raise InputError(
            f"{engine} mines rules of one or two body atoms without constants; others are mined in memory, "
            "without an engine"
        )
    if seconds is not None and not seconds > 0:
        raise InputError(f"the seconds that mining may take are a number above 0, not {seconds:g}")
    observer = observer or Observer()
    until = None if seconds is None else time.monotonic() + seconds
    edges = Edges(graph.train, len(graph.entities), len(graph.relations))
    smoothed = min_confidence * min_support / (min_support + PRIOR) * (1 - _ROUNDING)
    options: dict[str, Any] = {"max_length": max_body, "min_support": min_support, "min_confidence": smoothed}
    options |= {"seconds": seconds, "observer": observer}
    if engine == "memory":
        paths = mine_paths(edges, **options)
    else:
        with closing(open_engine(engine, "mining", memory=memory, master=master, shared=shared)) as joining:
            paths = join_paths(joining, graph.train, len(graph.relations), **options)
    with_constants = AttributeRules.none(edges)
    if constants:
        left = None if until is None else max(until - time.monotonic(), 0.0)
        with_constants = mine_attributes(
            edges, min_support=min_support, min_confidence=smoothed, seconds=left, observer=observer
        )
        with_constants = with_constants.select(~with_constants.predicts_itself)
    if not (paths.complete and with_constants.complete):
        observer.message(f"mining ended after {seconds:g} seconds, before it was through: there may be more rules")
    found = FoundRules(edges, graph, paths, with_constants)
    chosen = np.flatnonzero(
        (found.support >= min_support)
        & (found.support / found.head_facts >= min_head_coverage)
        & (found.support / found.pairs >= min_confidence)
        & (found.support / found.known >= min_pca_confidence)
    )
    if prune:
        chosen = found.pruned(chosen)
    return [found.rule(place) for place in found.ordered(chosen).tolist()]


def _refuse_in_memory(**options: str | None) -> None:
    for name, value in options.items():
        if value is not None:
            raise InputError(f"{name} is for mining with an engine, duckdb or spark; name one")


def _check(min_support: int, max_body: int, **shares: float) -> None:
    if min_support < 1:
        raise InputError(f"the least support is a number of facts of at least 1, not {min_support}")
    if not 1 <= max_body <= MOST_ATOMS:
        raise InputError(f"rules have one, two or three body atoms, not {max_body}")
    for name, share in shares.items():
        if not 0 <= share <= 1 or math.isnan(share):
            raise InputError(f"the least {_TITLES[name]} is a share between 0 and 1, not {share:g}")
