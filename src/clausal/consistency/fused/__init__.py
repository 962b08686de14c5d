"""Adversaries by kernels, for trilinear scorers on a CPU: the same numbers as by torch's operations, sooner."""

from clausal.consistency.fused.ascent import FusedAscent
from clausal.consistency.fused.closed_form import FusedClosedForm
from clausal.consistency.fused.kernels import can_fuse

__all__ = ["FusedAscent", "FusedClosedForm", "can_fuse"]
