"""Sums of distances over components, where a vector shares out what its components may have: RotatE, and TransE in L1.

Every atom is minus Σᵢ |uᵢ| with uᵢ = αᵢ · xᵢ + κᵢ, where xᵢ is component i of all variables: complex numbers for
RotatE, real ones for TransE. On balls Σᵢ |x_vᵢ|² ≤ 1 for each variable v, and with a price ν_v ≥ 0

    Σⱼ λⱼ Lⱼ ≤ Σ_v ν_v + Σᵢ maxₓ (Σ_heads c |u| − Σ_bodies c |u| − Σ_v ν_v |x_v|²),

one component at a time. On discs, |x_vᵢ| ≤ ρ_vᵢ, every component has prices of its own; on spheres prices may be
negative. In a component, |u| = Re ḡu for a head, at the best g with |g| = 1, and for a body whose |u| lies between l
and h, −|u| ≤ −(|u|² + l h) / (l + h). So in a *cell* of such intervals a concave quadratic form of x is maximised. Its
largest value is quadratic in g, and largest at a phase that is known. The cells with the largest values are halved.

As cells shrink, only duality leaves a gap, of about one component for each variable and form.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import NamedTuple

import torch
from torch import Tensor

from clausal.bounds.blocks import Bound, LinearForms
from clausal.bounds.climbing import climbed, drawn
from clausal.bounds.distances.triangle import DistanceEdges
from clausal.bounds.regions import Balls, Discs, Region

_FIRST_CELLS = {0: 1, 1: 8, 2: 4, 3: 3}
"""Intervals of each distance to begin with, by the number of distances of the body; more are not treated."""
_HALVED = {0: 0, 1: 4, 2: 8, 3: 16}
"""Cells that are halved in a round, in each component."""
_SMOOTH = (0.3, 0.12, 0.05, 0.02, 0.008, 0.003, 0.001, 0.0004)
"""The maximum over cells is smoothed by these shares of a component's value in turn, while λ and ν are looked for."""
_MORE_ROUNDS = 6
"""Rounds after these, of two halvings each, as long as bound and attained value are not near."""
_WORTH = 0.1
"""A round that gains less than this share of what is left is the last one."""
_CLOSE = 2e-3
"""Bound and attained value are near enough if they differ by this share."""
_SLACK = 1e-3
"""A price below this share of the bound could be negative on a sphere."""
_LIKELY = 24
"""Cells of a component that count in the search for λ and ν; all count in the bound."""
_STEPS = 25
"""Steps of the search for λ and ν in a round."""
_BARRIER = 0.1
"""Weight of −log λ beside that smoothing, in each component: no form is given up before the others are known."""
_LEAST_PRICE = 1e-9
_TINY = 1e-12
_SETS = 8
"""Points that are drawn from the likely cells, for the search to begin with."""


@torch.no_grad()
def bound_by_prices(edges: DistanceEdges, forms: LinearForms, region: Region | None) -> Bound | None:
    """Bound min over forms of minus sums of distances; None where an atom is both head and body, or there are many."""
    if not isinstance(region, Balls | Discs) or any(one.min() < 0 < one.max() for one in forms.matrix.unbind(1)):
        return None
    parts = []
    for number in range(len(edges.relations)):
        clause = _Clause(edges, forms, region, number)
        if len(clause.bodies) not in _FIRST_CELLS:
            return None
        parts.append(clause.bound())
    return Bound(*(torch.stack(tensors) for tensors in zip(*parts, strict=True)))


