"""Bounds by Lagrangian duality on balls and spheres (whole vectors) and on discs (a ball for each component)."""

from __future__ import annotations

import torch
from torch import Tensor

from clausal.consistency.bounds.alternation import best_on_balls, draw
from clausal.consistency.bounds.blocks import AtomBlocks, Bound
from clausal.consistency.bounds.boxes import bound_on_boxes
from clausal.consistency.bounds.lagrangian import Multipliers, optimal_multipliers
from clausal.consistency.bounds.quadratic import quadratic_forms
from clausal.consistency.forms import LinearForms
from clausal.consistency.regions import Balls, Boxes, Discs


def bound_on_balls(atoms: AtomBlocks, forms: LinearForms, balls: Balls, weights: Tensor | None = None) -> Bound:
    """Bound max over balls or spheres of min over forms; exact with one form in at most two free slots.

    Given ``weights`` the bound is that of this λ, and the components are a plain draw, not searched.
    """
    radius = atoms.matrices.new_ones(len(atoms.matrices), 1, balls.free)
    return _bound(atoms, forms, radius, balls.fixed, balls.sphere, weights)


def bound_on_discs(atoms: AtomBlocks, forms: LinearForms, discs: Discs, weights: Tensor | None = None) -> Bound:
    """Bound max over discs of min over forms; given ``weights``, for this λ and with a plain draw as components.

    A disc of one number is an interval, for which corners are exact and the Lagrangian dual is not.
    """
    if atoms.matrices.shape[-1] == 1:
        intervals = torch.cat([discs.radius.unsqueeze(-1), discs.fixed], 1)
        opposite = torch.cat([-discs.radius.unsqueeze(-1), discs.fixed], 1)
        bound = bound_on_boxes(atoms, forms, Boxes(opposite, intervals), weights)
        if bound is not None:
            return bound
    return _bound(atoms, forms, discs.radius.mT, discs.fixed, False, weights)


def _bound(
    atoms: AtomBlocks, forms: LinearForms, radius: Tensor, fixed: Tensor, sphere: bool, weights: Tensor | None
) -> Bound:
    """Bound on balls of radius [clauses, groups, free slots], where a group is all components or one."""
    forms = forms.like(atoms.matrices)
    with torch.no_grad():
        exact_atoms = atoms.detach()
        exact_forms = forms.like(exact_atoms.matrices)
        exact_radius, exact_fixed = radius.detach().double(), fixed.detach().double()
        quadratic = quadratic_forms(exact_atoms, exact_forms, exact_fixed, exact_radius, radius.shape[1], sphere)
        if weights is None:
            optimum = optimal_multipliers(quadratic)
            weights = optimum.weights
            components = best_on_balls(exact_atoms, exact_forms, quadratic, optimum, exact_fixed)
        else:
            optimum = optimal_multipliers(quadratic.weighted(weights.detach().double()))
            components = draw(quadratic, optimum, exact_fixed, sets=1).squeeze(1)
    weights = weights.to(atoms.matrices)
    expected = (weights @ forms.matrix * _expected_scores(atoms, fixed, optimum)).sum(1)
    limits = (optimum.multipliers.to(radius) * radius**2).sum((1, 2))
    surrogate = expected + limits
    value = surrogate + (optimum.value.to(surrogate) - surrogate).detach()
    return Bound(value, weights, components.to(atoms.matrices))


def _expected_scores(atoms: AtomBlocks, fixed: Tensor, optimum: Multipliers) -> Tensor:
    """Return each atom's mean score [clauses, atoms] over the random x of the optimum."""
    size = atoms.matrices.shape[-1]
    mean = optimum.mean.unflatten(-1, (-1, size)).movedim(2, 1).to(atoms.matrices)  # [clauses, free, components, size]
    vectors = torch.cat([mean, fixed], 1)
    moments = optimum.moments.unflatten(-1, (-1, size)).unflatten(2, (-1, size)).to(atoms.matrices)
    free = mean.shape[1]
    scores = []
    for place, (subject, object) in enumerate(zip(atoms.subjects, atoms.objects, strict=True)):
        if subject < free and object < free:
            moment = moments[:, :, subject, :, object]  # [clauses, components, size, size]
        else:
            moment = vectors[:, subject].unsqueeze(-1) * vectors[:, object].unsqueeze(-2)
        scores.append((atoms.matrices[:, place] * moment).sum((1, 2, 3)))
    return torch.stack(scores, 1)
