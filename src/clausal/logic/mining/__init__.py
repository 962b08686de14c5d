"""Mining Horn clauses from facts: for when there are no rules yet."""

from clausal.logic.mining.attribute_rules import SOME, AttributeRules, Attributes
from clausal.logic.mining.attributes import mine_attributes
from clausal.logic.mining.edges import Edges
from clausal.logic.mining.mined_rule import Measure, MinedRule, print_mined, write_mined
from clausal.logic.mining.miner import mine
from clausal.logic.mining.path_rules import PathRules
from clausal.logic.mining.paths import mine_paths
from clausal.logic.mining.votes import RuleVotes, Votes

__all__ = [
    "SOME",
    "AttributeRules",
    "Attributes",
    "Edges",
    "Measure",
    "MinedRule",
    "PathRules",
    "RuleVotes",
    "Votes",
    "mine",
    "mine_attributes",
    "mine_paths",
    "print_mined",
    "write_mined",
]
