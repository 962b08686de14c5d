"""Counting on DuckDB: the bodies of one shape in batches, each followed by the heads that share them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from clausal.graph import Facts
from clausal.logic.measures.plan import Body, Head, Pattern
from clausal.logic.measures.queries import body_query, head_query
from clausal.logic.store import explained, load_facts, load_rows, open_store

Counts: TypeAlias = tuple[int, int, int, int]
"""A clause's index, its support, its body's instances, and those that count under the PCA."""

_FIRST = 8  # bodies in the first batch
_MOST = 50_000
_INSTANCES = 3_000_000  # in a batch: few enough for little memory


class Counter:
    """Facts in DuckDB, ready to count clauses on; to be used in a ``with``."""

    def __init__(self, facts: Facts, entities: int, memory: str | None = None) -> None:
        self._entities = entities
        self._connection = open_store(memory)
        load_facts(self._connection, facts)
        for side in ("subject", "object"):
            self._connection.execute(
                f"CREATE TABLE known_{side} AS SELECT DISTINCT relation, {side} AS entity FROM fact"
            )
        sizes = {side: self._by_relation(f"known_{side}") for side in ("subject", "object")}
        # AMIE keeps the argument that determines the other one better.
        self._of_objects = {key for key, count in sizes["object"].items() if count > sizes["subject"][key]}

    def __enter__(self) -> Counter:
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()

    def count(self, heads: Mapping[Body, Sequence[tuple[int, Head]]]) -> Iterator[list[Counts]]:
        """Yield the counts of all heads, some at a time."""
        shapes: dict[tuple[tuple[Pattern, ...], int], list[Body]] = defaultdict(list)
        for body in heads:
            shapes[body.patterns, body.counted].append(body)
        for (patterns, counted), bodies in shapes.items():
            query = body_query(patterns, counted) if patterns else self._every_instance(counted)
            start, size = 0, _FIRST
            while start < len(bodies):
                batch = bodies[start : start + size]
                with explained("the counting"):
                    instances = self._count_bodies(batch, query)
                    counts = self._count_heads(batch, heads, instances)
                yield counts
                start += len(batch)
                each = max(1, sum(instances.values())) / len(batch)
                size = min(4 * len(batch), _MOST, max(1, int(_INSTANCES / each)))

    def _every_instance(self, counted: int) -> str:
        """Return the query for a clause without a body, which speaks of all entities."""
        ranges = "".join(f", range({self._entities}) e{index}(v{index})" for index in range(counted))
        columns = "".join(f", e{index}.v{index}::INTEGER AS v{index}" for index in range(counted))
        return f"SELECT s.id{columns} FROM body s{ranges}"

    def _count_bodies(self, bodies: Sequence[Body], query: str) -> dict[int, int]:
        columns = {"id": list(range(len(bodies)))}
        for index in range(len(bodies[0].relations)):
            columns[f"r{index}"] = [body.relations[index] for body in bodies]
        for index in range(len(bodies[0].constants)):
            columns[f"c{index + 1}"] = [body.constants[index] for body in bodies]
        self._load("body", columns)
        self._connection.execute(f"CREATE OR REPLACE TABLE instance AS {query}")
        return dict(self._rows("SELECT id, count(*) FROM instance GROUP BY id"))

    def _count_heads(
        self,
        bodies: Sequence[Body],
        heads: Mapping[Body, Sequence[tuple[int, Head]]],
        instances: Mapping[int, int],
    ) -> list[Counts]:
        groups: dict[tuple[Pattern, str], list[tuple[int, int, Head]]] = defaultdict(list)
        counted: dict[int, tuple[int, int]] = {}
        size: dict[int, int] = {}
        for number, body in enumerate(bodies):
            for index, head in heads[body]:
                size[index] = instances.get(number, 0)
                if head.relation is not None and size[index]:
                    groups[head.pattern, self._side(head)].append((index, number, head))
        for (pattern, side), members in groups.items():
            columns = {
                "id": [index for index, _, _ in members],
                "body": [number for _, number, _ in members],
                "relation": [head.relation for _, _, head in members],
            }
            for index in range(len(members[0][2].constants)):
                columns[f"c{index + 1}"] = [head.constants[index] for _, _, head in members]
            self._load("head", columns)
            counted.update((index, (support, pca)) for index, support, pca in self._rows(head_query(pattern, side)))
        none = 0, 0
        return [(index, counted.get(index, none)[0], body, counted.get(index, none)[1]) for index, body in size.items()]

    def _side(self, head: Head) -> str:
        """Return the argument that stays: the variable of a head with a constant, else the more functional one."""
        variables = [slot >= 0 for slot in head.pattern]
        if variables[0] != variables[1]:
            return "subject" if variables[0] else "object"
        return "object" if head.relation in self._of_objects else "subject"

    def _by_relation(self, table: str) -> dict[int, int]:
        return dict(self._rows(f"SELECT relation, count(*) FROM {table} GROUP BY relation"))

    def _rows(self, query: str) -> list[Any]:
        return self._connection.execute(query).fetchall()

    def _load(self, table: str, columns: Mapping[str, Any]) -> None:
        load_rows(self._connection, np.array(list(columns.values()), dtype=np.int32).T, table, list(columns))
