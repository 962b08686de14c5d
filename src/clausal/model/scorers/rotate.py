"""RotatE (Sun et al. 2019): φ_r(h₁, h₂) = −Σᵢ |h₁ᵢ e^{iθᵢ} − h₂ᵢ| over complex components."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from clausal.model.scorers.base import Scorer, halves


class RotatE(Scorer):
    """A relation rotates each complex component by an angle; the parameters are the dim / 2 angles."""

    name = "rotate"
    distance = True
    halved = True
    complex_numbers = True

    @property
    def relation_dim(self) -> int:
        return self.dim // 2

    def score(self, subject: Tensor, relation: Tensor, object: Tensor) -> Tensor:
        cos, sin = relation.cos(), relation.sin()
        s_real, s_imag = halves(subject)
        o_real, o_imag = halves(object)
        difference = torch.stack([cos * s_real - sin * s_imag - o_real, sin * s_real + cos * s_imag - o_imag])
        return -torch.linalg.vector_norm(difference, dim=0).sum(-1)

    @torch.no_grad()
    def reset_relations_(self, relations: Tensor, generator: torch.Generator | None = None) -> None:
        """Draw the angles uniformly from the circle."""
        relations.uniform_(-math.pi, math.pi, generator=generator)

    def relation_vectors(self, relations: Tensor) -> Tensor:
        """Return the points on the circle: two angles can be far apart as numbers and mean nearly the same."""
        return torch.cat([relations.cos(), relations.sin()], -1)
