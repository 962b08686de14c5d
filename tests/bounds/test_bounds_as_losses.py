"""A bound as a loss is valid for whatever was kept, least where that was solved for, and has the right gradient."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from block_instances import chain, conjunction, generator, random_atoms, random_boxes, smallest_form, thresholds
from torch import Tensor

from clausal.bounds.balls.dual import largest_on_balls, solve_dual, solve_on_balls
from clausal.bounds.blocks import AtomBlocks, LinearForms
from clausal.bounds.boxes.dual import bound_on_boxes, largest_on_boxes, solve_on_boxes
from clausal.bounds.regions import Balls, Boxes, Discs, Region

COMPOSITION, ENTANGLED = ((0, 1, 0), (1, 2, 2)), ((0, 0), (1, 2))
CASES: dict[str, tuple[int, tuple[tuple[int, ...], tuple[int, ...]], LinearForms]] = {
    "composition": (3, COMPOSITION, conjunction(2)),
    "offsets": (3, COMPOSITION, conjunction(2, 0.7, -0.3)),
    "constant": (2, COMPOSITION, conjunction(2)),
    "reflexive": (2, ((0, 1, 0), (0, 0, 1)), conjunction(2)),
    "thresholds": (3, COMPOSITION, thresholds(2, 0.1, 0.2)),
    "entangled": (3, ENTANGLED, LinearForms(torch.tensor([[1.0, -1.0]]).double(), torch.zeros(1).double())),
}
REGIONS = ["boxes", "uniform boxes", "ball", "sphere", "discs"]


def region_for(atoms: AtomBlocks, name: str, free: int) -> Region:
    clauses, _, components, size, _ = atoms.matrices.shape
    slots = 1 + max(atoms.subjects + atoms.objects)
    fixed = torch.randn(clauses, slots - free, components, size, generator=generator(2), dtype=torch.float64)
    if name == "boxes":
        return random_boxes(atoms, slots, 3, constants=slots - free)
    if name == "uniform boxes":
        limits = torch.tensor([-0.5, 1.0]).double()[:, None, None, None, None]
        low, high = limits.expand(2, clauses, free, components, size)
        return Boxes(low, high) if slots == free else Boxes(torch.cat([low, fixed], 1), torch.cat([high, fixed], 1))
    if name == "discs":
        return Discs(torch.rand(clauses, free, components, generator=generator(4), dtype=torch.float64), fixed)
    return Balls(free, fixed, sphere=name == "sphere")


def solved(atoms: AtomBlocks, forms: LinearForms, region: Region, free: int) -> tuple[Tensor, ...]:
    if isinstance(region, Boxes):
        kept = solve_on_boxes(atoms, forms, region, free)
        assert kept is not None
        return kept
    return solve_on_balls(atoms, forms, region, free)


def loss(atoms: AtomBlocks, forms: LinearForms, region: Region, free: int, kept: tuple[Tensor, ...]) -> Tensor:
    if isinstance(region, Boxes):
        return largest_on_boxes(atoms, forms, region, free, *kept)
    return largest_on_balls(atoms, forms, region, free, *kept)


def least_bound(atoms: AtomBlocks, forms: LinearForms, region: Region, free: int) -> Tensor:
    """The bound of a certificate, which the tests of bounds compare with what is attained."""
    if isinstance(region, Boxes):
        found = bound_on_boxes(atoms, forms, region, free)
        assert found is not None
        return found.value
    return solve_dual(atoms, forms, region, free)[1].value


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize(
    ("scorer", "region"), [("distmult", "boxes"), ("distmult", "sphere"), *(("complex", name) for name in REGIONS)]
)
def test_what_was_solved_gives_the_least_bound_and_stays_valid_as_the_relations_move(
    scorer: str, region: str, case: str
) -> None:
    free, ends, forms = CASES[case]
    atoms = random_atoms(scorer, 4, *ends, seed=1)
    where = region_for(atoms, region, free)
    kept = solved(atoms, forms, where, free)
    value, least = loss(atoms, forms, where, free, kept), least_bound(atoms, forms, where, free)
    tolerance = 1e-9 if isinstance(where, Boxes) else 3e-3
    assert (value >= least - 1e-7).all()
    if (region, case) != ("sphere", "reflexive"):  # there μ may be negative, and scaling needs it positive
        torch.testing.assert_close(value, least, rtol=tolerance, atol=tolerance)
    moves = random_atoms(scorer, 4, *ends, seed=2).matrices * torch.tensor([0.1, 1.0, 10.0])[:, None, None, None, None]
    moved = AtomBlocks(atoms.matrices + moves, *ends)
    value, anew = loss(moved, forms, where, free, kept), least_bound(moved, forms, where, free)
    assert (value >= anew - 1e-7 * (1 + anew.abs())).all()
    points = where.project(torch.randn(3, 500, free, *atoms.matrices.shape[2:4], generator=generator(8)).double())
    fixed = where.low[:, free:] if isinstance(where, Boxes) else where.fixed
    points = torch.cat([points, fixed.unsqueeze(1).expand(-1, 500, -1, -1, -1)], 2)
    assert (value >= smallest_form(moved, forms, points).amax(1)).all()


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("region", REGIONS)
def test_the_gradient_is_that_of_the_loss(region: str, case: str) -> None:
    free, ends, forms = CASES[case]
    # Without the structure of a scorer, by which corners tie.
    matrices = torch.randn(2, len(ends[0]), 3, 2, 2, generator=generator(5), dtype=torch.float64)
    atoms = AtomBlocks(matrices, *ends)
    where = region_for(atoms, region, free)
    kept = solved(random_atoms("complex", 6, *ends, seed=6, clauses=2), forms, where, free)
    fixed = where.low[:, free:] if isinstance(where, Boxes) else where.fixed

    def value(matrices: Tensor, fixed: Tensor) -> Tensor:
        blocks = AtomBlocks(matrices, atoms.subjects, atoms.objects)
        return loss(blocks, forms, with_constants(where, fixed, free), free, kept).sum()

    check_gradient(value, atoms.matrices, fixed)


def with_constants(region: Region, fixed: Tensor, free: int) -> Region:
    if isinstance(region, Discs):
        return Discs(region.radius, fixed)
    if isinstance(region, Balls):
        return Balls(free, fixed, region.sphere)
    return Boxes(torch.cat([region.low[:, :free], fixed], 1), torch.cat([region.high[:, :free], fixed], 1))


def check_gradient(value: Callable[..., Tensor], *inputs: Tensor) -> None:
    """Compare with a difference quotient in a random direction."""
    inputs = tuple(tensor.clone().requires_grad_() for tensor in inputs)
    direction = [torch.randn(x.shape, generator=generator(7), dtype=torch.float64) for x in inputs]
    gradients = torch.autograd.grad(value(*inputs), inputs, allow_unused=True, materialize_grads=True)
    slope = sum((g * d).sum() for g, d in zip(gradients, direction, strict=True))
    step = 1e-6
    ahead = value(*(x.detach() + step * d for x, d in zip(inputs, direction, strict=True)))
    behind = value(*(x.detach() - step * d for x, d in zip(inputs, direction, strict=True)))
    torch.testing.assert_close(slope, (ahead - behind) / (2 * step), rtol=2e-3, atol=2e-3)


@pytest.mark.parametrize("forms", [conjunction(2), thresholds(2, 0.5, 0.2)], ids=["two forms", "three forms"])
def test_on_boxes_any_weights_give_a_bound_and_the_chosen_ones_the_least(forms: LinearForms) -> None:
    atoms = chain("complex", 6, 2, seed=3)
    boxes = random_boxes(atoms, 3, 4)
    (least,) = solved(atoms, forms, boxes, 3)
    for seed in range(20):
        weights = torch.rand(3, len(forms.offsets), generator=generator(seed), dtype=torch.float64)
        other = largest_on_boxes(atoms, forms, boxes, 3, weights / weights.sum(1, keepdim=True))
        assert (other >= largest_on_boxes(atoms, forms, boxes, 3, least) - 1e-9).all()
