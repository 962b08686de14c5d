"""Bounds on how badly a clause can be violated anywhere in a region, by duality, each with a point near it."""

from clausal.consistency.bounds.balls import bound_on_balls, bound_on_discs
from clausal.consistency.bounds.blocks import AtomBlocks, Bound
from clausal.consistency.bounds.boxes import bound_on_boxes

__all__ = ["AtomBlocks", "Bound", "bound_on_balls", "bound_on_boxes", "bound_on_discs"]
