"""What the writers of rule formats share: Horn clauses only, and one message for what a format cannot say."""

from __future__ import annotations

from clausal.errors import InputError
from clausal.logic.lines import place
from clausal.logic.shape import horn_parts
from clausal.logic.syntax import Atom, Clause, Falsum


def horn_parts_of(clause: Clause, format: str) -> tuple[tuple[Atom, ...], Atom | Falsum]:
    """Return body and head; a clause that is not a Horn clause is an error."""
    parts = horn_parts(clause)
    if parts is None:
        raise cannot_write(clause, f"{format} has Horn clauses only")
    return parts


def cannot_write(clause: Clause, reason: str) -> InputError:
    """Say which clause a format cannot hold and why."""
    where = place(clause.source, clause.line, None)
    return InputError(
        f"{f'{where}: ' if where else ''}cannot write '{clause}': {reason}; "
        "leave this clause out or write the format 'clausal'"
    )
