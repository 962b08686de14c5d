"""Votes of rules fused with a model's scores, by weights that are fitted on valid facts."""

from clausal.fusion.clause_rules import ClauseRules, joined_rules, rules_of_clauses
from clausal.fusion.evidence import FEATURES, Evidence, VotingRules
from clausal.fusion.explanation import Contribution, FusedExplanation, contributions
from clausal.fusion.fusion import Fusion, fuse, mine_rules
from clausal.fusion.ranker import Fused, RulesAlone

__all__ = [
    "FEATURES",
    "ClauseRules",
    "Contribution",
    "Evidence",
    "Fused",
    "FusedExplanation",
    "Fusion",
    "RulesAlone",
    "VotingRules",
    "contributions",
    "fuse",
    "joined_rules",
    "mine_rules",
    "rules_of_clauses",
]
