"""Fast kernels for trilinear scorers, a folder for each kind of machine; each says which equation it computes."""

from clausal.kernels.kernels import Kernels, find_kernels, find_set_kernels
from clausal.kernels.model import LOSSES, FusedModel, Projection
from clausal.kernels.sets import BoundSets, SetKernels
from clausal.kernels.terms import Term, Terms

__all__ = [
    "LOSSES",
    "BoundSets",
    "FusedModel",
    "Kernels",
    "Projection",
    "SetKernels",
    "Term",
    "Terms",
    "find_kernels",
    "find_set_kernels",
]
