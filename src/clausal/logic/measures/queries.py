"""SQL that counts what many clauses of one shape predict: their ids stand in a table, so one query serves all."""

from __future__ import annotations

from collections.abc import Sequence

from clausal.logic.measures.plan import Pattern


def body_query(patterns: Sequence[Pattern], counted: int) -> str:
    """Return the query for the instances of bodies: their ``id`` and the counted variables ``v0``, ``v1`` …, distinct.

    The table ``body`` has an ``id``, the relations ``r0`` … of the atoms and the constants ``c1`` …; ``fact`` the
    facts. Atoms are joined one by one, and a variable that nothing needs any more is dropped at once, so that the
    paths between two entities are not listed one by one.
    """
    query, bound = "body", set[int]()
    atoms = _order(patterns, counted)
    for position, atom in enumerate(atoms):
        later = atoms[position + 1 :]
        needed = set(range(counted)) | {slot for index in later for slot in patterns[index] if slot >= 0}
        conditions, new = [f"f.relation = s.r{atom}"], dict[int, str]()
        for slot, column in zip(patterns[atom], ("f.subject", "f.object"), strict=True):
            if slot < 0:
                conditions.append(f"{column} = s.c{-slot}")
            elif slot in bound:
                conditions.append(f"{column} = s.v{slot}")
            elif slot in new:
                conditions.append(f"{column} = {new[slot]}")
            else:
                new[slot] = column
        kept = [f"{new[slot]} AS v{slot}" for slot in sorted(needed & new.keys())]
        dropped = bound - needed or (kept and new.keys() - needed)
        columns = ["s.id", *(f"s.v{slot}" for slot in sorted(bound & needed)), *kept]
        columns += [f"s.r{index}" for index in later]
        columns += [f"s.c{-slot}" for index in later for slot in patterns[index] if slot < 0]
        query = (
            f"SELECT {'DISTINCT ' if dropped else ''}{', '.join(columns)} "
            f"FROM {query if query == 'body' else f'({query})'} s "
            f"{'' if kept else 'SEMI '}JOIN fact f ON {' AND '.join(conditions)}"
        )
        bound = (bound | new.keys()) & needed
    return query


def head_query(pattern: Pattern, side: str) -> str:
    """Return the query for support and PCA body of heads: ``id``, ``support``, ``pca_body``.

    The table ``instance`` has what ``body_query`` returns; ``head`` the clauses' ``id``, ``body``, ``relation`` and
    constants ``c1`` …; ``known_subject`` and ``known_object`` the entities of each relation. ``side`` is the argument
    of which some fact must be known.
    """
    subject, object = (f"i.v{slot}" if slot >= 0 else f"h.c{-slot}" for slot in pattern)
    fixed = subject if side == "subject" else object
    return (
        "SELECT h.id, count(f.relation) AS support, count(k.relation) AS pca_body "
        "FROM instance i JOIN head h ON h.body = i.id "
        f"LEFT JOIN fact f ON f.relation = h.relation AND f.subject = {subject} AND f.object = {object} "
        f"LEFT JOIN known_{side} k ON k.relation = h.relation AND k.entity = {fixed} GROUP BY h.id"
    )


def _order(patterns: Sequence[Pattern], counted: int) -> list[int]:
    """Return the order of joining: constants first, then what is connected, then what has the head's variables."""
    order: list[int] = []
    bound: set[int] = set()

    def worth(index: int) -> tuple[int, int, int]:
        slots = patterns[index]
        return (
            sum(slot in bound for slot in slots),
            sum(slot < 0 for slot in slots),
            sum(0 <= slot < counted for slot in slots),
        )

    while len(order) < len(patterns):
        best = max((index for index in range(len(patterns)) if index not in order), key=worth)
        order.append(best)
        bound |= set(patterns[best])
    return order
