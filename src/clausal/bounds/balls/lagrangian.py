"""Minimises the Lagrangian dual on balls over λ and μ, by Newton's method with a logarithmic barrier.

The problem. The weighted form is Σᵢ xᵢᵀ Qᵢ xᵢ + ℓᵢᵀ xᵢ + c with Q, ℓ and c linear in λ, where xᵢ is component i of all
free slots. Adding Σ_v μ_v (ρ_v² − ‖x_v‖²) ≥ 0 and maximising over all x gives, where Bᵢ = diag(μ) − Qᵢ(λ) ⪰ 0,

    D(λ, μ) = Σ_v μ_v ρ_v² + ¼ Σᵢ ℓᵢᵀ Bᵢ⁻¹ ℓᵢ + λ · c,

an upper bound (proof: "Sphere and ball" in docs/explanation/certificates.md), to be minimised over the simplex of λ and
over μ ≥ 0. On spheres ‖x_v‖ = ρ_v, and μ may be negative.

The method (Boyd and Vandenberghe, Convex Optimization, chapter 11). Minimise D − τ Σ log det Bᵢ − τ Σ log λⱼ
− τ Σ log μ_v for ever smaller τ, each from the last minimum. The barrier keeps every iterate feasible, so that each one
gives a valid bound. With ∂Bᵢ the derivative of Bᵢ by a parameter, −Qⱼᵢ for λⱼ and the identity of slot v for μ_v, and
y = B⁻¹ℓ (called the pull):

    slope of −τ log det B:       −τ tr(B⁻¹ ∂B)
    Hessian of −τ log det B:      τ tr(B⁻¹ ∂B B⁻¹ ∂B′)
    slope of ¼ ℓᵀ B⁻¹ ℓ:          ½ ∂ℓ · y − ¼ yᵀ ∂B y
    Hessian of ¼ ℓᵀ B⁻¹ ℓ:        ½ uᵀ B⁻¹ u′ with u = ∂ℓ − ∂B y

The μ of different groups meet in λ only, so that Newton's matrix has the shape of an arrow, and μ is eliminated.

At the minimum the slope is 0, which says that τ Bᵢ⁻¹ + ¼ yᵢ yᵢᵀ are second moments of random x that lie in the balls on
average and make all forms with λⱼ > 0 equal: ``alternation.py`` draws its starting points with them.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from clausal.bounds.balls.quadratic import QuadraticForms
from clausal.bounds.simplex import newton_direction

_TEMPERATURES = tuple(0.2**step for step in range(1, 15))
"""The τ of the barrier in turn. The bound is at most τ times the number of logarithms above its minimum, and the last τ
is 2e-10, where forms have values about 1. Each is a fifth of the one before: Newton's method then needs few steps."""
_NEWTON_STEPS = 30
"""Most steps for one τ."""
_CONVERGED = 1e-4
"""A τ is done where a step promises less than this share of it."""
_BACKTRACKS = 30
"""How often a step is halved at most until it gains enough."""
_ENOUGH = 0.1
"""A step gains enough with this share of what its slope promises (Armijo's rule)."""
_WELL_INSIDE = 0.8
"""Share of the way to the edge of Bᵢ ⪰ 0 that one step may go."""
_RIDGE = 1e-14
"""Added to a diagonal, as a share of its largest number, so that a matrix singular to rounding can be solved."""
_TINY = 1e-30
"""Least scale of forms, so that forms that are 0 everywhere are not divided by 0."""


@dataclass(frozen=True, eq=False)
class Multipliers:
    """λ and μ near the optimum, the bound that they give, and the second moments of an optimal random x."""

    value: Tensor  # [clauses]
    weights: Tensor  # λ [clauses, forms]
    multipliers: Tensor  # μ [clauses, groups, free slots]
    linear: Tensor  # ¼ ℓᵀ B⁻¹ ℓ [clauses, components], what constants add to the bound
    moments: Tensor  # [clauses, components, d, d]


def optimal_multipliers(forms: QuadraticForms) -> Multipliers:
    """Minimise the dual, in double precision."""
    scale = _scale(forms)
    forms = QuadraticForms(
        forms.quadratic / scale[:, None, None, None, None, None],
        forms.linear / scale[:, None, None, None, None],
        forms.constant / scale[:, None],
        forms.radius,
        forms.size,
        forms.sphere,
    )
    barrier = _Barrier(forms)
    weights, multipliers = barrier.start()
    for temperature in _TEMPERATURES:
        weights, multipliers = _newton(barrier, weights, multipliers, temperature)
    inverse, pull = barrier.inverse(weights, multipliers)
    moments = _TEMPERATURES[-1] * inverse + pull.unsqueeze(-1) * pull.unsqueeze(-2) / 4
    multipliers = barrier.tightened(weights, multipliers)
    return Multipliers(
        barrier.dual(weights, multipliers) * scale,
        weights,
        multipliers * scale[:, None, None],
        (scale[:, None, None] * (barrier.linear(weights) * pull).sum(-1) / 4).flatten(1, 2),
        moments.flatten(1, 2),
    )


