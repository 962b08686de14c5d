"""SQL that applies many rules of one shape at once: their ids stand in a table, so that one query serves all of them.

Facts are tables (subject, relation, object). A table of rules has the columns ``r0``, ``r1`` … for the relations of the
atoms and ``c0``, ``c1`` … for the constants. The queries of the closure keep to what DuckDB and Spark have in common.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from clausal.logic.rules import RuleGroup, RuleShape
from clausal.logic.shape import AtomShape, Slot


def id_columns(relations: int, constants: int) -> list[str]:
    """Name the columns of a table of rules with so many relations and constants."""
    return [*(f"r{index}" for index in range(relations)), *(f"c{index}" for index in range(constants))]


def rule_table(group: int) -> str:
    """Name the table of the rules of a group."""
    return f"rules_{group}"


def round_query(groups: Sequence[RuleGroup], fresh: Collection[int] | None) -> str | None:
    """Return the query for the facts that a round of the closure is the first to derive; None where no rule applies.

    The tables are ``known``, all facts so far, ``delta``, those of the round before, and ``rules_N`` for each group.
    Chaining is semi-naive: each derivation must use a fact of ``delta``, whose relations are ``fresh``. In the first
    round that is None, and every derivation from ``known`` counts.
    """
    selects = list(_round_selects(groups, fresh))
    if not selects:
        return None
    candidates = "\nUNION ALL\n".join(selects)
    return (
        f"SELECT DISTINCT subject, relation, object FROM (\n{candidates}\n) AS candidate\n"
        "WHERE NOT EXISTS (SELECT 1 FROM known WHERE known.subject = candidate.subject"
        " AND known.relation = candidate.relation AND known.object = candidate.object)"
    )


def _round_selects(groups: Sequence[RuleGroup], fresh: Collection[int] | None) -> Iterator[str]:
    for number, group in enumerate(groups):
        if fresh is None:
            yield _derive(rule_table(number), group.shape, None)
            continue
        for position in range(len(group.shape.body)):
            if not group.relations_at(position).isdisjoint(fresh):
                yield _derive(rule_table(number), group.shape, position)


def _derive(rules: str, shape: RuleShape, delta: int | None) -> str:
    """Join the rules of one shape with their body atoms, the one at position ``delta`` with new facts only."""
    tables = [f"{rules} AS rule"]
    conditions: list[str] = []
    columns: dict[Slot, str] = {}
    for atom in shape.body:
        tables.append(f"{'delta' if atom.index == delta else 'known'} AS atom{atom.index}")
        conditions += _match(atom, f"atom{atom.index}", "rule", columns)
    head = shape.atoms[-1]
    subject, object = (_column(slot, "rule", columns) for slot in head.slots)
    where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
    return (
        f"SELECT {subject} AS subject, rule.r{head.index} AS relation, {object} AS object"
        f" FROM {', '.join(tables)}{where}"
    )


def body_query(body: Sequence[AtomShape], counted: Collection[Slot]) -> str:
    """Return the query for the distinct instances of bodies of one shape: ``id``, and ``v0`` … of counted variables.

    The table ``body`` has an ``id`` beside the columns of rules; ``fact`` has the facts. Atoms are joined one by one,
    and a variable that nothing needs any more is dropped at once, so that the paths between two entities are not
    listed one by one.
    """
    query, bound = "body", set[Slot]()
    atoms = _join_order(body, counted)
    for position, atom in enumerate(atoms):
        later = atoms[position + 1 :]
        later_slots = {slot for other in later for slot in other.slots}
        needed = set(counted) | _variables(later_slots)
        columns = {slot: f"s.v{slot.index}" for slot in bound}
        conditions = _match(atom, "f", "s", columns)
        new = columns.keys() - bound
        kept = [f"{columns[slot]} AS v{slot.index}" for slot in _in_order(needed & new)]
        dropped = bound - needed or (kept and new - needed)
        selected = ["s.id", *(columns[slot] for slot in _in_order(bound & needed)), *kept]
        selected += [f"s.r{other.index}" for other in later]
        selected += [f"s.c{slot.index}" for slot in _in_order(later_slots - _variables(later_slots))]
        query = (
            f"SELECT {'DISTINCT ' if dropped else ''}{', '.join(selected)} "
            f"FROM {query if query == 'body' else f'({query})'} s "
            f"{'' if kept else 'SEMI '}JOIN fact f ON {' AND '.join(conditions)}"
        )
        bound = (bound | new) & needed
    return query


def head_query(head: AtomShape, side: str) -> str:
    """Return the query for support and PCA body of heads of one shape: ``id``, ``support``, ``pca_body``.

    The table ``instance`` has what ``body_query`` returns; ``head`` the rules' ``id``, the ``body`` that each has, its
    ``relation`` and its constants; ``known_subject`` and ``known_object`` the entities of each relation. ``side`` is
    the argument of which some fact must be known.
    """
    columns = {slot: f"i.v{slot.index}" for slot in head.slots}
    subject, object = (_column(slot, "h", columns) for slot in head.slots)
    entity = subject if side == "subject" else object
    return (
        "SELECT h.id, count(f.relation) AS support, count(k.relation) AS pca_body "
        "FROM instance i JOIN head h ON h.body = i.id "
        f"LEFT JOIN fact f ON f.relation = h.relation AND f.subject = {subject} AND f.object = {object} "
        f"LEFT JOIN known_{side} k ON k.relation = h.relation AND k.entity = {entity} GROUP BY h.id"
    )


def _match(atom: AtomShape, fact: str, rule: str, columns: dict[Slot, str]) -> list[str]:
    """Return the conditions under which a row of facts is an atom of a row of rules.

    ``columns`` says where each variable has its value; those that occur here first are added to it.
    """
    conditions = [f"{fact}.relation = {rule}.r{atom.index}"]
    for field, slot in zip(("subject", "object"), atom.slots, strict=True):
        column = f"{fact}.{field}"
        if slot.kind == "variable" and slot not in columns:
            columns[slot] = column
        else:
            conditions.append(f"{column} = {_column(slot, rule, columns)}")
    return conditions


def _column(slot: Slot, rule: str, columns: dict[Slot, str]) -> str:
    return f"{rule}.c{slot.index}" if slot.kind == "constant" else columns[slot]


def _variables(slots: Collection[Slot]) -> set[Slot]:
    return {slot for slot in slots if slot.kind == "variable"}


def _in_order(slots: Collection[Slot]) -> list[Slot]:
    return sorted(slots, key=lambda slot: slot.index)


def _join_order(body: Sequence[AtomShape], counted: Collection[Slot]) -> list[AtomShape]:
    """Return the order of joining: what is connected first, then what has constants, then the head's variables."""
    waiting = list(body)
    order: list[AtomShape] = []
    bound: set[Slot] = set()

    def worth(atom: AtomShape) -> tuple[int, int, int]:
        return (
            sum(slot in bound for slot in atom.slots),
            sum(slot.kind == "constant" for slot in atom.slots),
            sum(slot in counted for slot in atom.slots),
        )

    while waiting:
        best = max(waiting, key=worth)
        waiting.remove(best)
        order.append(best)
        bound |= _variables(best.slots)
    return order
