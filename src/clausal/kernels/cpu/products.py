"""The gradient of a score by its subject and by its object, for kernels: each is a product of the other two vectors."""

from __future__ import annotations

import numpy as np
from numba import njit

from clausal.kernels.cpu.options import PART

ONE = np.float32(1)


@njit(**PART)
def add_by_subject(terms, parts, c, relation, object, into):  # type: ignore[no-untyped-def]
    """Add c ∂φ/∂x, with ∂φ/∂x[σ] = Σ_t w_t r[ρ_t] y[ω_t] over the terms with σ_t = σ."""
    width = len(object) // parts
    for part in range(parts):
        for i in range(width):
            total = np.float32(0)
            for weight, rho, sigma, omega in terms:
                if sigma == part:
                    total += np.float32(weight) * relation[rho * width + i] * object[omega * width + i]
            into[part * width + i] += c * total


@njit(**PART)
def add_by_object(terms, parts, c, relation, subject, into):  # type: ignore[no-untyped-def]
    """Add c ∂φ/∂y, with ∂φ/∂y[ω] = Σ_t w_t r[ρ_t] x[σ_t] over the terms with ω_t = ω."""
    width = len(subject) // parts
    for part in range(parts):
        for i in range(width):
            total = np.float32(0)
            for weight, rho, sigma, omega in terms:
                if omega == part:
                    total += np.float32(weight) * relation[rho * width + i] * subject[sigma * width + i]
            into[part * width + i] += c * total


@njit(**PART)
def add_by_relation(terms, parts, c, subject, object, into):  # type: ignore[no-untyped-def]
    """Add c ∂φ/∂r, with ∂φ/∂r[ρ] = Σ_t w_t x[σ_t] y[ω_t] over the terms with ρ_t = ρ."""
    width = len(subject) // parts
    for part in range(len(into) // width):
        for i in range(width):
            total = np.float32(0)
            for weight, rho, sigma, omega in terms:
                if rho == part:
                    total += np.float32(weight) * subject[sigma * width + i] * object[omega * width + i]
            into[part * width + i] += c * total
