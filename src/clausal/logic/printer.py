"""Clauses as text, in one canonical way that reads back as an equal clause."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clausal.logic.names import write_constant, write_relation, write_variable
from clausal.logic.syntax import (
    And,
    Atom,
    Clause,
    Constant,
    Falsum,
    Formula,
    Iff,
    Implies,
    Not,
    Or,
    Term,
    Variable,
    map_leaves,
)

if TYPE_CHECKING:
    from clausal.graph.display import DisplayNames

# How tightly each kind binds; a formula in a place that asks for more is put in parentheses.
_ARROW, _OR, _AND, _NOT = range(4)


def print_clause(clause: Clause, names: DisplayNames | None = None) -> str:
    """Write a clause on one line, with its weight where that is not 1: ``p(X, Y) => q(X, Y) <0.9>``.

    ``names`` are display names to show instead of full ones.
    """
    return print_formula(clause.formula, names) + print_mark(clause)


def print_mark(clause: Clause) -> str:
    """Write what stands behind a clause, with a space before it: ``<hard>``, or a weight other than 1."""
    if clause.hard:
        return " <hard>"
    return "" if clause.weight == 1 else f" <{repr(float(clause.weight)).removesuffix('.0')}>"


def print_certainty(certainty: float) -> str:
    """Write a confidence in two digits, or in more where two would make it 1."""
    return f"{certainty:.2f}" if certainty < 0.995 else f"{certainty:.4g}"


def print_formula(formula: Formula, names: DisplayNames | None = None) -> str:
    """Write a formula on one line, with parentheses and quotes only where they are needed."""
    return _print(formula if names is None else map_leaves(formula, lambda atom: _shown(atom, names)), _ARROW)


def _shown(atom: Atom, names: DisplayNames) -> Atom:
    """Return an atom with display names."""
    subject, object = (Constant(names.entity(term.name)) if isinstance(term, Constant) else term for term in atom.terms)
    return Atom(names.relation(atom.relation), subject, object)


def _print(formula: Formula, place: int) -> str:
    match formula:
        case Atom(relation, subject, object):
            return f"{write_relation(relation)}({_print_term(subject)}, {_print_term(object)})"
        case Falsum():
            return "false"
        case Not(inner):
            return "~" + _print(inner, _NOT)
        case And(formulas):
            # A comma reads well between the atoms of a body and badly inside a larger formula.
            conjunction = (", " if place <= _OR else " & ").join(_print(part, _NOT) for part in formulas)
            return _enclose(conjunction, place > _AND)
        case Or(formulas):
            return _enclose(" | ".join(_print(part, _AND) for part in formulas), place > _OR)
        case Implies(body, head):
            return _enclose(f"{_print(body, _OR)} => {_print(head, _OR)}", place > _ARROW)
        case Iff(left, right):
            return _enclose(f"{_print(left, _OR)} <=> {_print(right, _OR)}", place > _ARROW)


def _print_term(term: Term) -> str:
    return write_variable(term.name) if isinstance(term, Variable) else write_constant(term.name)


def _enclose(text: str, parentheses: bool) -> str:
    return f"({text})" if parentheses else text
