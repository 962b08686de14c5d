"""What a set of clauses says about itself: clauses that say nothing, given twice, in conflict, or in a cycle."""

from clausal.logic.review.conflicts import Conflict, find_conflicts
from clausal.logic.review.cycles import find_cycles
from clausal.logic.review.redundancy import find_duplicates, find_tautologies

__all__ = ["Conflict", "find_conflicts", "find_cycles", "find_duplicates", "find_tautologies"]
