"""Training against all entities: every entity is a candidate for the answer of each query, and none is sampled."""

from clausal.training.all_entities.objective import AgainstAll, against_all

__all__ = ["AgainstAll", "against_all"]
