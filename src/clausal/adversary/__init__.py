"""The paper's method: how far a clause is violated on vectors, and adversaries that find where it is violated most.

``paper_table.py`` has the paper's closed forms as formulas; start there.
"""

from clausal.adversary.adversary import AdversarialSet, Adversary, GroupSet, Vectors
from clausal.adversary.ascent import GradientAscent, RealEntities
from clausal.adversary.build import make_adversary, make_groups
from clausal.adversary.certificates import Certificate, certify
from clausal.adversary.clauses import ClauseGroup, group_clauses
from clausal.adversary.closed_form import ClosedForm, WorstCase, without_closed_form
from clausal.adversary.contracts import check_adversary
from clausal.adversary.grounded import GroundedClauses, Groundings
from clausal.adversary.reciprocal import by_clause, readings_of
from clausal.adversary.regions import resolved
from clausal.adversary.semantics import POOLINGS, SEMANTICS, Semantics, make_semantics

__all__ = [
    "POOLINGS",
    "SEMANTICS",
    "AdversarialSet",
    "Adversary",
    "Certificate",
    "ClauseGroup",
    "ClosedForm",
    "GradientAscent",
    "GroundedClauses",
    "Groundings",
    "GroupSet",
    "RealEntities",
    "Semantics",
    "Vectors",
    "WorstCase",
    "by_clause",
    "certify",
    "check_adversary",
    "group_clauses",
    "make_adversary",
    "make_groups",
    "make_semantics",
    "readings_of",
    "resolved",
    "without_closed_form",
]
