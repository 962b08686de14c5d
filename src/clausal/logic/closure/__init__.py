"""The deductive closure of facts under Horn clauses, on DuckDB or Spark, and what it says about test facts."""

from clausal.logic.closure.fixpoint import Closure, Round, close, close_plan, partition
from clausal.logic.closure.plan import LeftOut, Plan, Rule, RuleGroup, RuleShape, make_plan

__all__ = [
    "Closure",
    "LeftOut",
    "Plan",
    "Round",
    "Rule",
    "RuleGroup",
    "RuleShape",
    "close",
    "close_plan",
    "make_plan",
    "partition",
]
