"""Where clauses meet vectors: violations, adversaries and closed forms."""

from clausal.adversary.ascent import AdversarialSet, Adversary, GradientAscent, RealEntities
from clausal.adversary.certificates import Certificate, certify
from clausal.adversary.clauses import ClauseGroup, group_clauses
from clausal.adversary.closed_form import ClosedForm, without_closed_form
from clausal.adversary.reciprocal import by_clause, readings_of
from clausal.adversary.semantics import POOLINGS, SEMANTICS, Semantics

__all__ = [
    "POOLINGS",
    "SEMANTICS",
    "AdversarialSet",
    "Adversary",
    "Certificate",
    "ClauseGroup",
    "ClosedForm",
    "GradientAscent",
    "RealEntities",
    "Semantics",
    "by_clause",
    "certify",
    "group_clauses",
    "readings_of",
    "without_closed_form",
]
