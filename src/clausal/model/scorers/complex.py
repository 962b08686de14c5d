"""ComplEx (Trouillon et al. 2016): φ_r(h₁, h₂) = Re⟨θ_r, h₁, h̄₂⟩ over complex vectors.

A vector of ``dim`` real numbers holds dim / 2 complex ones: first the real parts, then the imaginary parts.
"""

from __future__ import annotations

import torch
from torch import Tensor

from clausal.model.scorers.base import BlockScorer, Terms, TrilinearTerm, halves


class ComplEx(BlockScorer):
    """Re⟨θ_r, h₁, h̄₂⟩; dim = 200 means 100 complex components."""

    name = "complex"
    halved = True
    complex_numbers = True
    terms = Terms(
        2,
        (
            TrilinearTerm(1, 0, 0, 0),
            TrilinearTerm(1, 0, 1, 1),
            TrilinearTerm(1, 1, 0, 1),
            TrilinearTerm(-1, 1, 1, 0),
        ),
    )

    def object_query(self, subject: Tensor, relation: Tensor) -> Tensor:
        r_real, r_imag = halves(relation)
        s_real, s_imag = halves(subject)
        return torch.cat([r_real * s_real - r_imag * s_imag, r_real * s_imag + r_imag * s_real], -1)

    def subject_query(self, relation: Tensor, object: Tensor) -> Tensor:
        r_real, r_imag = halves(relation)
        o_real, o_imag = halves(object)
        return torch.cat([r_real * o_real + r_imag * o_imag, r_real * o_imag - r_imag * o_real], -1)

    def blocks(self, relation: Tensor) -> Tensor:
        real, imag = halves(relation)
        return torch.stack([real, imag, -imag, real], -1).unflatten(-1, (2, 2))
