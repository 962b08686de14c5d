"""Mining path rules of one and two atoms by joins: the same rules as by walks, from tables that need not fit in memory.

The queries are those of any engine, DuckDB on disk or Spark on a cluster. A body and the same body walked backwards are
one, as in ``path_counts``, and only the first of both is joined.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from clausal.errors import InputError
from clausal.graph import Facts
from clausal.logic.engines import Engine
from clausal.logic.mining.path_rules import MOST_ATOMS, PRIOR, PathRules
from clausal.logic.mining.paths import MOST_RULES, SEEN, STEPS
from clausal.logic.store import FACT_COLUMNS
from clausal.observer import Observer

LONGEST = 2
"""Atoms of a body, at most."""
BATCH = 200_000_000
"""Paths that are joined at once, before those between the same entities become one."""
_ROUNDING = 1 - 1e-9  # the engine's thresholds are a little wide; rules are compared exactly afterwards


def join_paths(
    engine: Engine,
    facts: Facts,
    relations: int,
    *,
    max_length: int = LONGEST,
    min_support: float = 2,
    min_confidence: float = 0.0,
    steps: int = STEPS,
    most: int = MOST_RULES,
    seed: int = 0,
    seconds: float | None = None,
    observer: Observer | None = None,
) -> PathRules:
    """Find the path rules that ``mine_paths`` finds, of at most two atoms, with tables of the engine.

    Where there are more than ``steps`` paths, they begin at a sample of the entities.
    """
    if max_length > LONGEST:
        raise InputError(f"engines mine rules of one or two body atoms, not {max_length}; three are mined in memory")
    until = None if seconds is None else time.monotonic() + seconds
    engine.load("fact", facts, FACT_COLUMNS)
    ends = ("subject AS source, relation AS label, object", f"object, relation + {relations}, subject")
    halves = [f"SELECT {columns} AS target FROM fact WHERE subject <> object" for columns in ends]
    engine.create("edge", " UNION ".join(halves))
    engine.create("known_end", "SELECT DISTINCT label, source FROM edge")
    search = _Joins(engine, relations, min_support, min_confidence, until, observer or Observer())
    parts = [_best(relations, [search.one_atom()], most)]
    if max_length > 1:
        parts.append(_best(relations, list(search.two_atoms(steps, seed)), most))
    complete = until is None or time.monotonic() < until
    return PathRules.joined(relations, parts, complete)


def _best(relations: int, parts: list[PathRules], most: int) -> PathRules:
    rules = PathRules.joined(relations, parts)
    return rules.select(np.arange(min(len(rules), most)))


@dataclass(frozen=True, eq=False)
class _Joins:
    """Counts rules on the tables ``edge``, of facts in both directions, and ``known_end``, where labels begin."""

    engine: Engine
    relations: int
    min_support: float
    min_confidence: float
    until: float | None
    observer: Observer

    def one_atom(self) -> PathRules:
        """Return the rules of one atom."""
        self.engine.define("path", "SELECT label AS b1, -1 AS b2, source AS x, target AS z FROM edge")
        rules = self._admitted(f"h.label < {self.relations} AND h.label <> p.b1", 1.0)
        self.observer.advanced("paths of 1", 1, 1, "steps")
        return rules

    def two_atoms(self, steps: int, seed: int) -> Iterator[PathRules]:
        """Yield the rules of two atoms, some first labels of bodies at a time."""
        self.engine.create("degree", "SELECT source, count(*) AS edges FROM edge GROUP BY source")
        share = self._choose_starts(steps, seed)
        cost = self.engine.rows(
            "SELECT e.label, sum(d.edges) FROM edge e JOIN start s ON s.source = e.source "
            "JOIN degree d ON d.source = e.target GROUP BY e.label ORDER BY e.label"
        )
        done = 0
        for labels in _batches([(int(label), int(paths)) for label, paths in cost]):
            if self.until is not None and time.monotonic() >= self.until:
                return
            self._join(labels)
            itself = f"p.b1 = {self._inverse('p.b2')} AND h.label >= {self.relations}"
            yield self._admitted(f"NOT ({itself})", share)
            done += len(labels)
            self.observer.advanced("paths of 2", done, len(cost), "relations")

    def _choose_starts(self, steps: int, seed: int) -> float:
        """Make the table ``start`` of the entities that begin paths; return which share of all they are."""
        total = self.engine.rows("SELECT sum(d.edges) FROM edge e JOIN degree d ON d.source = e.target")[0][0] or 0
        sources = np.sort(self.engine.fetch("degree", ["source"])[:, 0])
        wanted = len(sources) if total <= steps else max(1, int(len(sources) * (steps / int(total))))
        chosen = sources
        if wanted < len(sources):
            chosen = np.sort(np.random.default_rng(seed).choice(sources, wanted, replace=False))
        self.engine.load("start", chosen[:, None], ["source"])
        return wanted / max(len(sources), 1)

    def _join(self, labels: list[int]) -> None:
        self.engine.load("first_label", np.array(labels, np.int32)[:, None], ["label"])
        self.engine.create(
            "joined",
            "SELECT DISTINCT e.label AS b1, f.label AS b2, e.source AS x, f.target AS z FROM edge e "
            "JOIN first_label l ON l.label = e.label JOIN start s ON s.source = e.source "
            "JOIN edge f ON f.source = e.target "
            f"WHERE e.source <> f.target AND e.label <= {self._inverse('f.label')}",
        )
        self.engine.define("path", "SELECT * FROM joined")

    def _admitted(self, heads: str, share: float) -> PathRules:
        """Return the rules of the bodies in ``path`` that reach the thresholds; ``heads`` says which h may be heads."""
        least = self.min_support if share == 1 else max(self.min_support, SEEN)
        self.engine.create("body", "SELECT b1, b2, count(*) AS pairs FROM path GROUP BY b1, b2")
        self.engine.create(
            "rule",
            "SELECT r.b1, r.b2, r.h, r.support, b.pairs FROM ("
            "SELECT p.b1, p.b2, h.label AS h, count(*) AS support FROM path p "
            f"JOIN edge h ON h.source = p.x AND h.target = p.z WHERE {heads} GROUP BY p.b1, p.b2, h.label"
            ") r JOIN body b ON b.b1 = r.b1 AND b.b2 = r.b2 "
            f"WHERE r.support >= {least} AND r.support >= {self.min_confidence * _ROUNDING!r} * (b.pairs + {PRIOR!r})",
        )
        self.engine.create(
            "counted",
            "SELECT r.b1, r.b2, r.h, r.support, r.pairs, count(x.label) AS at_x, count(z.label) AS at_z "
            "FROM rule r JOIN path p ON p.b1 = r.b1 AND p.b2 = r.b2 "
            "LEFT JOIN known_end x ON x.label = r.h AND x.source = p.x "
            f"LEFT JOIN known_end z ON z.label = {self._inverse('r.h')} AND z.source = p.z "
            "GROUP BY r.b1, r.b2, r.h, r.support, r.pairs",
        )
        columns = ["b1", "b2", "h", "support", "pairs", "at_x", "at_z"]
        return self._rules(self.engine.fetch("counted", columns, np.int64), share)

    def _rules(self, rows: NDArray[np.int64], share: float) -> PathRules:
        support, pairs = rows[:, 3], rows[:, 4]
        rows = rows[support / (pairs + PRIOR) >= self.min_confidence]
        bodies = np.full((len(rows), MOST_ATOMS), -1, np.int64)
        bodies[:, :2], heads, known = rows[:, :2], rows[:, 2], rows[:, 5:].copy()
        backwards = heads >= self.relations  # a head of the body walked backwards
        bodies[backwards, :2] = ((rows[backwards, :2] + self.relations) % (2 * self.relations))[:, ::-1]
        known[backwards] = known[backwards, ::-1]
        counts = rows[:, 3] / share, rows[:, 4] / share, known / share
        return PathRules(self.relations, heads % self.relations, bodies, *counts, np.full(len(rows), share))

    def _inverse(self, label: str) -> str:
        relations = self.relations
        return f"CASE WHEN {label} < {relations} THEN {label} + {relations} ELSE {label} - {relations} END"


def _batches(cost: list[tuple[int, int]]) -> Iterator[list[int]]:
    """Yield labels whose paths are joined together; one that has too many is alone."""
    batch: list[int] = []
    size = 0
    for label, paths in cost:
        if batch and size + paths > BATCH:
            yield batch
            batch, size = [], 0
        batch.append(label)
        size += paths
    if batch:
        yield batch
