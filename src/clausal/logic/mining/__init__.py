"""Mining Horn clauses from facts: for when there are no rules yet."""

from clausal.logic.mining.mined_rule import Measure, MinedRule, print_mined, write_mined
from clausal.logic.mining.miner import mine

__all__ = ["Measure", "MinedRule", "mine", "print_mined", "write_mined"]
