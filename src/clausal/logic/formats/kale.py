"""KALE and FB122: ``a(x,y)&&b(y,z)==>c(x,z)``. Read as part of the clause language; written here."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from clausal.logic.formats.writing import cannot_write, horn_parts_of
from clausal.logic.names import write_relation
from clausal.logic.syntax import Atom, Clause, Constant, Falsum, Term

_LETTERS = "xyzuvwabcdefghijklmnopqrst"


def write(clauses: Iterable[Clause]) -> Iterator[str]:
    """Write one line for each clause; weights have no place in this format."""
    for clause in clauses:
        body, head = horn_parts_of(clause, "KALE")
        if isinstance(head, Falsum) or not body:
            raise cannot_write(clause, "KALE has rules with a body and a head only")
        letters: dict[Term, str] = {}
        for term in (term for atom in (*body, head) for term in atom.terms):
            if isinstance(term, Constant):
                raise cannot_write(clause, "KALE has no constants")
            if term not in letters and len(letters) == len(_LETTERS):
                raise cannot_write(clause, f"KALE has {len(_LETTERS)} letters for variables")
            letters.setdefault(term, _LETTERS[len(letters)])
        yield "&&".join(_atom(clause, atom, letters) for atom in body) + f"==>{_atom(clause, head, letters)}"


def _atom(clause: Clause, atom: Atom, letters: dict[Term, str]) -> str:
    if write_relation(atom.relation) != atom.relation:
        raise cannot_write(clause, f"KALE has no quotes, which the name '{atom.relation}' needs")
    return f"{atom.relation}({letters[atom.subject]},{letters[atom.object]})"
