"""Fast kernels for trilinear scorers, one file for each kind of machine; each says which equation it computes."""

from clausal.kernels.kernels import Kernels, Projection, find_kernels
from clausal.kernels.terms import Term, Terms

__all__ = ["Kernels", "Projection", "Term", "Terms", "find_kernels"]
