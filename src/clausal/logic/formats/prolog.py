"""Prolog-like rules: ``c(X, Z) :- a(X, Y), b(Y, Z). <0.9>``. Read as part of the clause language; written here."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain, count

from clausal.logic.formats.writing import horn_parts_of
from clausal.logic.printer import print_formula, print_weight
from clausal.logic.syntax import And, Atom, Clause, Falsum, Term, Variable, map_leaves

_LETTERS = "XYZUVWABCDEFGHIJKLMNOPQRST"


def write(clauses: Iterable[Clause]) -> Iterator[str]:
    """Write one line for each clause: the head first, variables in upper case, the weight where it is not 1."""
    for clause in clauses:
        body, head = horn_parts_of(_renamed(clause), "Prolog")
        text = "" if isinstance(head, Falsum) else print_formula(head)
        if body:
            text += f"{' ' if text else ''}:- {print_formula(And(body) if len(body) > 1 else body[0])}"
        yield text + print_weight(clause.weight)


def _renamed(clause: Clause) -> Clause:
    """Give the variables that Prolog would not read as such, like ``?who``, letters that are not taken."""
    variables = dict.fromkeys(term for atom in clause.atoms for term in atom.terms if isinstance(term, Variable))
    taken = {variable.name for variable in variables}
    letters = (letter for letter in chain(_LETTERS, (f"X{number}" for number in count(1))) if letter not in taken)
    names = {variable: variable if variable.name[0].isupper() else Variable(next(letters)) for variable in variables}

    def rename(term: Term) -> Term:
        return names[term] if isinstance(term, Variable) else term

    def rename_atom(atom: Atom) -> Atom:
        return Atom(atom.relation, rename(atom.subject), rename(atom.object))

    return replace(clause, formula=map_leaves(clause.formula, rename_atom))
