"""HolE (Nickel et al. 2016): φ_r(h₁, h₂) = θ_r · (h₁ ⋆ h₂), circular correlation, computed by FFT."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from clausal.model.scorers.base import BlockScorer


class HolE(BlockScorer):
    """θ_r · (h₁ ⋆ h₂) with (a ⋆ b)ₖ = Σᵢ aᵢ b₍ᵢ₊ₖ₎."""

    name = "hole"
    rotates = True
    complex_numbers = True

    def object_query(self, subject: Tensor, relation: Tensor) -> Tensor:
        return torch.fft.irfft(torch.fft.rfft(relation) * torch.fft.rfft(subject), n=self.dim)

    def subject_query(self, relation: Tensor, object: Tensor) -> Tensor:
        return torch.fft.irfft(torch.fft.rfft(relation).conj() * torch.fft.rfft(object), n=self.dim)

    def components(self, vectors: Tensor) -> Tensor:
        """Return the orthonormal Fourier transform in real numbers, two for each frequency.

        The frequencies 0 and dim / 2, which have no imaginary part, share a component.
        """
        if not vectors.numel():  # which some libraries for Fourier transforms refuse
            return vectors.new_empty(*vectors.shape[:-1], (self.dim + 1) // 2, 2)
        spectrum = torch.fft.rfft(vectors, norm="ortho")
        pairs = torch.view_as_real(spectrum[..., 1 : (self.dim + 1) // 2]) * math.sqrt(2)
        return torch.cat([self._ends(spectrum.real).unsqueeze(-2), pairs], -2)

    def join(self, components: Tensor) -> Tensor:
        if not components.numel():
            return components.new_empty(*components.shape[:-2], self.dim)
        ends, pairs = components[..., 0, :], components[..., 1:, :] / math.sqrt(2)
        spectrum = [torch.complex(ends[..., :1], torch.zeros_like(ends[..., :1])), torch.view_as_complex(pairs)]
        if self.dim % 2 == 0:
            spectrum.append(torch.complex(ends[..., 1:], torch.zeros_like(ends[..., 1:])))
        return torch.fft.irfft(torch.cat(spectrum, -1), n=self.dim, norm="ortho")

    def blocks(self, relation: Tensor) -> Tensor:
        spectrum = torch.fft.rfft(relation)
        real, imag = spectrum[..., 1 : (self.dim + 1) // 2].real, spectrum[..., 1 : (self.dim + 1) // 2].imag
        pairs = torch.stack([real, imag, -imag, real], -1).unflatten(-1, (2, 2))
        return torch.cat([torch.diag_embed(self._ends(spectrum.real)).unsqueeze(-3), pairs], -3)

    def _ends(self, real: Tensor) -> Tensor:
        last = real[..., -1:] if self.dim % 2 == 0 else torch.zeros_like(real[..., :1])
        return torch.cat([real[..., :1], last], -1)
