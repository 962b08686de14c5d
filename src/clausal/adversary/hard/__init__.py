"""Hard clauses: the parameters with which a clause holds for every vector, and a model that is kept among them."""

from clausal.adversary.hard.feasible import FeasibleSet
from clausal.adversary.hard.proof import proven
from clausal.adversary.hard.selection import HardClauses, find_hard

__all__ = ["FeasibleSet", "HardClauses", "find_hard", "proven"]
