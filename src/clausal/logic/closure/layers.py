"""The facts of a closure in an engine: those given, and on top of them a layer for the facts of each round."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from clausal.errors import RunError
from clausal.graph import Facts
from clausal.logic.engines import Engine
from clausal.logic.engines.engine import Within
from clausal.logic.rules import RuleGroup
from clausal.logic.sql import id_columns, new_facts, rule_table, some_candidates, union_all
from clausal.logic.store import FACT_COLUMNS, NoRoomError

_MERGED = 10  # layers that become one, so that queries of many rounds stay short
_SORTED = 1 << 23  # given facts that are sorted at a time
_FETCHED = 1 << 22  # derived facts that are fetched at a time
_FIRST_CANDIDATES = 1_000_000
_MORE = 8
_CUTS, _MOST_CUTS = 4, 64  # of subjects and of objects, where the facts of a round have no room at once


class Layers:
    """Keeps the tables ``known``, ``delta`` and ``rules_N`` of ``round_queries``."""

    def __init__(self, engine: Engine, facts: Facts, groups: Sequence[RuleGroup], relations: Collection[int]) -> None:
        self._engine = engine
        blocks = _by_relation(facts, relations)
        engine.load("given", next(blocks) if len(facts) <= _SORTED else blocks, FACT_COLUMNS)
        for number, group in enumerate(groups):
            rows, columns = rule_rows(group)
            engine.load(rule_table(number), rows, columns)
        self._layers: list[str] = []
        engine.define("known", _union(["given"]))

    def derive(self, queries: Sequence[str], round: int, limit: int | None, total: int) -> dict[int, int]:
        """Add the new facts among what a round's queries find; return how many there are of each relation.

        Beyond the limit, of which ``total`` is used up, a ``RunError`` ends it, as early as the engine can.
        """
        layer = f"round_{round}"
        try:
            self._at_once(layer, queries, round, limit, total)
        except NoRoomError:
            self._in_slices(layer, queries, round, limit, total)
        self._engine.define("delta", _union([layer]))
        new = dict(self._engine.rows("SELECT relation, count(*) FROM delta GROUP BY relation"))
        if limit is not None and total + sum(new.values()) > limit:
            raise _beyond(limit, round)
        self._layers.append(layer)
        if len(self._layers) >= _MERGED:
            self._merge(round)
        self._engine.define("known", _union(["given", *self._layers]))
        return new

    def _at_once(self, layer: str, queries: Sequence[str], round: int, limit: int | None, total: int) -> None:
        """Make a table of the new facts among what all queries find."""
        candidates = union_all(queries)
        if limit is not None and self._pays(limit):
            candidates = self._bounded(candidates, round, limit, total)
        self._engine.create(layer, new_facts(candidates, round))

    def _in_slices(self, layer: str, queries: Sequence[str], round: int, limit: int | None, total: int) -> None:
        """Do the same in little memory: what each query finds is written to disk, and then looked at in slices."""
        most = None if limit is None else 2 * limit + _FIRST_CANDIDATES
        while True:
            through = self._write_candidates(queries, most)
            slices: list[str] = []

            def add(own: str, slices: list[str] = slices) -> None:
                some, known = (f"SELECT * FROM {table} WHERE {own}" for table in ("candidates", "known"))
                self._create_next(f"{layer}_slice", slices, new_facts(some, round, f"({known})"))
                if limit is not None and total + self._rows_of(slices) > limit:
                    raise _beyond(limit, round)

            _where_there_is_room(add)
            self._drop(["candidates"])
            if most is None or through:
                break
            self._drop(slices)
            most *= _MORE
        self._engine.create(layer, _union(slices, (*FACT_COLUMNS, "round")))
        self._drop(slices)

    def _write_candidates(self, queries: Sequence[str], most: int | None) -> bool:
        """Make the table ``candidates`` of what the queries find, so many of each at most; say whether that is all."""
        limit = "" if most is None else f" LIMIT {most}"
        tables: list[str] = []
        for query in queries:

            def add(own: str, query: str = query) -> None:
                self._create_next("some", tables, f"SELECT * FROM (\n{query}\n) AS found WHERE {own}{limit}")

            _where_there_is_room(add)
        through = most is None or all(self._rows_of([table]) < most for table in tables)
        self._engine.create("candidates", _union(tables))
        self._drop(tables)
        return through

    def _create_next(self, name: str, tables: list[str], query: str) -> None:
        table = f"{name}_{len(tables)}"
        self._engine.create(table, query)
        tables.append(table)

    def _rows_of(self, tables: Sequence[str]) -> int:
        return sum(self._engine.rows(f"SELECT count(*) FROM {table}")[0][0] for table in tables)

    def _drop(self, tables: Sequence[str]) -> None:
        for table in tables:
            self._engine.drop(table)

    def fetch(self) -> Iterator[NDArray[np.int32]]:
        """Yield the derived facts, with their rounds in a fourth column.

        Those of a round come some at a time, the ones with smaller subjects before the others.
        """
        for layer in self._layers:
            for some in self._by_subject(layer):
                yield self._engine.fetch(layer, (*FACT_COLUMNS, "round"), within=some)

    def _by_subject(self, layer: str) -> Iterator[Within]:
        """Yield subjects that part a table, so that each part has room in memory."""
        rows, low, high = self._engine.rows(f"SELECT count(*), min(subject), max(subject) FROM {layer}")[0]
        if rows:
            borders = np.linspace(low, high + 1, -(-rows // _FETCHED) + 1).astype(np.int64).tolist()
            yield from (Within("subject", first, end) for first, end in pairwise(borders))

    def _pays(self, limit: int) -> bool:
        most = self._engine.most_limited
        return most is None or limit <= most

    def _bounded(self, candidates: str, round: int, limit: int, total: int) -> str:
        """Find the distinct candidates of a round a part at a time, so that too many are noticed inside the round."""
        most = 2 * limit + _FIRST_CANDIDATES
        while True:
            self._engine.create("candidates", some_candidates(candidates, most))
            distinct, seen = self._engine.rows("SELECT count(*), sum(times) FROM candidates")[0]
            if (seen or 0) < most:
                return "SELECT subject, relation, object FROM candidates"
            if distinct > limit:  # or else most of them may be known
                found = f"SELECT count(*) FROM ({new_facts('SELECT * FROM candidates', round)}) AS found"
                if total + self._engine.rows(found)[0][0] > limit:
                    raise _beyond(limit, round)
            most *= _MORE

    def _merge(self, round: int) -> None:
        merged = f"until_{round}"
        self._engine.create(merged, _union(self._layers, (*FACT_COLUMNS, "round")))
        self._engine.define("delta", f"SELECT {', '.join(FACT_COLUMNS)} FROM {merged} WHERE round = {round}")
        self._drop(self._layers)
        self._layers = [merged]


def _where_there_is_room(work: Callable[[str], None], cuts: int = 1, subject: int = 0, object: int = 0) -> None:
    """Do something with facts under a condition; where they have no room, in smaller slices of them.

    Subjects and objects are both cut, so that both sides of a join become smaller.
    """
    try:
        work(f"subject % {cuts} = {subject} AND object % {cuts} = {object}")
        return
    except NoRoomError:
        if cuts == _MOST_CUTS:
            raise
    for x in range(subject, cuts * _CUTS, cuts):
        for y in range(object, cuts * _CUTS, cuts):
            _where_there_is_room(work, cuts * _CUTS, x, y)


def _union(tables: Sequence[str], columns: Sequence[str] = FACT_COLUMNS) -> str:
    return union_all(f"SELECT {', '.join(columns)} FROM {table}" for table in tables)


def rule_rows(group: RuleGroup) -> tuple[NDArray[np.int32], list[str]]:
    """Return the rules of a group as the rows of a table, and the names of its columns."""
    first = group.rules[0]
    rows = np.array([[id, *rule.relations, *rule.constants] for id, rule in enumerate(group.rules)], dtype=np.int32)
    return rows, ["id", *id_columns(len(first.relations), len(first.constants))]


def _beyond(limit: int, round: int) -> RunError:
    return RunError(
        f"the closure has more than the limit of {limit:,} facts in round {round}; raise the limit, take fewer rounds, "
        "or look for a clause that joins everything with everything"
    )


def _by_relation(facts: Facts, relations: Collection[int]) -> Iterator[Facts]:
    """Yield the facts whose relation occurs in a rule, as no other can be joined with or derived again, in blocks.

    Sorted by relation, whole rows of blocks can be skipped that no rule asks for.
    """
    occurs = np.zeros(max(relations, default=0) + 2, dtype=np.bool_)
    occurs[list(relations)] = True
    for start in range(0, max(len(facts), 1), _SORTED):
        block = facts[start : start + _SORTED]
        block = block[occurs[np.minimum(block[:, 1], len(occurs) - 1)]]
        asked = block[:, 1]
        if len(occurs) <= 1 << 16:
            asked = asked.astype(np.uint16)  # which numpy sorts in linear time
        yield block[np.argsort(asked, kind="stable")]
