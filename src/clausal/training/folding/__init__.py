"""Folding in: vectors of new entities, solved for while all that a model knows stays as it is."""

from clausal.training.folding.fold import fold_in, refine

__all__ = ["fold_in", "refine"]
