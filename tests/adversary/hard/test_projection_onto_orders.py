"""The projection onto equalities, orders and balances: exact on rooted trees, inside and near the nearest elsewhere."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch
from scipy.optimize import nnls

from clausal.adversary.hard.projection import Projection
from clausal.adversary.hard.structure import Demands, structure_of
from clausal.fast.cpu.orders import CompiledProjection

CPU = torch.device("cpu")


def nearest(numbers, demands, weights=None):
    """The nearest point by an active-set solver, column by column: y = x − Aᵀμ, μ the multipliers of A y ≤ 0.

    With weights w, the same for √w · y.
    """
    rows = [((lower, 1), (upper, -1)) for lower, upper in demands.below] + demands.balances
    for one, other, sign in demands.equal:
        rows += [((one, 1), (other, -sign)), ((one, -1), (other, sign))]
    rows += [((node, sign),) for node in demands.zero for sign in (1, -1)]
    rows += [((node, -1),) for node in demands.non_negative]
    matrix = np.zeros((len(rows), demands.nodes))
    for row, terms in zip(matrix, rows, strict=True):
        for node, factor in terms:
            row[node] += factor
    roots = np.ones_like(numbers) if weights is None else np.sqrt(weights)

    def column(x, root):
        scaled = matrix / root
        return x - scaled.T @ nnls(scaled.T, root * x, maxiter=10_000)[0] / root

    return np.stack([column(x, root) for x, root in zip(numbers.T, roots.T, strict=True)], 1)


def obeys(values, demands):
    def total(terms):  # without rounding, in double precision
        return sum(factor * values[node].double() for node, factor in terms)

    return (
        all((total(terms) <= 0).all() for terms in demands.balances)
        and all((values[lower] <= values[upper]).all() for lower, upper in demands.below)
        and all((values[one] == sign * values[other]).all() for one, other, sign in demands.equal)
        and all((values[node] == 0).all() for node in demands.zero)
        and all((values[node] >= 0).all() for node in demands.non_negative)
    )


def projected(demands, columns=40, seed=0, dtype=torch.float32):
    numbers = torch.randn(demands.nodes, columns, generator=torch.Generator().manual_seed(seed), dtype=dtype)
    return numbers, Projection(structure_of(demands), CPU)(numbers.clone())


def random_weights(numbers, seed=0):
    return 10 ** torch.rand(numbers.shape, generator=torch.Generator().manual_seed(seed + 1))


def random_tree(nodes, rising, seed):
    generator = np.random.default_rng(seed)
    pairs = [(child, int(generator.integers(child))) for child in range(1, nodes)]
    return [pair if rising else pair[::-1] for pair in pairs]


CHAIN = [(i, i + 1) for i in range(7)]
STAR = [(i, 0) for i in range(1, 9)]
TREES = {
    "pair": (2, [(0, 1)]),
    "chain": (8, CHAIN),
    "chain, with what follows from it": (8, [*CHAIN, (0, 3), (1, 6), (0, 7)]),
    "star, bodies of one head": (9, STAR),
    "star, heads of one body": (9, [pair[::-1] for pair in STAR]),
    "cycle below a chain": (6, [(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 5)]),
    "two trees and a number alone": (7, [(0, 1), (2, 1), (3, 4), (3, 5)]),
    **{
        f"random tree {seed}, {'rising' if up else 'falling'}": (20, random_tree(20, up, seed))
        for seed, up in itertools.product(range(4), (True, False))
    },
}


@pytest.mark.parametrize("name", TREES)
def test_the_projection_onto_trees_is_exact(name):
    demands = Demands(TREES[name][0], below=TREES[name][1])
    numbers, values = projected(demands)
    assert obeys(values, demands)
    np.testing.assert_allclose(values, nearest(numbers.double().numpy(), demands), atol=2e-6)
    assert not structure_of(demands).rest


@pytest.mark.parametrize("seed", range(6))
def test_other_orders_end_inside_and_near_the_nearest_point(seed):
    generator = np.random.default_rng(seed)
    pairs = {tuple(sorted(map(int, generator.choice(12, 2, replace=False)))) for _ in range(18)}
    demands = Demands(12, below=sorted(pairs))
    numbers, values = projected(demands, seed=seed)
    assert structure_of(demands).rest
    assert obeys(values, demands)
    best = nearest(numbers.double().numpy(), demands)
    moved, least = (np.linalg.norm(point - numbers.numpy(), axis=0) for point in (values.numpy(), best))
    assert (moved <= 1.02 * least + 1e-5).all()


def test_signed_equalities_are_means_and_conflicts_are_zero():
    demands = Demands(6, equal=[(0, 1, -1), (1, 2, -1), (3, 3, -1), (4, 5, 1)])
    numbers, values = projected(demands)
    assert obeys(values, demands)
    assert (values[3] == 0).all()
    np.testing.assert_allclose(values, nearest(numbers.double().numpy(), demands), atol=1e-6)


def test_a_cycle_of_signs_that_conflicts_is_zero():
    demands = Demands(3, equal=[(0, 1, 1), (1, 2, -1), (2, 0, 1)])
    _, values = projected(demands)
    assert (values == 0).all()


def test_numbers_that_must_not_be_negative_lift_what_is_above_them():
    demands = Demands(5, below=[(0, 1), (1, 2), (3, 1)], non_negative={1})
    _, values = projected(demands)
    assert obeys(values, demands)
    assert (values[2] >= 0).all()


def test_what_is_inside_stays_as_it_is():
    demands = Demands(12, below=[*random_tree(9, True, 1), (9, 10), (9, 11)])
    _, values = projected(demands)
    again = Projection(structure_of(demands), CPU)(values)
    torch.testing.assert_close(again, values, rtol=3e-7, atol=1e-7)


def test_a_long_chain_and_many_stars_end_inside():
    demands = Demands(400, below=[(i, i + 1) for i in range(199)] + [(200 + i, 200 + i % 7) for i in range(7, 200)])
    _, values = projected(demands, columns=3)
    assert obeys(values, demands)


def test_many_pairs_below_and_above_one_number_end_inside():
    demands = Demands(60, below=[(i, 30) for i in range(30)] + [(30, i) for i in range(31, 60)])
    numbers, values = projected(demands, columns=5)
    assert obeys(values, demands)
    assert obeys(CompiledProjection(structure_of(demands), CPU)(numbers), demands)


def test_a_hierarchy_of_thousands_of_classes_with_several_parents_ends_inside():
    generator = np.random.default_rng(0)
    below = [(child, int(parent)) for child in range(10, 4000) for parent in generator.integers(child // 3 + 1, size=2)]
    demands = Demands(4000, below=below)
    structure = structure_of(demands)
    assert structure.rest
    numbers = torch.randn(4000, 2, generator=torch.Generator().manual_seed(0))
    for kind in (Projection, CompiledProjection):
        assert obeys(kind(structure, CPU)(numbers.clone()), demands)


def test_it_is_made_of_operations_that_a_cuda_graph_can_hold():
    """A tensor without values answers no question about them, as none may be asked while a graph is recorded."""
    device = torch.device("meta")
    demands = Demands(
        14,
        below=[(0, 1), (1, 2), (3, 1), (4, 5), (5, 4), (6, 7), (6, 8), (7, 9), (8, 9), (10, 11)],
        balances=[((12, 1), (13, 1)), ((12, 1), (10, -1))],
        non_negative={10},
    )
    structure = structure_of(demands)
    assert structure.trees
    assert structure.rest
    assert structure.rows
    numbers = torch.empty(14, 6, device=device)
    assert Projection(structure, device)(numbers, numbers).shape == (14, 6)
    signed = structure_of(Demands(3, equal=[(0, 1, -1), (2, 2, -1)]))
    assert Projection(signed, device)(torch.empty(3, 6, device=device)).shape == (3, 6)


@pytest.mark.parametrize("seed", range(3))
def test_the_kernel_gives_what_the_reference_gives(seed):
    generator = np.random.default_rng(seed)
    pairs = {tuple(sorted(map(int, generator.choice(40, 2, replace=False)))) for _ in range(18 + 8 * seed)}
    below = sorted(pairs) + [(i, i - 1) for i in range(41, 50)]
    demands = Demands(52, equal=[(50, 51, -1)], below=below, non_negative={3})
    numbers, expected = projected(demands)
    values = CompiledProjection(structure_of(demands), CPU)(numbers.clone())
    assert obeys(values, demands)
    torch.testing.assert_close(values, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("kind", [Projection, CompiledProjection])
@pytest.mark.parametrize("name", ["chain", "star, heads of one body", "cycle below a chain", "random tree 2, rising"])
def test_the_projection_onto_trees_is_exact_for_any_weights(name, kind):
    demands = Demands(TREES[name][0], below=TREES[name][1])
    numbers, _ = projected(demands)
    weights = random_weights(numbers)
    values = kind(structure_of(demands), CPU)(numbers.clone(), weights)
    assert obeys(values, demands)
    best = nearest(numbers.double().numpy(), demands, weights.double().numpy())
    np.testing.assert_allclose(values, best, atol=2e-5)


@pytest.mark.parametrize("kind", [Projection, CompiledProjection])
def test_weights_are_the_roots_of_squared_gradients(kind):
    demands = Demands(3, below=[(0, 1), (1, 2)])
    numbers, _ = projected(demands)
    weights = random_weights(numbers)
    table, places = numbers.flatten().clone(), torch.arange(numbers.numel()).view_as(numbers)
    kind(structure_of(demands), CPU).project_(table, places, weights.square().flatten())
    torch.testing.assert_close(table.view_as(numbers), Projection(structure_of(demands), CPU)(numbers, weights))


BALANCES = {
    "a mean below another number": Demands(3, balances=[((0, 1), (1, 1), (2, -2))]),
    "a number below a mean": Demands(3, balances=[((0, 2), (1, -1), (2, -1))]),
    "not both": Demands(2, balances=[((0, 1), (1, 1))]),
    "never": Demands(2, balances=[((0, 1),)]),
    "one after the other": Demands(5, balances=[((0, 1), (1, 1), (2, -2)), ((2, 1), (3, 1), (4, -2))]),
    "in an order": Demands(6, below=[(0, 1), (5, 0), (4, 5)], balances=[((1, 1), (2, 1), (3, -2))]),
    "an order below not both": Demands(
        5, below=[(0, 1), (4, 0)], balances=[((1, 1), (2, 1)), ((3, 1), (0, 1), (2, -2))]
    ),
    "sums of two": Demands(4, balances=[((0, 1), (1, 1), (2, -1), (3, -1))]),
    "three": Demands(4, balances=[((0, 1), (1, 1), (2, 1), (3, -3))]),
    "not both, one of them not negative": Demands(3, below=[(0, 2)], balances=[((0, 1), (1, 1))], non_negative={0}),
}


@pytest.mark.parametrize("name", BALANCES)
def test_balances_end_inside_and_near_the_nearest_point(name):
    demands = BALANCES[name]
    numbers, values = projected(demands, columns=100)
    weights = random_weights(numbers)
    structure = structure_of(demands)
    for given, found in ((None, values), (weights, Projection(structure, CPU)(numbers.clone(), weights))):
        assert obeys(found, demands)
        torch.testing.assert_close(found, CompiledProjection(structure, CPU)(numbers, given), rtol=1e-4, atol=1e-5)
        counts = np.ones(numbers.shape) if given is None else given.double().numpy()
        best = nearest(numbers.double().numpy(), demands, counts)
        moved, least = (np.sqrt((counts * (to - numbers.numpy()) ** 2).sum(0)) for to in (found.numpy(), best))
        slack = 1.5 if demands.non_negative else 1.03
        assert (moved <= slack * least + 1e-4 * np.sqrt(counts.max(0))).all()


@pytest.mark.parametrize("kind", [Projection, CompiledProjection])
@pytest.mark.parametrize("seed", range(4))
def test_many_balances_end_inside_to_the_last_bit(seed, kind):
    """Numbers of very different sizes, means of means and constraints, in any order."""
    generator = np.random.default_rng(seed)
    balances = []
    for _ in range(25):
        *bodies, head = sorted(map(int, generator.choice(30, generator.integers(2, 5), replace=False)))
        balances.append((*((body, 1) for body in bodies), (head, -len(bodies))))
    if seed % 2:
        balances += [((3, 1), (27, 1)), ((28, 1),)]
    demands = Demands(30, below=[(0, 7), (7, 20)], balances=balances, non_negative={5} if seed > 1 else set())
    numbers = torch.randn(30, 50, generator=torch.Generator().manual_seed(seed)) * 10 ** torch.linspace(-6, 6, 50)
    values = kind(structure_of(demands), CPU)(numbers.clone())
    assert obeys(values, demands)
    assert values.isfinite().all()
    again = kind(structure_of(demands), CPU)(values.clone())
    torch.testing.assert_close(again, values, rtol=1e-5, atol=1e-5 * float(numbers.abs().max()))


def test_a_circle_of_balances_is_equal():
    demands = Demands(4, below=[(2, 0)], balances=[((0, 1), (1, 1), (2, -2)), ((2, 1), (3, -1))])
    _, values = projected(demands)
    assert obeys(values, demands)
    assert torch.equal(values[0], values[2])
