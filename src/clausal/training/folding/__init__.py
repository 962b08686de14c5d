"""Folding in: vectors of new entities, solved for while all that a model knows stays as it is."""

from clausal.training.folding.fold import REFINE, fold_in, refine, require_foldable
from clausal.training.folding.limits import Limits

__all__ = ["REFINE", "Limits", "fold_in", "refine", "require_foldable"]
