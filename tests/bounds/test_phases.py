"""On discs, complex forms in three variables have an exact maximum: only phases are to be chosen."""

from __future__ import annotations

import math

import pytest
import torch
from block_instances import chain, conjunction, generator, random_atoms, smallest_form, thresholds

from clausal.bounds.balls.dual import bound_on_balls
from clausal.bounds.balls.phases import bound_by_phases, has_phases, largest_by_phases, solve_weights
from clausal.bounds.blocks import AtomBlocks, LinearForms
from clausal.bounds.regions import Discs

CIRCLES = {
    "transitive": ((0, 1, 0), (1, 2, 2)),
    "reversed": ((1, 2, 2), (0, 1, 0)),
    "mixed": ((1, 0, 1), (0, 2, 2)),
}


def one_form(*weights: float) -> LinearForms:
    return LinearForms(torch.tensor([weights]).double(), torch.zeros(1).double())


def random_discs(atoms: AtomBlocks, free: int) -> Discs:
    clauses, _, components, size, _ = atoms.matrices.shape
    radius = torch.rand(clauses, free, components, generator=generator(3), dtype=torch.float64)
    return Discs(radius, torch.zeros(clauses, 0, components, size, dtype=torch.float64))


@pytest.mark.parametrize("ends", CIRCLES.values(), ids=CIRCLES)
@pytest.mark.parametrize("weights", [(1.0, 1.0, -1.0), (0.3, 2.0, -0.1), (1.0, 0.0, -1.0), (0.0, 0.0, 1.0)])
def test_one_form_is_as_large_as_on_a_grid_of_all_phases(ends, weights) -> None:
    atoms = random_atoms("complex", 2, *ends, seed=4, clauses=20)  # one component
    discs, form = random_discs(atoms, 3), one_form(*weights)
    found = largest_by_phases(atoms, form, discs, torch.ones(20, 1).double())
    angles = torch.arange(360).double() * math.pi / 180
    circle = torch.stack([angles.cos(), angles.sin()], -1)
    first, second = (x.reshape(-1, 2) for x in (circle[:, None].expand(-1, 360, -1), circle.expand(360, -1, -1)))
    points = torch.stack([torch.tensor([1.0, 0.0]).expand_as(first), first, second], 1).unsqueeze(2)
    on_grid = smallest_form(atoms, form, discs.radius[:, None, :, :, None] * points).amax(1)
    assert (found >= on_grid - 1e-12).all()
    torch.testing.assert_close(found, on_grid, rtol=2e-4, atol=0)


@pytest.mark.parametrize("ends", CIRCLES.values(), ids=CIRCLES)
@pytest.mark.parametrize("forms", [conjunction(2), conjunction(2, 0.7, -0.3)], ids=["plain", "offsets"])
def test_the_bound_is_that_of_semidefinite_duality_and_nearly_attained(ends, forms) -> None:
    atoms = random_atoms("complex", 24, *ends, seed=5)
    discs = random_discs(atoms, 3)
    found, dual = bound_by_phases(atoms, forms, discs, 3), bound_on_balls(atoms, forms, discs, 3)
    assert found is not None
    torch.testing.assert_close(found.value, dual.value, rtol=1e-7, atol=1e-9)
    reached = smallest_form(atoms, forms, found.components)
    assert (reached <= found.value + 1e-9).all()
    assert (reached >= found.value - 1e-4 * found.value.abs()).all()
    lengths = torch.linalg.vector_norm(found.components, dim=-1)
    torch.testing.assert_close(lengths, discs.radius)


def test_forms_that_change_places_are_balanced_by_components() -> None:
    atoms = random_atoms("complex", 40, (0, 0, 0), (1, 1, 1), seed=6)  # a(X, Y), b(X, Y) => h(X, Y)
    discs, forms = random_discs(atoms, 2), conjunction(2)
    found = bound_by_phases(atoms, forms, discs, 2)
    assert found is not None
    torch.testing.assert_close(found.value, bound_on_balls(atoms, forms, discs, 2).value, rtol=1e-7, atol=1e-9)
    assert (smallest_form(atoms, forms, found.components) >= 0.99 * found.value).all()


@pytest.mark.parametrize("ends", [((0, 1), (1, 2)), ((0, 0), (1, 2)), ((0, 1), (2, 2))], ids=str)
def test_without_a_circle_every_pair_has_its_best_phase(ends) -> None:
    atoms = random_atoms("complex", 12, *ends, seed=7)
    discs, form = random_discs(atoms, 3), one_form(1.0, -2.0)
    (one, first), (other, second) = zip(*ends, strict=True)
    moduli = torch.linalg.vector_norm(atoms.matrices[..., 0], dim=-1)  # of each atom and component
    pairs = discs.radius[:, [one, other]] * discs.radius[:, [first, second]]
    expected = (moduli * pairs * torch.tensor([[1.0], [2.0]])).sum((1, 2))
    found = bound_by_phases(atoms, form, discs, 3)
    assert found is not None
    torch.testing.assert_close(found.value, expected)
    torch.testing.assert_close(smallest_form(atoms, form, found.components), expected)


def test_weights_are_solved_for_in_single_precision_too() -> None:
    atoms, forms = chain("complex", 100, 2, seed=8), conjunction(2)
    discs = random_discs(atoms, 3)
    single = AtomBlocks(atoms.matrices.float(), atoms.subjects, atoms.objects)
    weights = solve_weights(single, forms, Discs(discs.radius.float(), discs.fixed.float()))
    least = largest_by_phases(atoms, forms, discs, solve_weights(atoms, forms, discs))
    torch.testing.assert_close(largest_by_phases(atoms, forms, discs, weights.double()), least, rtol=1e-6, atol=0)


def test_other_forms_are_left_to_the_dual() -> None:
    forms, ends = conjunction(2), CIRCLES["transitive"]
    assert has_phases(random_atoms("complex", 4, *ends, seed=1), forms, 3)
    assert not has_phases(random_atoms("simple", 4, *ends, seed=1), forms, 3)
    assert not has_phases(random_atoms("complex", 4, *ends, seed=1), forms, 2)  # Z is a constant
    assert not has_phases(random_atoms("complex", 4, (0, 1, 0), (0, 1, 1), seed=1), forms, 2)  # r(X, X)
    assert not has_phases(random_atoms("complex", 4, *ends, seed=1), thresholds(2, 0.1, 0.2), 3)
    assert not has_phases(chain("complex", 4, 3, seed=1), conjunction(3), 4)


@pytest.mark.gpu
@pytest.mark.parametrize("ends", [*CIRCLES.values(), ((0, 0), (1, 1)), ((0, 1), (1, 0))], ids=str)
def test_the_kernel_of_a_gpu_has_the_values_and_the_gradient_of_the_cpu(ends) -> None:
    atoms = random_atoms("complex", 700, *ends, seed=9)
    forms = conjunction(len(ends[0]) - 1)
    discs = random_discs(atoms, 1 + max(max(end) for end in ends))
    weights, values, gradients = solve_weights(atoms, forms, discs), [], []
    for device, dtype in (("cpu", torch.float64), ("cuda", torch.float32)):
        matrices = atoms.matrices.to(device, dtype).requires_grad_()
        where = Discs(discs.radius.to(matrices), discs.fixed.to(matrices))
        value = largest_by_phases(AtomBlocks(matrices, *ends), forms, where, weights.to(matrices))
        gradients.append(torch.autograd.grad(value.sum(), matrices)[0].double().cpu())
        values.append(value.detach().double().cpu())
    torch.testing.assert_close(*values, rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(*gradients, rtol=1e-3, atol=1e-3)