class _Clause:
    """One clause: u of all atoms, its cells, λ and ν."""

    def __init__(self, edges: DistanceEdges, forms: LinearForms, region: Balls | Discs, number: int) -> None:
        self.free, self.fixed = edges.free, edges.fixed[number]  # [fixed slots, components, size]
        self.forms = forms.like(edges.relations)
        self.alpha, self.kappa = edges.linear(number)  # [atoms, components, free], [atoms, components]
        moving = (self.alpha != 0).any(-1).any(-1)
        self.heads, self.bodies = (
            [atom for atom in moving.nonzero().flatten().tolist() if (sign * self.forms.matrix[:, atom] > 0).any()]
            for sign in (-1, 1)
        )
        self.offsets = self.forms.offsets - self.forms.matrix @ torch.where(moving, 0, self.kappa.abs().sum(-1))
        self.size = self.fixed.shape[-1]
        fixed = edges.fixed[number : number + 1]
        self.region: Balls | Discs
        self.radius: Tensor | None = None
        if isinstance(region, Discs):
            self.region = Discs(region.radius[number : number + 1], fixed)
            self.radius = region.radius[number].T  # [components, free]
        else:
            self.region = Balls(region.free, fixed, region.sphere)
        self.logits = self.offsets.new_zeros(len(self.offsets))  # of λ
        self.sphere = isinstance(region, Balls) and region.sphere
        shape = 1 if self.radius is None else len(self.radius), self.free
        start = self.offsets.new_full(shape, len(self.alpha[0]) ** 0.5) if self.radius is None else 1 / self.radius
        self.levels = start.clamp_max(1 / _TINY).log()  # the logarithm of ν or, where it may be negative, ν
        self.signed = False

    def bound(self) -> tuple[Tensor, Tensor, Tensor]:
        """Return the bound, λ, and a point of all slots."""
        cells = self._halved(self._first_cells(), _SMOOTH[:-1])
        value, weights, found = self._evaluated(cells)
        point, reached = self._climbed(self._likely(found))
        for _ in range(_MORE_ROUNDS):
            if value - reached <= _CLOSE * value.abs():
                break
            if self.sphere and (self._dual()[1] < _SLACK * value.abs()).any():  # a vector would rather be shorter
                self.levels, self.signed = self._dual()[1], True
            cells = self._halved(cells, _SMOOTH[-2:])
            other = self._evaluated(cells)
            again, more = self._climbed(self._likely(other[2]))
            point, reached = (again, more) if more > reached else (point, reached)
            gained = value - other[0]
            value, weights = other[:2] if gained > 0 else (value, weights)
            if gained < _WORTH * (value - reached):
                break
        return value, weights, torch.cat([point.reshape(self.free, -1, self.size), self.fixed])

    def _halved(self, cells: Tensor, smooth: Sequence[float]) -> Tensor:
        """Look for better λ and ν, and halve the cells that have the largest values there, again and again."""
        for share in smooth:
            self._search(cells, share)
            cells = _halved(cells, self._in_cells(cells, *self._dual()).values, _HALVED[len(self.bodies)])
        self._search(cells, smooth[-1])
        return cells

    def _climbed(self, points: Tensor) -> tuple[Tensor, Tensor]:
        starts = torch.cat([points, drawn(self.free, points.shape[-1], points)])
        return climbed(starts, self._attained, self._inside)

    def _evaluated(self, cells: Tensor) -> tuple[Tensor, Tensor, _Found]:
        """Return the bound over all cells, λ, and what was found in the cells."""
        weights, prices = self._dual()
        found = self._in_cells(cells, weights, prices)
        return self._shared(weights, prices) + found.values.amax(-1).sum(), weights, found

    def _dual(self) -> tuple[Tensor, Tensor]:
        """Return λ [forms] and ν [1 or components, free]."""
        return self.logits.softmax(0), self._prices(self.levels)

    def _prices(self, levels: Tensor) -> Tensor:
        return levels if self.signed else levels.exp() + _LEAST_PRICE

    def _shared(self, weights: Tensor, prices: Tensor) -> Tensor:
        """Return what the bound has beside its components."""
        return (prices if self.radius is None else prices * self.radius.square()).sum() + weights @ self.offsets

    def _first_cells(self) -> Tensor:
        """Return cells [components, cells, bodies, 2] that hold all distances, the finer the smaller."""
        count, bodies = _FIRST_CELLS[len(self.bodies)], len(self.bodies)
        reach = 1.0 if self.radius is None else self.radius
        farthest = (self.alpha[self.bodies].abs() * reach).sum(-1) + self.kappa[
            self.bodies
        ].abs()  # [bodies, components]
        share = torch.linspace(0, 1, count + 1, dtype=farthest.dtype, device=farthest.device).square()
        ends = torch.stack([share[:-1], share[1:]], -1)  # [count, 2]
        places = torch.tensor(list(product(range(count), repeat=bodies)), device=ends.device, dtype=torch.long)
        return ends[places] * farthest.T[:, None, :, None].clamp_min(_TINY)

    def _search(self, cells: Tensor, smooth: float) -> None:
        """Look for λ and ν with a small bound over the likeliest cells, where the maximum over cells is smoothed."""
        values = self._in_cells(cells, *self._dual()).values
        if values.shape[1] > _LIKELY:
            index = values.topk(_LIKELY, dim=-1).indices[..., None, None].expand(-1, -1, *cells.shape[2:])
            cells = cells.gather(1, index)
        temperature = (smooth * values.amax(-1).abs().mean()).clamp_min(_TINY)
        parameters = [one.clone().requires_grad_() for one in (self.logits, self.levels)]
        optimizer = torch.optim.LBFGS(parameters, max_iter=_STEPS, line_search_fn="strong_wolfe")

        def closure() -> Tensor:
            optimizer.zero_grad()
            with torch.enable_grad():
                weights, prices = parameters[0].softmax(0), self._prices(parameters[1])
                found = self._in_cells(cells, weights.detach(), prices.detach())
                factors = self.forms.matrix.T @ weights
                moved = -found.heads @ factors[self.heads] - found.bodies @ factors[self.bodies]
                moved = moved - (found.squares * prices.unsqueeze(1)).sum(-1)
                moved = moved + (found.lifted.unsqueeze(-1) * (found.squares - 1) * prices.unsqueeze(1)).mean(-1)
                # By the envelope theorem these are the derivatives at the maximiser.
                values = found.values + moved - moved.detach()
                loss = self._shared(weights, prices) + temperature * torch.logsumexp(values / temperature, -1).sum()
                loss = loss - _BARRIER * temperature * len(values) * parameters[0].log_softmax(0).sum()
                loss.backward()
            return loss.detach()

        before, old = self._evaluated(cells)[0], (self.logits, self.levels)
        optimizer.step(closure)
        self.logits, self.levels = (one.detach() for one in parameters)
        if not self._evaluated(cells)[0] < before:
            self.logits, self.levels = old

    def _in_cells(self, cells: Tensor, weights: Tensor, prices: Tensor) -> _Found:
        """Maximise the weighted form in each cell, less the prices."""
        factors = self.forms.matrix.T @ weights
        low, high = cells.unbind(-1)  # [components, cells, bodies]
        scales = 1 / (low + high)
        shifts = low * high * scales
        body, head = factors[self.bodies], -factors[self.heads]
        alpha, kappa = self.alpha[self.bodies].movedim(0, 1), self.kappa[self.bodies].T  # [components, bodies, free]
        bent = (body * scales).to(alpha.dtype)  # c / (l + h)
        form = torch.einsum("icb,ibv,ibw->icvw", bent, alpha.conj(), alpha) + torch.diag_embed(prices)[:, None]
        linear = -torch.einsum("icb,ibv,ib->icv", bent, alpha.conj(), kappa)
        at_head, away = self.alpha[self.heads].movedim(0, 1), self.kappa[self.heads].T  # [components, heads, free]
        lift = self._lift(prices, form, linear, at_head.abs().square().sum(-1).sqrt() @ head)
        form = form + torch.diag_embed(lift.unsqueeze(-1).expand(linear.shape))
        sides = torch.cat([linear.unsqueeze(-1), at_head.conj().mT[:, None].expand(*linear.shape, -1)], -1)
        solved = torch.linalg.solve(form, sides)  # of m₀, and of conj(α) for each head
        centre, pulls = solved[..., 0], solved[..., 1:]
        reached = torch.einsum("ihv,icv->ich", at_head, centre) + away.unsqueeze(1)  # u of heads, before they pull
        phases = torch.where(reached.abs() > 0, reached / reached.abs().clamp_min(_TINY**2), 1)
        curved = torch.einsum("ihv,icvk->ichk", at_head, pulls).abs()
        values = (linear.conj() * centre).real.sum(-1) + reached.abs() @ head + (curved @ head) @ head / 4
        values = values + self.free * lift - (scales * kappa.abs().square().unsqueeze(1) + shifts) @ body
        points = centre + (pulls * (phases * head / 2).unsqueeze(-2)).sum(-1)
        near = (torch.einsum("ibv,icv->icb", alpha, points) + kappa.unsqueeze(1)).abs().square()
        far = torch.einsum("ihv,icv->ich", at_head, points) + away.unsqueeze(1)
        return _Found(
            values, points, points.abs().square(), near * scales + shifts, (phases.conj() * far).real, lift > 0
        )

    def _lift(self, prices: Tensor, form: Tensor, linear: Tensor, pull: Tensor) -> Tensor:
        """Return a price [components, cells] that keeps |x| ≤ 1 in a component where that of the sphere is too low."""
        if (prices > 0).all():
            return torch.zeros_like(linear[..., 0].real)
        lowest = form[..., 0, 0].real if self.free == 1 else torch.linalg.eigvalsh(form)[..., 0]
        return (linear.abs().square().sum(-1).sqrt() + pull.unsqueeze(-1) / 2 - lowest).clamp_min(0)

    def _likely(self, found: _Found) -> Tensor:
        """Draw points from the likeliest cells, the first one from the likeliest of all: [sets, free, numbers]."""
        generator = torch.Generator().manual_seed(0)
        temperature = (_SMOOTH[-3] * found.values.amax(-1).abs().mean()).clamp_min(_TINY)
        spread = (found.values / temperature).softmax(-1).cpu()
        places = torch.multinomial(spread, _SETS, replacement=True, generator=generator).T.to(found.values.device)
        places[0] = found.values.argmax(-1)
        rows = torch.arange(len(spread), device=places.device)
        chosen = found.points[rows, places].mT  # [sets, free, components]
        return (torch.view_as_real(chosen) if chosen.is_complex() else chosen.unsqueeze(-1)).flatten(2)

    def _attained(self, points: Tensor) -> Tensor:
        """Return min over forms at points [sets, free, numbers] → [sets]."""
        points = points.unflatten(-1, (-1, self.size))
        numbers = torch.view_as_complex(points.contiguous()) if self.size == 2 else points.squeeze(-1)
        apart = torch.einsum("aiv,nvi->nai", self.alpha, numbers) + self.kappa
        distances = (torch.view_as_real(apart).norm(dim=-1) if apart.is_complex() else apart.abs()).sum(-1)
        return (self.forms.offsets - distances @ self.forms.matrix.T).amin(-1)

    def _inside(self, points: Tensor) -> Tensor:
        return self.region.project(points.unflatten(-1, (-1, self.size)).unsqueeze(0))[0].flatten(2)


