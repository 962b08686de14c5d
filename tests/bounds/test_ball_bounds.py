"""On balls, spheres and discs the Lagrangian dual is never exceeded, and nearly attained."""

from __future__ import annotations

import pytest
import torch
from block_instances import (
    IMPLICATION,
    SCORERS,
    best_corner,
    chain,
    conjunction,
    generator,
    random_atoms,
    smallest_form,
    thresholds,
)
from torch import Tensor

from clausal.bounds.balls.dual import bound_on_balls
from clausal.bounds.blocks import AtomBlocks, LinearForms
from clausal.bounds.boxes.dual import bound_on_boxes
from clausal.bounds.regions import Balls, Boxes, Discs


def constants(atoms: AtomBlocks, count: int, seed: int = 0) -> Tensor:
    clauses, _, components, size, _ = atoms.matrices.shape
    return torch.randn(clauses, count, components, size, generator=generator(seed), dtype=torch.float64)


def best_of_ascent(atoms: AtomBlocks, forms: LinearForms, region: Balls | Discs, free: int) -> Tensor:
    """Climb from many random starts and return the largest smallest form of each clause."""
    clauses, _, components, size, _ = atoms.matrices.shape
    shape = (clauses, 30, free, components, size)
    start = torch.randn(shape, generator=generator(1), dtype=torch.float64)
    points = region.project(start).requires_grad_()
    fixed = region.fixed.unsqueeze(1).expand(-1, 30, -1, -1, -1)
    best = torch.full((clauses,), -torch.inf, dtype=torch.float64)
    for step in range(80):
        values = smallest_form(atoms, forms, torch.cat([points, fixed], 2))
        best = torch.maximum(best, values.detach().amax(1))
        (gradient,) = torch.autograd.grad(values.sum(), points)
        rate = 0.3 * 0.95**step / gradient.norm(dim=(-1, -2), keepdim=True).clamp_min(1e-12)
        points = region.project((points + rate * gradient).detach()).requires_grad_()
    return best


@pytest.mark.parametrize("scorer", SCORERS)
def test_an_implication_on_balls_is_the_largest_singular_value(scorer: str) -> None:
    atoms = random_atoms(scorer, 12, (0, 0), (1, 1), 1)
    found = bound_on_balls(atoms, IMPLICATION, Balls(2, constants(atoms, 0)), 2)
    expected = torch.linalg.matrix_norm(atoms.matrices[:, 0] - atoms.matrices[:, 1], 2).amax(1)
    torch.testing.assert_close(found.value, expected, rtol=1e-9, atol=1e-9)
    torch.testing.assert_close(smallest_form(atoms, IMPLICATION, found.components), expected, rtol=1e-9, atol=1e-9)


def test_an_implication_between_reflexive_atoms_on_the_sphere_is_the_largest_eigenvalue() -> None:
    atoms = random_atoms("complex", 8, (0, 0), (0, 0), 2)
    lower = AtomBlocks(torch.stack([atoms.matrices[:, 0] - 9 * torch.eye(2), atoms.matrices[:, 1]], 1), (0, 0), (0, 0))
    for instance in (atoms, lower):
        found = bound_on_balls(instance, IMPLICATION, Balls(1, constants(atoms, 0), sphere=True), 1)
        difference = instance.matrices[:, 0] - instance.matrices[:, 1]
        expected = torch.linalg.eigvalsh((difference + difference.mT) / 2).amax((1, 2))
        torch.testing.assert_close(found.value, expected, rtol=1e-8, atol=1e-8)
        reached = smallest_form(instance, IMPLICATION, found.components)
        torch.testing.assert_close(reached, expected, rtol=1e-4, atol=1e-4)


def test_an_implication_with_a_constant_on_balls_is_the_norm_of_its_linear_form() -> None:
    atoms = random_atoms("complex", 8, (0, 0), (1, 1), 3)
    fixed = constants(atoms, 1)
    found = bound_on_balls(atoms, IMPLICATION, Balls(1, fixed), 1)
    linear = torch.einsum("nipq,niq->nip", atoms.matrices[:, 0] - atoms.matrices[:, 1], fixed[:, 0])
    expected = torch.linalg.vector_norm(linear, dim=(1, 2))
    torch.testing.assert_close(found.value, expected, rtol=1e-9, atol=1e-9)
    torch.testing.assert_close(smallest_form(atoms, IMPLICATION, found.components), expected, rtol=1e-9, atol=1e-9)


