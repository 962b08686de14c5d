"""Mining Horn clauses from facts: for when there are no rules yet."""

from clausal.logic.mining.rule import Measure, MinedRule
from clausal.logic.mining.search import Progress, mine
from clausal.logic.mining.writing import print_mined, write_mined

__all__ = ["Measure", "MinedRule", "Progress", "mine", "print_mined", "write_mined"]
