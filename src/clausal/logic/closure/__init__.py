"""The deductive closure of facts under Horn clauses, on DuckDB or Spark, and what it says about test facts."""

from clausal.logic.closure.fixpoint import Closure, Round, close, close_rules, partition

__all__ = ["Closure", "Round", "close", "close_rules", "partition"]
