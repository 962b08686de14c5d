"""Where clauses meet vectors: violations, adversaries and closed forms."""

from clausal.consistency.adversaries import AdversarialSet, Adversary, GradientAscent, RealEntities
from clausal.consistency.certificates import Certificate, certify
from clausal.consistency.clauses import ClauseGroup, group_clauses
from clausal.consistency.closed_form import ClosedForm, without_closed_form
from clausal.consistency.pooling import POOLINGS
from clausal.consistency.readings import by_clause, readings_of
from clausal.consistency.semantics import SEMANTICS, Semantics

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
