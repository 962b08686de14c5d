"""Clauses: their language and other formats, what follows from them, how often they hold, and where to find some.

The names listed in ``__all__`` are this room's public ones; what else its modules define may change at any time.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from clausal.logic.check import check_clauses
from clausal.logic.formats import FORMATS, detect_format, print_rules, read_clauses, read_rules, write_rules
from clausal.logic.parser import parse_clause, parse_clauses
from clausal.logic.printer import print_clause, print_formula
from clausal.logic.rules import Rule, RuleSet, RuleShape, encode_rule, encode_rules
from clausal.logic.shape import (
    AtomShape,
    Shape,
    Skeleton,
    Slot,
    horn_parts,
    implication,
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
    from clausal.logic.closure import Closure, Round, close, close_rules, partition
    from clausal.logic.grounding import FactIndex, Groundings, ground
    from clausal.logic.measures import Measures, confident_clauses, measure_clauses, weigh_clauses
    from clausal.logic.mining import MinedRule, mine, print_mined, write_mined
    from clausal.logic.proofs import NearSupport, Proof, Prover, near_to_json, print_near, print_proof, proof_to_json
    from clausal.logic.review import Conflict, find_conflicts, find_cycles, find_duplicates, find_tautologies

_IMPORTED_ON_USE = {
    "closure": ("Closure", "Round", "close", "close_rules", "partition"),
    "grounding": ("FactIndex", "Groundings", "ground"),
    "measures": ("Measures", "confident_clauses", "measure_clauses", "weigh_clauses"),
    "mining": ("MinedRule", "mine", "print_mined", "write_mined"),
    "proofs": ("NearSupport", "Proof", "Prover", "near_to_json", "print_near", "print_proof", "proof_to_json"),
    "review": ("Conflict", "find_conflicts", "find_cycles", "find_duplicates", "find_tautologies"),
}
_MODULE_OF = {name: f"clausal.logic.{module}" for module, names in _IMPORTED_ON_USE.items() for name in names}

__all__ = [
    "FORMATS",
    "And",
    "Atom",
    "AtomShape",
    "Clause",
    "Closure",
    "Conflict",
    "Constant",
    "FactIndex",
    "Falsum",
    "Formula",
    "Groundings",
    "Iff",
    "Implies",
    "Measures",
    "MinedRule",
    "NearSupport",
    "Not",
    "Or",
    "Proof",
    "Prover",
    "Round",
    "Rule",
    "RuleSet",
    "RuleShape",
    "Shape",
    "Skeleton",
    "Slot",
    "Term",
    "Variable",
    "check_clauses",
    "close",
    "close_rules",
    "confident_clauses",
    "detect_format",
    "encode_rule",
    "encode_rules",
    "find_conflicts",
    "find_cycles",
    "find_duplicates",
    "find_tautologies",
    "ground",
    "horn_parts",
    "implication",
    "is_horn",
    "measure_clauses",
    "mine",
    "near_to_json",
    "one_atom_rule",
    "parse_clause",
    "parse_clauses",
    "partition",
    "print_clause",
    "print_formula",
    "print_mined",
    "print_near",
    "print_proof",
    "print_rules",
    "proof_to_json",
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


def __dir__() -> list[str]:
    """Show the public names."""
    return list(__all__)