def _scale(forms: QuadraticForms) -> Tensor:
    """Return the size of the forms in each clause, by which they are divided to have values about 1."""
    sizes = forms.quadratic.abs().amax((1, 2, 3, 4, 5)), forms.linear.abs().amax((1, 2, 3, 4))
    return torch.maximum(*sizes).clamp_min(_TINY)


def _newton(barrier: _Barrier, weights: Tensor, multipliers: Tensor, temperature: float) -> tuple[Tensor, Tensor]:
    value = barrier.value(weights, multipliers, temperature)
    for _ in range(_NEWTON_STEPS):
        weight_step, multiplier_step, decrement = barrier.direction(weights, multipliers, temperature)
        converged = ~(decrement > _CONVERGED * temperature)
        if converged.all():
            break
        step = barrier.reach(weights, multipliers, weight_step, multiplier_step)
        for _ in range(_BACKTRACKS):
            trial = weights + step[:, None] * weight_step, multipliers + step[:, None, None] * multiplier_step
            new_value = barrier.value(*trial, temperature)
            enough = new_value <= value - _ENOUGH * step * decrement
            if (enough | converged).all():
                break
            step = torch.where(enough, step, step / 2)
        better = new_value < value
        if not better.any():
            break
        weights = torch.where(better[:, None], trial[0], weights)
        multipliers = torch.where(better[:, None, None], trial[1], multipliers)
        value = torch.where(better, new_value, value)
    return weights, multipliers


class _Barrier:
    """The dual and its barrier, with their derivatives in λ and μ."""

    def __init__(self, forms: QuadraticForms) -> None:
        self.forms = forms
        identity = torch.eye(forms.free, dtype=forms.radius.dtype, device=forms.radius.device)
        self.slots = torch.repeat_interleave(identity, forms.size, 1)  # [slots, d], 1 where a number is of the slot

    def start(self) -> tuple[Tensor, Tensor]:
        """Return equal λ and a μ large enough to be feasible."""
        count = self.forms.constant.shape[1]
        weights = torch.full_like(self.forms.constant, 1 / count)
        largest = self.forms.quadratic.abs().sum(-1).amax((1, 2, 3, 4))  # [clauses], above any eigenvalue
        return weights, (1.0 + largest)[:, None, None].expand_as(self.forms.radius).clone()

    def _matrix(self, weights: Tensor, multipliers: Tensor) -> Tensor:
        """Return B [clauses, groups, components, d, d]."""
        diagonal = torch.diag_embed(multipliers @ self.slots).unsqueeze(2)
        return diagonal - torch.einsum("nj,ngcjpq->ngcpq", weights, self.forms.quadratic)

    def linear(self, weights: Tensor) -> Tensor:
        """Return ℓ [clauses, groups, components, d]."""
        return torch.einsum("nj,ngcjp->ngcp", weights, self.forms.linear)

    def inverse(self, weights: Tensor, multipliers: Tensor) -> tuple[Tensor, Tensor]:
        """Return B⁻¹ and B⁻¹ℓ."""
        inverse = torch.linalg.inv_ex(self._matrix(weights, multipliers)).inverse
        inverse = (inverse + inverse.mT) / 2
        return inverse, (inverse @ self.linear(weights).unsqueeze(-1)).squeeze(-1)

    def dual(self, weights: Tensor, multipliers: Tensor) -> Tensor:
        """Return the bound [clauses] that λ and feasible μ give."""
        value = (multipliers * self.forms.radius**2).sum((1, 2)) + (weights * self.forms.constant).sum(1)
        if not self.forms.linear.any():
            return value
        linear = self.linear(weights)
        pull = torch.linalg.solve(self._matrix(weights, multipliers), linear.unsqueeze(-1)).squeeze(-1)
        return value + (linear * pull).sum((1, 2, 3)) / 4

    def value(self, weights: Tensor, multipliers: Tensor, temperature: float) -> Tensor:
        """Return the dual with its barrier [clauses], infinite outside."""
        factor, failed = torch.linalg.cholesky_ex(self._matrix(weights, multipliers))
        inside = (failed == 0).all((1, 2)) & (weights > 0).all(1)
        if not self.forms.sphere:
            inside &= (multipliers > 0).all((1, 2))
        pulled = torch.linalg.solve_triangular(factor, self.linear(weights).unsqueeze(-1), upper=False)
        value = (multipliers * self.forms.radius**2).sum((1, 2)) + (weights * self.forms.constant).sum(1)
        logarithms = 2 * factor.diagonal(dim1=-2, dim2=-1).log().sum((1, 2, 3)) + weights.log().sum(1)
        if not self.forms.sphere:
            logarithms = logarithms + multipliers.log().sum((1, 2))
        value = value + pulled.square().sum((1, 2, 3, 4)) / 4 - temperature * logarithms
        return torch.where(inside & value.isfinite(), value, torch.inf)

    def reach(self, weights: Tensor, multipliers: Tensor, weight_step: Tensor, multiplier_step: Tensor) -> Tensor:
        """Return the share of a step, at most 1, that stays well inside every Bᵢ ⪰ 0 [clauses].

        Close to the edge of the matrices the barrier's curvature misleads the steps that follow.
        """
        factor, _ = torch.linalg.cholesky_ex(self._matrix(weights, multipliers))
        change = self._matrix(weight_step, multiplier_step)
        half = torch.linalg.solve_triangular(factor, change, upper=False)
        relative = torch.linalg.solve_triangular(factor, half.mT, upper=False).nan_to_num(0, 0, 0)
        fall = -torch.linalg.eigvalsh((relative + relative.mT) / 2).amin((1, 2, 3))
        return torch.where(fall > _WELL_INSIDE, _WELL_INSIDE / fall, 1.0)

    def direction(self, weights: Tensor, multipliers: Tensor, temperature: float) -> tuple[Tensor, Tensor, Tensor]:
        """Return Newton's step in λ and μ, and the decrease that it promises, twice over."""
        forms, slots = self.forms, self.slots
        inverse, pull = self.inverse(weights, multipliers)
        quadratic = forms.quadratic
        # Derivatives of B by λ and by μ are −Q and the slot's identity; one list holds both.
        by_weight = inverse.unsqueeze(3) @ -quadratic  # B⁻¹ ∂B [clauses, groups, components, forms, d, d]
        by_slot = inverse.unsqueeze(3) * slots[:, None]
        changes = torch.cat([by_weight, by_slot], 3)
        trace = changes.diagonal(dim1=-2, dim2=-1).sum(-1)  # [clauses, groups, components, parameters]
        hessian = temperature * torch.einsum("ngckpq,ngclqp->ngckl", changes, changes)
        quadratic_pull = (quadratic @ pull[:, :, :, None, :, None]).squeeze(-1)  # Q y, as ∂B y = −Q y for λ
        residual = torch.cat([forms.linear + quadratic_pull, -pull.unsqueeze(3) * slots], 3)
        hessian = hessian + torch.einsum("ngckp,ngcpq,ngclq->ngckl", residual, inverse, residual) / 2
        slope_by_weight = (pull.unsqueeze(3) * (forms.linear / 2 + quadratic_pull / 4)).sum(-1)
        slope_by_slot = -(pull.unsqueeze(3).square() * slots).sum(-1) / 4
        slope = (torch.cat([slope_by_weight, slope_by_slot], 3) - temperature * trace).sum(2)
        hessian = hessian.sum(2)  # [clauses, groups, parameters, parameters]
        count = weights.shape[1]
        weight_slope = slope[:, :, :count].sum(1) + forms.constant - temperature / weights
        weight_hessian = hessian[:, :, :count, :count].sum(1) + torch.diag_embed(temperature / weights**2)
        slot_slope = slope[:, :, count:] + forms.radius**2
        slot_hessian = hessian[:, :, count:, count:]
        if not forms.sphere:
            slot_slope = slot_slope - temperature / multipliers
            slot_hessian = slot_hessian + torch.diag_embed(temperature / multipliers**2)
        return _arrow_step(weight_slope, weight_hessian, slot_slope, slot_hessian, hessian[:, :, count:, :count])

    def tightened(self, weights: Tensor, multipliers: Tensor) -> Tensor:
        """Scale μ of each group without linear part down until a Bᵢ is singular, which the barrier kept it from."""
        if (multipliers <= 0).any():
            return multipliers
        root = (multipliers @ self.slots).rsqrt().unsqueeze(2)
        quadratic = torch.einsum("nj,ngcjpq->ngcpq", weights, self.forms.quadratic)
        largest = torch.linalg.eigvalsh(root.unsqueeze(-1) * quadratic * root.unsqueeze(-2)).amax((2, 3))
        homogeneous = (self.forms.linear == 0).all(-1).all(-1).all(-1)
        return torch.where(homogeneous, largest.clamp(0, 1), 1.0).unsqueeze(-1) * multipliers


