"""What runs the rounds of a closure: a place for facts and rules that answers one query per round.

DuckDB is the engine on this machine: embedded, on every core, spilling to disk beyond its memory limit.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from clausal.graph import Facts
from clausal.logic.rules import RuleGroup
from clausal.logic.sql import id_columns, rule_table
from clausal.logic.store import fetch_facts, load_facts, load_rows, open_store, readable_errors


class Engine(Protocol):
    """Holds the tables ``known``, ``delta`` and ``rules_N`` of ``round_query``."""

    def load(self, facts: Facts, groups: Sequence[RuleGroup]) -> None:
        """Make the facts known, and a table of each group's rules."""

    def derive(self, query: str) -> Facts:
        """Return the facts that a round's query finds, which become the ``delta`` and are known from now on."""

    def close(self) -> None:
        """Let go of everything."""


class DuckEngine:
    """An in-memory database for one closure."""

    def __init__(self, memory: str | None = None, threads: int | None = None) -> None:
        self._connection = open_store(memory, threads)

    def load(self, facts: Facts, groups: Sequence[RuleGroup]) -> None:
        with readable_errors("the closure"):
            # Sorted by relation, whole blocks of rows can be skipped that no rule asks for.
            load_facts(self._connection, facts[_order_by_relation(facts)], "known")
            for number, group in enumerate(groups):
                rows, columns = rule_rows(group)
                load_rows(self._connection, rows, rule_table(number), columns)

    def derive(self, query: str) -> Facts:
        with readable_errors("the closure"):
            self._connection.execute(f"CREATE TABLE fresh AS {query}")
            self._connection.execute("DROP TABLE IF EXISTS delta")
            self._connection.execute("ALTER TABLE fresh RENAME TO delta")
            self._connection.execute("INSERT INTO known SELECT subject, relation, object FROM delta")
            return fetch_facts(self._connection, "SELECT subject, relation, object FROM delta")

    def close(self) -> None:
        self._connection.close()


def rule_rows(group: RuleGroup) -> tuple[NDArray[np.int32], list[str]]:
    """Return the rules of a group as the rows of a table, and the names of its columns."""
    first = group.rules[0]
    rows = np.array([[*rule.relations, *rule.constants] for rule in group.rules], dtype=np.int32)
    return rows, id_columns(len(first.relations), len(first.constants))


def _order_by_relation(facts: Facts) -> NDArray[np.intp]:
    relations = facts[:, 1]
    if len(facts) and relations.max() < 2**16:
        relations = relations.astype(np.uint16)  # which numpy sorts in linear time
    return np.argsort(relations, kind="stable")
