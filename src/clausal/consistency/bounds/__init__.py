"""Bounds on how badly a clause can be violated anywhere in a region: by corners, duality and triangle inequality."""

from clausal.consistency.bounds.blocks import Bound
from clausal.consistency.bounds.largest import Kept, bound_violation, largest_violation, solve_violation

__all__ = ["Bound", "Kept", "bound_violation", "largest_violation", "solve_violation"]
