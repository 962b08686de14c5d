"""HolE (Nickel et al. 2016): φ_r(h₁, h₂) = θ_r · (h₁ ⋆ h₂), circular correlation, computed by FFT."""

from __future__ import annotations

import torch
from torch import Tensor

from clausal.model.scorers.base import MultilinearScorer


class HolE(MultilinearScorer):
    """θ_r · (h₁ ⋆ h₂) with (a ⋆ b)ₖ = Σᵢ aᵢ b₍ᵢ₊ₖ₎."""

    name = "hole"

    def object_query(self, relation: Tensor, subject: Tensor) -> Tensor:
        return torch.fft.irfft(torch.fft.rfft(relation) * torch.fft.rfft(subject), n=self.dim)

    def subject_query(self, relation: Tensor, object: Tensor) -> Tensor:
        return torch.fft.irfft(torch.fft.rfft(relation).conj() * torch.fft.rfft(object), n=self.dim)
