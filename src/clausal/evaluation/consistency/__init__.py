"""Answers that obey clauses, whatever the vectors do: raised to what is demanded, without what is forbidden."""

from clausal.evaluation.consistency.ranker import CERTAIN, Consistent, closed_rows

__all__ = ["CERTAIN", "Consistent", "closed_rows"]
