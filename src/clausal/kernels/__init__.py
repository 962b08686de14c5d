"""Fast kernels for trilinear scorers, a folder for each kind of machine; each says which equation it computes."""

from clausal.kernels.clauses import BoundSets, ClauseKernels, Corners, Forms
from clausal.kernels.kernels import Kernels, find_clause_kernels, find_kernels
from clausal.kernels.model import LOSSES, FusedModel, Projection
from clausal.kernels.terms import Term, Terms

__all__ = [
    "LOSSES",
    "BoundSets",
    "ClauseKernels",
    "Corners",
    "Forms",
    "FusedModel",
    "Kernels",
    "Projection",
    "Term",
    "Terms",
    "find_clause_kernels",
    "find_kernels",
]
