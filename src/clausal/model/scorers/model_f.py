"""Model F (Riedel et al. 2013; Demeester et al. 2016): a vector for each entity pair, φ_r(x, y) = θ_r · h₍ₓ,ᵧ₎."""

from __future__ import annotations

import torch
from torch import Tensor

from clausal.model.scorers.base import Scorer


class ModelF(Scorer):
    """θ_r · h of an entity pair. Its one argument is the pair's vector, so it goes with a ``PairPredictor``."""

    name = "model-f"
    arguments = 1

    def score(self, relation: Tensor, pair: Tensor) -> Tensor:  # type: ignore[override]
        """Score [..., dim], [..., dim] → [...]."""
        return torch.linalg.vecdot(relation, pair)
