"""How far the clauses hold over the real entities: every assignment is checked, none is sampled."""

from clausal.evaluation.entities.check import check_entities
from clausal.evaluation.entities.tally import EntityCheck

__all__ = ["EntityCheck", "check_entities"]
