"""The facts of a closure in an engine: those given, and on top of them a layer for the facts of each round."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from clausal.errors import RunError
from clausal.graph import Facts
from clausal.logic.engines import Engine
from clausal.logic.rules import RuleGroup
from clausal.logic.sql import id_columns, new_facts, rule_table, some_candidates
from clausal.logic.store import FACT_COLUMNS, NoRoomError

_MERGED = 10  # layers that become one, so that queries of many rounds stay short
_FIRST_CANDIDATES = 1_000_000
_MORE = 8
_SLICES = 16  # of a round whose facts have no room at once


class Layers:
    """Keeps the tables ``known``, ``delta`` and ``rules_N`` of ``round_query``."""

    def __init__(self, engine: Engine, facts: Facts, groups: Sequence[RuleGroup]) -> None:
        self._engine = engine
        # Sorted by relation, whole blocks of rows can be skipped that no rule asks for.
        engine.load("given", facts[_order_by_relation(facts)], FACT_COLUMNS)
        for number, group in enumerate(groups):
            rows, columns = rule_rows(group)
            engine.load(rule_table(number), rows, columns)
        self._layers: list[str] = []
        engine.define("known", _union(["given"]))

    def derive(self, candidates: str, round: int, limit: int | None, total: int) -> dict[int, int]:
        """Add the new facts among what a round's query finds; return how many there are of each relation.

        Beyond the limit, of which ``total`` is used up, a ``RunError`` ends it, as early as the engine can.
        """
        if limit is not None and self._pays(limit):
            candidates = self._bounded(candidates, round, limit, total)
        layers = self._add(candidates, round)
        self._engine.define("delta", _union(layers))
        new = dict(self._engine.rows("SELECT relation, count(*) FROM delta GROUP BY relation"))
        if limit is not None and total + sum(new.values()) > limit:
            raise _beyond(limit, round)
        self._layers += layers
        if len(self._layers) >= _MERGED and len(layers) == 1:
            self._merge(round)
        self._engine.define("known", _union(["given", *self._layers]))
        return new

    def _add(self, candidates: str, round: int) -> list[str]:
        """Make tables of the new facts among candidates: one, or slices where all at once have no room."""
        layer = f"round_{round}"
        try:
            self._engine.create(layer, new_facts(candidates, round))
            return [layer]
        except NoRoomError:
            self._engine.create("every_candidate", candidates)
        layers = [f"{layer}_{number}" for number in range(_SLICES)]
        for number, part in enumerate(layers):
            own = f"WHERE subject % {_SLICES} = {number}"
            known = f"(SELECT * FROM known {own})"
            self._engine.create(part, new_facts(f"SELECT * FROM every_candidate {own}", round, known))
        self._engine.drop("every_candidate")
        return layers

    def fetch(self) -> NDArray[np.int32]:
        """Return the derived facts, with their rounds in a fourth column."""
        columns = (*FACT_COLUMNS, "round")
        found = [self._engine.fetch(layer, columns) for layer in self._layers]
        return np.concatenate([np.empty((0, len(columns)), np.int32), *found])

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
        self._engine.create(merged, " UNION ALL ".join(f"SELECT * FROM {layer}" for layer in self._layers))
        self._engine.define("delta", f"SELECT {', '.join(FACT_COLUMNS)} FROM {merged} WHERE round = {round}")
        for layer in self._layers:
            self._engine.drop(layer)
        self._layers = [merged]


def _union(tables: Sequence[str]) -> str:
    return " UNION ALL ".join(f"SELECT {', '.join(FACT_COLUMNS)} FROM {table}" for table in tables)


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


def _order_by_relation(facts: Facts) -> NDArray[np.intp]:
    relations = facts[:, 1]
    if len(facts) and relations.max() < 2**16:
        relations = relations.astype(np.uint16)  # which numpy sorts in linear time
    return np.argsort(relations, kind="stable")