def _arrow_step(
    weight_slope: Tensor, weight_hessian: Tensor, slot_slope: Tensor, slot_hessian: Tensor, crossed: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """Solve Newton's equation with Σ dλ = 0 by eliminating each group's μ, which no other group's μ meets."""
    ridge = _RIDGE * slot_hessian.diagonal(dim1=-2, dim2=-1).amax(-1, keepdim=True).expand_as(slot_slope)
    right_sides = torch.cat([slot_slope.unsqueeze(-1), crossed], -1)
    # Near the edge a system may be singular to rounding; a clause whose step fails keeps the feasible μ that it has.
    solved = torch.linalg.solve_ex(slot_hessian + torch.diag_embed(ridge), right_sides).result.nan_to_num(0, 0, 0)
    by_slope, by_crossed = solved[..., 0], solved[..., 1:]  # [clauses, groups, slots], [..., forms]
    reduced = weight_hessian - (crossed.mT @ by_crossed).sum(1)
    right = weight_slope - (crossed.mT @ by_slope.unsqueeze(-1)).squeeze(-1).sum(1)
    weight_step = newton_direction(right, reduced)
    slot_step = -by_slope - (by_crossed @ weight_step[:, None, :, None]).squeeze(-1)
    decrement = -(weight_step * weight_slope).sum(1) - (slot_step * slot_slope).sum((1, 2))
    return weight_step, slot_step, decrement
