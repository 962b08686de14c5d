"""Clauses: their syntax tree, their language, and what they share with one another."""

from clausal.logic.check import check_clauses
from clausal.logic.formats import FORMATS, print_rules, read_clauses, read_rules, write_rules
from clausal.logic.parser import parse_clause, parse_clauses
from clausal.logic.printer import print_clause, print_formula
from clausal.logic.shape import (
    AtomShape,
    Shape,
    Skeleton,
    Slot,
    horn_parts,
    is_horn,
    one_atom_rule,
    shape_of,
)
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
)

__all__ = [
    "FORMATS",
    "And",
    "Atom",
    "AtomShape",
    "Clause",
    "Constant",
    "Falsum",
    "Formula",
    "Iff",
    "Implies",
    "Not",
    "Or",
    "Shape",
    "Skeleton",
    "Slot",
    "Term",
    "Variable",
    "check_clauses",
    "horn_parts",
    "is_horn",
    "one_atom_rule",
    "parse_clause",
    "parse_clauses",
    "print_clause",
    "print_formula",
    "print_rules",
    "read_clauses",
    "read_rules",
    "shape_of",
    "write_rules",
]
