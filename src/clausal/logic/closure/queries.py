"""One round of semi-naive forward chaining as one SQL query, in the words that DuckDB and Spark have in common.

The tables are ``known`` and ``delta`` (subject, relation, object) and, for each group of rules, ``rules_N``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from clausal.logic.closure.plan import RuleGroup, RuleShape
from clausal.logic.shape import Slot


def rule_columns(shape: RuleShape) -> list[str]:
    """Name the columns of the table of a group's rules: a relation for each atom, then the constants."""
    return [*(f"r{index}" for index in range(len(shape.body) + 1)), *(f"c{index}" for index in range(shape.constants))]


def rule_table(group: int) -> str:
    """Name the table of a group's rules."""
    return f"rules_{group}"


def round_query(groups: Sequence[RuleGroup], fresh: Collection[int] | None) -> str | None:
    """Return the query for the facts that a round derives for the first time, or None where no rule applies.

    ``fresh`` holds the relations of the facts in ``delta``, those of the round before: each derivation must use
    one of them. In the first round it is None, and every derivation from ``known`` counts.
    """
    selects = list(_selects(groups, fresh))
    if not selects:
        return None
    candidates = "\nUNION ALL\n".join(selects)
    return (
        f"SELECT DISTINCT subject, relation, object FROM (\n{candidates}\n) AS candidate\n"
        "WHERE NOT EXISTS (SELECT 1 FROM known WHERE known.subject = candidate.subject"
        " AND known.relation = candidate.relation AND known.object = candidate.object)"
    )


def _selects(groups: Sequence[RuleGroup], fresh: Collection[int] | None) -> Iterator[str]:
    for number, group in enumerate(groups):
        if fresh is None:
            yield _select(rule_table(number), group.shape, None)
            continue
        for position in range(len(group.shape.body)):
            if not group.relations_at(position).isdisjoint(fresh):
                yield _select(rule_table(number), group.shape, position)


def _select(rules: str, shape: RuleShape, delta: int | None) -> str:
    """Join the rules of one shape with their body atoms, the one at position ``delta`` with new facts only."""
    tables = [f"{rules} AS rule"]
    conditions = []
    places: dict[Slot, str] = {}  # where each variable is bound first
    for atom in shape.body:
        name = f"atom{atom.index}"
        tables.append(f"{'delta' if atom.index == delta else 'known'} AS {name}")
        conditions.append(f"{name}.relation = rule.r{atom.index}")
        for field, slot in zip(("subject", "object"), atom.slots, strict=True):
            place = f"{name}.{field}"
            if slot.kind == "constant":
                conditions.append(f"{place} = rule.c{slot.index}")
            elif places.setdefault(slot, place) != place:
                conditions.append(f"{place} = {places[slot]}")
    subject, object = (f"rule.c{slot.index}" if slot.kind == "constant" else places[slot] for slot in shape.head.slots)
    where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
    return (
        f"SELECT {subject} AS subject, rule.r{shape.head.index} AS relation, {object} AS object"
        f" FROM {', '.join(tables)}{where}"
    )