CASES = {
    "composition": (3, (0, 1, 0), (1, 2, 2), conjunction(2)),
    "constant": (2, (0, 1, 0), (1, 2, 2), conjunction(2)),
    "reflexive": (2, (0, 1, 0), (0, 0, 1), conjunction(2)),
    "thresholds": (3, (0, 1, 0), (1, 2, 2), thresholds(2, 0.1, 0.2)),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize(("scorer", "region"), [("distmult", "ball"), ("complex", "sphere"), ("complex", "discs")])
def test_no_point_exceeds_the_bound_and_the_point_found_keeps_up_with_ascent(
    case: str, scorer: str, region: str
) -> None:
    free, subjects, objects, forms = CASES[case]
    atoms = random_atoms(scorer, 6, subjects, objects, 4)
    fixed = constants(atoms, 1 + max(subjects + objects) - free)
    if region == "discs":
        radius = torch.rand(3, free, atoms.matrices.shape[2], generator=generator(5), dtype=torch.float64)
        where: Balls | Discs = Discs(radius, fixed)
    else:
        where = Balls(free, fixed, sphere=region == "sphere")
    found = bound_on_balls(atoms, forms, where, free)
    highest = best_of_ascent(atoms, forms, where, free)
    reached = smallest_form(atoms, forms, found.components)
    slack = 1e-7 * (1 + found.value.abs())
    assert (highest <= found.value + slack).all()
    assert (reached <= found.value + slack).all()
    assert (reached >= highest - 0.03 * (1 + found.value.abs())).all()
    free_part = found.components[:, None, :free]
    torch.testing.assert_close(where.project(free_part), free_part, rtol=0, atol=1e-7)
    torch.testing.assert_close(found.components[:, free:], fixed)


@pytest.mark.parametrize(("scorer", "sphere"), [("distmult", True), ("complex", False), ("simple", True)])
def test_composition_on_balls_has_a_small_gap(scorer: str, sphere: bool) -> None:
    atoms, forms = chain(scorer, 20, 2, seed=6, clauses=4), conjunction(2)
    found = bound_on_balls(atoms, forms, Balls(3, constants(atoms, 0), sphere), 3)
    assert (1 - smallest_form(atoms, forms, found.components) / found.value).max() < 0.02


def test_many_components_do_not_upset_the_search() -> None:
    """With 200 components some systems are singular to rounding close to the optimum."""
    atoms, forms = chain("distmult", 200, 2, seed=16, clauses=9), conjunction(2)
    found = bound_on_balls(atoms, forms, Balls(3, constants(atoms, 0)), 3)
    assert (1 - smallest_form(atoms, forms, found.components) / found.value).max() < 0.02


def test_composition_of_complex_on_discs_has_no_gap() -> None:
    atoms, forms = chain("complex", 20, 2, seed=7), conjunction(2)
    radius = torch.rand(3, 3, 10, generator=generator(8), dtype=torch.float64)
    found = bound_on_balls(atoms, forms, Discs(radius, constants(atoms, 0)), 3)
    torch.testing.assert_close(smallest_form(atoms, forms, found.components), found.value, rtol=1e-6, atol=1e-6)


def test_discs_of_single_numbers_are_intervals() -> None:
    atoms = random_atoms("distmult", 4, (0, 0), (1, 1), 9)
    radius = torch.rand(3, 2, 4, generator=generator(10), dtype=torch.float64)
    found = bound_on_boxes(atoms, IMPLICATION, Discs(radius, constants(atoms, 0)).intervals(), 2)
    assert found is not None
    boxes = Boxes(-radius.unsqueeze(-1), radius.unsqueeze(-1))
    torch.testing.assert_close(found.value, best_corner(atoms, IMPLICATION, boxes), rtol=1e-9, atol=1e-9)