class _Found(NamedTuple):
    """The largest values in cells, and what they are made of."""

    values: Tensor  # [components, cells]
    points: Tensor  # [components, cells, free]
    squares: Tensor  # |x|² [components, cells, free]
    bodies: Tensor  # what stands for the distances of bodies [components, cells, bodies]
    heads: Tensor  # and of heads [components, cells, heads]
    lifted: Tensor  # whether |x| ≤ 1 has a price of its own [components, cells]


def _halved(cells: Tensor, values: Tensor, count: int) -> Tensor:
    """Halve the cells of each component with the largest values, where their bound of a distance is loosest."""
    if not count:
        return cells
    order = values.argsort(-1, descending=True)[..., None, None].expand_as(cells)
    cells = cells.gather(1, order)
    chosen, kept = cells[:, :count], cells[:, count:]
    low, high = chosen.unbind(-1)
    loose = (low.sqrt() - high.sqrt()).square() / (low + high) * (low * high).sqrt()
    loose = torch.where(low > 0, loose, high / 4)
    place = torch.nn.functional.one_hot(loose.argmax(-1), cells.shape[2]).bool()
    middle = (low + high) / 2
    below = torch.stack([low, torch.where(place, middle, high)], -1)
    above = torch.stack([torch.where(place, middle, low), high], -1)
    return torch.cat([below, above, kept], 1)
