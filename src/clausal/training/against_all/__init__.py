"""Training against all entities: every entity is a candidate for the answer of each query, and none is sampled."""

from clausal.training.against_all.objective import AgainstAll, against_all

__all__ = ["AgainstAll", "against_all"]
