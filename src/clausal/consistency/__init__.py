"""Where clauses meet vectors: violations, adversaries and closed forms."""

from clausal.consistency.adversaries import AdversarialSet, Adversary, GradientAscent, RealEntities
from clausal.consistency.clauses import ClauseGroup, group_clauses
from clausal.consistency.closed_form import CLOSED_FORMS, ClosedForm, without_closed_form
from clausal.consistency.pooling import POOLINGS
from clausal.consistency.semantics import SEMANTICS, Semantics

__all__ = [
    "CLOSED_FORMS",
    "POOLINGS",
    "SEMANTICS",
    "AdversarialSet",
    "Adversary",
    "ClauseGroup",
    "ClosedForm",
    "GradientAscent",
    "RealEntities",
    "Semantics",
    "group_clauses",
    "without_closed_form",
]
