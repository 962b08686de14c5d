"""Clauses: their language and other formats, what follows from them, how often they hold, and where to find some."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

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

if TYPE_CHECKING:
    from clausal.logic.closure import Closure, close, partition
    from clausal.logic.measures import Measures, confident_clauses, measure_clauses, weigh_clauses
    from clausal.logic.mining import MinedRule, mine, write_mined
    from clausal.logic.proofs import Proof, Prover

_MODULE_OF = {
    "Closure": "clausal.logic.closure",
    "Measures": "clausal.logic.measures",
    "MinedRule": "clausal.logic.mining",
    "Proof": "clausal.logic.proofs",
    "Prover": "clausal.logic.proofs",
    "close": "clausal.logic.closure",
    "confident_clauses": "clausal.logic.measures",
    "measure_clauses": "clausal.logic.measures",
    "mine": "clausal.logic.mining",
    "partition": "clausal.logic.closure",
    "weigh_clauses": "clausal.logic.measures",
    "write_mined": "clausal.logic.mining",
}

__all__ = [
    "FORMATS",
    "And",
    "Atom",
    "AtomShape",
    "Clause",
    "Closure",
    "Constant",
    "Falsum",
    "Formula",
    "Iff",
    "Implies",
    "Measures",
    "MinedRule",
    "Not",
    "Or",
    "Proof",
    "Prover",
    "Shape",
    "Skeleton",
    "Slot",
    "Term",
    "Variable",
    "check_clauses",
    "close",
    "confident_clauses",
    "horn_parts",
    "is_horn",
    "measure_clauses",
    "mine",
    "one_atom_rule",
    "parse_clause",
    "parse_clauses",
    "partition",
    "print_clause",
    "print_formula",
    "print_rules",
    "read_clauses",
    "read_rules",
    "shape_of",
    "weigh_clauses",
    "write_mined",
    "write_rules",
]


def __getattr__(name: str) -> Any:
    """Import what works on facts on first use: clauses alone need no numpy."""
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'clausal.logic' has no attribute {name!r}")
    return getattr(import_module(_MODULE_OF[name]), name)
