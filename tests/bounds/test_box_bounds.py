"""On boxes the dual bound is exact with one form, and close to what its point attains with several."""

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
    random_boxes,
    smallest_form,
    thresholds,
    uniform_boxes,
)

from clausal.bounds.blocks import AtomBlocks, Bound, LinearForms
from clausal.bounds.boxes.dual import bound_on_boxes
from clausal.bounds.regions import Boxes

ONE_ATOM = {"implication": ((0, 0), (1, 1)), "inverse": ((0, 1), (1, 0)), "constant": ((0, 0), (1, 2))}


def bound(atoms: AtomBlocks, forms: LinearForms, boxes: Boxes, constants: int = 0) -> Bound:
    found = bound_on_boxes(atoms, forms, boxes, boxes.low.shape[1] - constants)
    assert found is not None
    return found


@pytest.mark.parametrize("scorer", SCORERS)
@pytest.mark.parametrize("shape", ONE_ATOM)
@pytest.mark.parametrize("seed", range(3))
def test_with_one_form_the_bound_is_the_best_corner_and_is_attained(scorer: str, shape: str, seed: int) -> None:
    atoms = random_atoms(scorer, 4, *ONE_ATOM[shape], seed)
    boxes = random_boxes(atoms, 3, seed, constants=1)
    found = bound(atoms, IMPLICATION, boxes, constants=1)
    expected = best_corner(atoms, IMPLICATION, boxes)
    torch.testing.assert_close(found.value, expected, rtol=1e-9, atol=1e-9)
    torch.testing.assert_close(smallest_form(atoms, IMPLICATION, found.components), expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("scorer", ["distmult", "complex"])
def test_an_implication_between_reflexive_atoms_is_exact_on_every_box(scorer: str) -> None:
    """δ x² summed over real numbers is largest at a limit of x, or at 0 where δ is negative."""
    atoms = random_atoms(scorer, 8, (0, 0), (0, 0), 5)
    boxes = random_boxes(atoms, 1, 6)
    curvature = (atoms.matrices[:, 0] - atoms.matrices[:, 1]).diagonal(dim1=-2, dim2=-1)
    low, high = boxes.low[:, 0], boxes.high[:, 0]
    points = torch.stack([low, high, torch.zeros_like(low).clamp(low, high)])
    expected = (curvature * points**2).amax(0).sum((1, 2))
    torch.testing.assert_close(bound(atoms, IMPLICATION, boxes).value, expected, rtol=1e-9, atol=1e-9)


def test_a_reflexive_atom_of_negative_curvature_is_bounded_closely() -> None:
    """r(X, X) ⇒ s(X, Y): x ranges over a fine grid, y over its limits."""
    atoms = random_atoms("distmult", 6, (0, 0), (0, 1), 7)
    boxes = random_boxes(atoms, 2, 8)
    x = boxes.low[:, 0] + torch.linspace(0, 1, 4001)[:, None, None, None] * (boxes.high - boxes.low)[:, 0]
    r, s = atoms.matrices.squeeze(-1).unbind(1)
    best = torch.maximum(*(r * x**2 - s * x * y for y in (boxes.low[:, 1], boxes.high[:, 1]))).amax(0).sum((1, 2))
    value = bound(atoms, IMPLICATION, boxes).value
    assert (value >= best).all()
    torch.testing.assert_close(value, best, rtol=2e-3, atol=2e-3)


CONJUNCTIONS = {
    "composition": (3, (0, 1, 0), (1, 2, 2), 0, conjunction(2)),
    "shared": (2, (0, 1, 0), (1, 0, 1), 0, conjunction(2)),
    "constant": (3, (0, 1, 0), (1, 2, 2), 1, conjunction(2)),
    "reflexive": (2, (0, 1, 0), (0, 0, 1), 0, conjunction(2)),
    "offsets": (3, (0, 1, 0), (1, 2, 2), 0, conjunction(2, 0.7, -0.3)),
    "thresholds": (3, (0, 1, 0), (1, 2, 2), 0, thresholds(2, 0.5, 0.2)),
    "three atoms": (3, (0, 1, 0, 2), (1, 2, 2, 0), 0, conjunction(3)),
}


@pytest.mark.parametrize("case", CONJUNCTIONS)
@pytest.mark.parametrize("scorer", SCORERS)
@pytest.mark.parametrize("seed", [0])
def test_no_point_exceeds_the_bound_and_the_point_found_is_one_of_the_region(case: str, scorer: str, seed: int) -> None:
    slots, subjects, objects, constants, forms = CONJUNCTIONS[case]
    atoms = random_atoms(scorer, 4, subjects, objects, seed)
    boxes = random_boxes(atoms, slots, seed + 10, constants)
    found = bound(atoms, forms, boxes, constants)
    share = torch.rand(3, 500, slots, *atoms.matrices.shape[2:4], generator=generator(seed), dtype=torch.float64)
    inside = boxes.low.unsqueeze(1) + share * (boxes.high - boxes.low).unsqueeze(1)
    highest = torch.maximum(best_corner(atoms, forms, boxes), smallest_form(atoms, forms, inside).amax(1))
    reached = smallest_form(atoms, forms, found.components)
    slack = 1e-9 * (1 + found.value.abs())
    assert ((found.components >= boxes.low) & (found.components <= boxes.high)).all()
    assert (highest <= found.value + slack).all()
    assert (reached <= found.value + slack).all()
    assert (reached >= highest - 0.02 * (found.value.abs() + 1)).all()


@pytest.mark.parametrize("scorer", SCORERS)
@pytest.mark.parametrize("transitive", [False, True])
@pytest.mark.parametrize("low", [0.0, -1.0])
def test_the_gap_of_conjunctions_is_small_and_shrinks_with_the_dimension(
    scorer: str, transitive: bool, low: float
) -> None:
    forms = conjunction(2)
    for dim, typical, largest in ((20, 0.005, 0.03), (100, 0.001, 0.01)):
        atoms = chain(scorer, dim, 2, seed=dim, clauses=6, transitive=transitive)
        found = bound(atoms, forms, uniform_boxes(atoms, 3, low, 1.0))
        gap = 1 - smallest_form(atoms, forms, found.components) / found.value
        assert gap.median() < typical
        assert gap.max() < largest


@pytest.mark.parametrize("length", [3, 4])
@pytest.mark.parametrize("scorer", ["distmult", "complex"])
def test_bodies_of_three_and_four_atoms_have_small_gaps(scorer: str, length: int) -> None:
    atoms, forms = chain(scorer, 20, length, seed=length, clauses=3), conjunction(length)
    found = bound(atoms, forms, uniform_boxes(atoms, length + 1, 0.0, 1.0))
    assert (1 - smallest_form(atoms, forms, found.components) / found.value).max() < 0.03


def test_transitivity_of_distmult_on_the_cube_is_half_the_positive_part_and_all_of_the_negative() -> None:
    atoms = chain("distmult", 30, 2, seed=1, transitive=True)
    relation = atoms.matrices[:, 0, :, 0, 0]
    expected = relation.relu().sum(1) / 2 + (-relation).relu().sum(1)
    torch.testing.assert_close(bound(atoms, conjunction(2), uniform_boxes(atoms, 3, 0.0, 1.0)).value, expected)


def test_single_precision_gives_the_same_bound() -> None:
    atoms, forms = chain("complex", 40, 2, seed=1), conjunction(2)
    boxes = uniform_boxes(atoms, 3, 0.0, 1.0)
    single = AtomBlocks(atoms.matrices.float(), atoms.subjects, atoms.objects)
    found = bound(single, forms, Boxes(boxes.low.float(), boxes.high.float()))
    assert found.value.dtype == found.components.dtype == torch.float32
    torch.testing.assert_close(found.value.double(), bound(atoms, forms, boxes).value, rtol=1e-5, atol=1e-5)


def test_blocks_with_too_many_corners_have_no_bound() -> None:
    matrices = torch.randn(1, 2, 1, 10, 10, generator=generator(0), dtype=torch.float64)
    atoms = AtomBlocks(matrices, (0, 0), (1, 1))
    assert bound_on_boxes(atoms, IMPLICATION, uniform_boxes(atoms, 2, 0.0, 1.0), 2) is None
