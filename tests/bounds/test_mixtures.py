"""The mixture problem is solved as exactly as a linear programming library solves it."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy.optimize import linprog
from torch import Tensor

from clausal.bounds.boxes.mixtures import Mixture, optimal_mixture


def linear_program(table: np.ndarray, offsets: np.ndarray) -> float:
    """min Σ v + λ · o subject to vᵢ ≥ Σⱼ λⱼ Lⱼᵢ(c) and λ in the simplex."""
    forms, components, corners = table.shape
    rows = [np.concatenate([table[:, i, c], -np.eye(components)[i]]) for i in range(components) for c in range(corners)]
    solution = linprog(
        np.concatenate([offsets, np.ones(components)]),
        A_ub=np.array(rows),
        b_ub=np.zeros(len(rows)),
        A_eq=np.concatenate([np.ones(forms), np.zeros(components)])[None],
        b_eq=[1.0],
        bounds=[(0, None)] * forms + [(None, None)] * components,
    )
    return float(solution.fun)


def values_of(mixture: Mixture, table: Tensor, offsets: Tensor) -> tuple[Tensor, Tensor]:
    """Return what λ proves and what the mixture attains, for each problem."""
    dual = torch.einsum("nj,njic->nic", mixture.weights, table).amax(-1).sum(1) + (mixture.weights * offsets).sum(1)
    chosen = table.gather(-1, mixture.corners.unsqueeze(1).expand(-1, table.shape[1], -1, -1))
    return dual, ((chosen * mixture.probabilities.unsqueeze(1)).sum((2, 3)) + offsets).amin(1)


@pytest.mark.parametrize("forms", [1, 2, 3, 5])
@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("spread", [0.0, 1.0, 30.0])
def test_the_weights_are_optimal_and_the_mixture_attains_their_value(forms: int, ties: bool, spread: float) -> None:
    generator = torch.Generator().manual_seed(forms)
    table = torch.randn(4, forms, 7, 8, generator=generator, dtype=torch.float64)
    if ties:
        table = table.round()
    offsets = spread * torch.randn(4, forms, generator=generator, dtype=torch.float64)
    mixture = optimal_mixture(table, offsets)
    dual, primal = values_of(mixture, table, offsets)
    expected = [linear_program(t.numpy(), o.numpy()) for t, o in zip(table, offsets, strict=True)]
    torch.testing.assert_close(dual, torch.tensor(expected, dtype=torch.float64), rtol=1e-8, atol=1e-8)
    torch.testing.assert_close(primal, dual, rtol=1e-8, atol=1e-8)


def test_two_forms_mix_few_components() -> None:
    """An optimal mixture of two forms needs more than one corner in one component only."""
    table = torch.randn(20, 2, 50, 8, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    mixture = optimal_mixture(table, torch.zeros(20, 2, dtype=torch.float64))
    assert ((mixture.corners[..., 0] != mixture.corners[..., 1]).sum(1) <= 1).all()


@pytest.mark.parametrize("forms", [2, 3, 5])
def test_ties_everywhere_leave_no_gap(forms: int) -> None:
    """Where corners tie, many λ may be optimal; Newton's own matrix is then singular to rounding."""
    table = torch.randn(500, forms, 7, 8, generator=torch.Generator().manual_seed(forms), dtype=torch.float64).round()
    mixture = optimal_mixture(table, torch.zeros(500, forms, dtype=torch.float64))
    dual, primal = values_of(mixture, table, torch.zeros(500, forms, dtype=torch.float64))
    torch.testing.assert_close(primal, dual, rtol=1e-8, atol=1e-8)
