"""Bounds by Lagrangian duality on balls and spheres (whole vectors) and on discs (a ball for each component)."""

from __future__ import annotations

import torch

from clausal.consistency.bounds.balls.alternation import best_on_balls
from clausal.consistency.bounds.balls.lagrangian import Multipliers, optimal_multipliers
from clausal.consistency.bounds.balls.quadratic import QuadraticForms, quadratic_forms
from clausal.consistency.bounds.blocks import AtomBlocks, Bound
from clausal.consistency.forms import LinearForms
from clausal.consistency.regions import Balls, Discs


@torch.no_grad()
def bound_on_balls(atoms: AtomBlocks, forms: LinearForms, region: Balls | Discs, free: int) -> Bound:
    """Bound max over balls, spheres or discs of min over forms; exact with one form in at most two free slots."""
    quadratic, optimum = solve_dual(atoms, forms, region, free)
    exact_atoms = atoms.detach()
    exact_forms = forms.like(exact_atoms.matrices)
    components = best_on_balls(exact_atoms, exact_forms, quadratic, optimum, region.fixed.double())
    return Bound(optimum.value.to(atoms.matrices), optimum.weights.to(atoms.matrices), components.to(atoms.matrices))


@torch.no_grad()
def solve_dual(
    atoms: AtomBlocks, forms: LinearForms, region: Balls | Discs, free: int
) -> tuple[QuadraticForms, Multipliers]:
    """Minimise the dual over λ and μ in double precision."""
    exact_atoms = atoms.detach()
    if isinstance(region, Discs):
        radius = region.radius.mT.double()  # [clauses, groups, free slots], where a group is a component
    else:
        radius = exact_atoms.matrices.new_ones(len(exact_atoms.matrices), 1, free)
    quadratic = quadratic_forms(
        exact_atoms,
        forms.like(exact_atoms.matrices),
        region.fixed.double(),
        radius,
        radius.shape[1],
        sphere=isinstance(region, Balls) and region.sphere,
    )
    return quadratic, optimal_multipliers(quadratic)
