"""SQL that applies many rules of one shape at once: their ids stand in a table, so that one query serves all of them.

Facts are tables (subject, relation, object). A table of rules has an ``id`` and the columns ``r0``, ``r1`` … for the
relations of the atoms and ``c0``, ``c1`` … for the constants. All queries keep to what DuckDB and Spark have in common.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from clausal.logic.rules import RuleGroup, RuleShape
from clausal.logic.shape import AtomShape, Slot


def id_columns(relations: int, constants: int) -> list[str]:
    """Name the columns of a table of rules with so many relations and constants."""
    return [*(f"r{index}" for index in range(relations)), *(f"c{index}" for index in range(constants))]


def rule_table(group: int) -> str:
    """Name the table of the rules of a group."""
    return f"rules_{group}"


def round_queries(groups: Sequence[RuleGroup], fresh: Collection[int] | None) -> list[str]:
    """Return the queries for what a round of the closure derives, with repetitions; none where no rule applies.

    The tables are ``known``, all facts so far, ``delta``, those of the round before, and ``rules_N`` for each group.
    Chaining is semi-naive: each derivation must use a fact of ``delta``, whose relations are ``fresh``. In the first
    round that is None, and every derivation from ``known`` counts.
    """
    if fresh is None:
        return [_derive(rule_table(number), group.shape, None) for number, group in enumerate(groups)]
    return [
        _derive(rule_table(number), group.shape, position)
        for number, group in enumerate(groups)
        for position in range(len(group.shape.body))
        if not group.relations_at(position).isdisjoint(fresh)
    ]


def union_all(queries: Iterable[str]) -> str:
    """Return the query for what all of these find, with repetitions."""
    return "\nUNION ALL\n".join(queries)


def new_facts(candidates: str, round: int, known: str = "known") -> str:
    """Return the query for those of the candidates that are not ``known``, each once."""
    return (
        f"SELECT DISTINCT subject, relation, object, {round} AS round FROM (\n{candidates}\n) AS candidate\n"
        f"WHERE NOT EXISTS (SELECT 1 FROM {known} AS known WHERE known.subject = candidate.subject"
        " AND known.relation = candidate.relation AND known.object = candidate.object)"
    )


def some_candidates(candidates: str, most: int) -> str:
    """Return the query for the distinct facts among so many candidates at most, with how often each was seen."""
    return (
        f"SELECT subject, relation, object, count(*) AS times FROM (\nSELECT * FROM (\n{candidates}\n) AS every "
        f"LIMIT {most}) AS seen GROUP BY subject, relation, object"
    )


def _derive(rules: str, shape: RuleShape, delta: int | None) -> str:
    """Join the rules of one shape with their body atoms, the one at position ``delta`` with new facts only."""
    head = shape.atoms[-1]
    carried = [f"r{head.index}", *(f"c{slot.index}" for slot in _in_order(_constants(head.slots)))]
    first = None if delta is None else shape.body[delta]
    subject, object = (f"{slot.kind[0]}{slot.index}" for slot in head.slots)
    instances = _instances(rules, shape.body, shape.head_variables, carried, "known", first)
    return f"SELECT {subject} AS subject, r{head.index} AS relation, {object} AS object FROM ({instances}) AS derived"


def body_query(body: Sequence[AtomShape], counted: Collection[Slot]) -> str:
    """Return the query for the distinct instances of bodies of one shape: ``id``, and ``v0`` … of counted variables.

    The table ``body`` has an ``id`` beside the columns of rules; ``fact`` has the facts.
    """
    columns = ", ".join(["id", *(f"v{slot.index}" for slot in _in_order(counted))])
    return f"SELECT DISTINCT {columns} FROM ({_instances('body', body, counted, [], 'fact')}) AS every"


def _instances(
    rules: str,
    body: Sequence[AtomShape],
    counted: Collection[Slot],
    carried: Sequence[str],
    facts: str,
    delta: AtomShape | None = None,
) -> str:
    """Return the query for instances of bodies: ``id``, the ``carried`` columns of the rules, and counted variables.

    Parts of a body that share no variable are joined apart: what has no counted variable only has to be there, and
    is looked for once a rule.
    """
    main, others = None, list[str]()
    for atoms in _connected(body):
        wanted = {slot for atom in atoms for slot in atom.slots if slot in counted}
        first = delta if delta in atoms else None
        if wanted and main is None:
            main = _chained(rules, atoms, wanted, carried, facts, first)
        else:
            part = _chained(rules, atoms, wanted, [], facts, first)
            kept = "".join(f", v{slot.index}" for slot in _in_order(wanted))
            others.append(f"{'' if wanted else 'SEMI '}JOIN (SELECT DISTINCT id{kept} FROM ({part}) AS part)")
    main = main or f"SELECT {', '.join(['id', *carried])} FROM {rules}"
    if not others:
        return main
    columns = [*(f"a.{name}" for name in ("id", *carried)), *(f"v{slot.index}" for slot in _in_order(counted))]
    joins = " ".join(f"{other} AS b{place} ON b{place}.id = a.id" for place, other in enumerate(others))
    return f"SELECT {', '.join(columns)} FROM (SELECT DISTINCT * FROM ({main}) AS part) AS a {joins}"


def _chained(
    rules: str,
    body: Sequence[AtomShape],
    counted: Collection[Slot],
    carried: Sequence[str],
    facts: str,
    delta: AtomShape | None,
) -> str:
    """Join atoms one by one, from the one at ``delta`` on; instances may repeat.

    A variable that nothing needs any more is dropped at once, so that the paths between two entities are not listed
    one by one.
    """
    query, bound = rules, set[Slot]()
    atoms = _join_order(body, counted, delta)
    for position, atom in enumerate(atoms):
        later = atoms[position + 1 :]
        later_slots = {slot for other in later for slot in other.slots}
        needed = set(counted) | _variables(later_slots)
        columns = {slot: f"s.v{slot.index}" for slot in bound}
        conditions = _match(atom, "f", "s", columns)
        new = columns.keys() - bound
        kept = [f"{columns[slot]} AS v{slot.index}" for slot in _in_order(needed & new)]
        dropped = later and (bound - needed or (kept and new - needed))
        ids = {"id", *carried, *(f"r{other.index}" for other in later)}
        ids |= {f"c{slot.index}" for slot in _constants(later_slots)}
        selected = [*(f"s.{name}" for name in sorted(ids)), *(columns[slot] for slot in _in_order(bound & needed))]
        query = (
            f"SELECT {'DISTINCT ' if dropped else ''}{', '.join([*selected, *kept])} "
            f"FROM {query if query == rules else f'({query})'} AS s "
            f"{'' if kept else 'SEMI '}JOIN {'delta' if atom == delta else facts} AS f ON {' AND '.join(conditions)}"
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


def _constants(slots: Collection[Slot]) -> set[Slot]:
    return {slot for slot in slots if slot.kind == "constant"}


def _in_order(slots: Collection[Slot]) -> list[Slot]:
    return sorted(slots, key=lambda slot: slot.index)


def _connected(body: Sequence[AtomShape]) -> list[list[AtomShape]]:
    """Part atoms into those that hang together by variables."""
    parts: list[list[AtomShape]] = []
    for atom in body:
        own = _variables(atom.slots)
        joined = [part for part in parts if any(own & _variables(other.slots) for other in part)]
        parts = [part for part in parts if part not in joined]
        parts.append([*(other for part in joined for other in part), atom])
    return [sorted(part, key=lambda atom: atom.index) for part in parts]


def _join_order(
    body: Sequence[AtomShape], counted: Collection[Slot], first: AtomShape | None = None
) -> list[AtomShape]:
    """Return the order of joining: what is connected first, then what has constants, then the head's variables."""
    waiting = list(body)
    order: list[AtomShape] = []
    bound: set[Slot] = set()

    def worth(atom: AtomShape) -> tuple[bool, int, int, int]:
        return (
            atom == first,
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
