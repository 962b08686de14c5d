"""Every fast form in the registry gives what its reference gives, and none can be forgotten here."""

from __future__ import annotations

from importlib import import_module
from itertools import product
from typing import get_args

import pytest
import torch

from clausal.adversary import ClosedForm, GradientAscent, RealEntities
from clausal.adversary.hard.structure import Demands, structure_of
from clausal.bounds.balls.phases import scores_at_best_phases
from clausal.choices import AscentName
from clausal.config import Settings
from clausal.evaluation.counting import QueryBatch
from clausal.evaluation.entities.matrices import Memory
from clausal.evaluation.entities.middles import SortedMiddles
from clausal.fast import FastForm, FormChoice, fastest, register, registered, unregister, why_not
from clausal.fast.registry import name_of
from clausal.graph import Graph
from clausal.logic import parse_clauses
from clausal.model import Cube, Sphere
from clausal.model.row_table import RowTable
from clausal.observer import Calling
from clausal.peers import Dealing
from clausal.training import prepare
from clausal.training.against_all.losses import BinaryCrossEntropy, Softmax
from clausal.training.against_all.queries import Answers
from random_models import groups_of, random_predictor

TEXTS = ("p(X, Y) => q(Y, X)", "p(X, Y), q(Y, Z) => r(X, Z)", "p(X, e1) => q(X, e2)")
GRAPH = Graph.from_triples([(f"e{i}", "pqr"[i % 3], f"e{(7 * i) % 11}") for i in range(60)])
CLAUSES = parse_clauses("p(X, Y) => q(Y, X)\np(X, Y), q(Y, Z) => r(X, Z)")


def model(device):
    predictor = random_predictor("complex", Cube(), dim=8, seed=3).to(device)
    return predictor, [group.to(predictor.device) for group in groups_of(*TEXTS)]


def ascents(search, device):
    """The sets that each ascent finds, three times in a row, as a recorded one changes its ways."""
    predictor, groups = model(device)
    found = []
    for optimizer in get_args(AscentName):
        ascent = GradientAscent(sets=4, steps=5, optimizer=optimizer)
        for seed in range(3):
            start = RealEntities(4).find(predictor, groups, torch.Generator(device).manual_seed(seed))
            found += [one.vectors for one in search(ascent, predictor, groups, start)]
    return found


def clause_losses(kind, device):
    predictor, groups = model(device)
    adversary = GradientAscent(sets=4, steps=5)
    loss, values = kind(adversary, predictor, groups), []
    for seed in range(2):
        with FormChoice("eager").in_use():
            loss.adopt(adversary.find(predictor, groups, torch.Generator(device).manual_seed(seed)))
        inconsistency = loss()
        values += [inconsistency, *torch.autograd.grad(inconsistency.sum(), predictor.relations)]
    return values


def added_gradients(kind, device):
    """The loss of closed forms on cube and sphere, and the gradient that is added to one that is there already."""
    found = []
    for scorer, domain in product(("distmult", "complex", "simple", "cp"), (Cube(), Sphere())):
        predictor = random_predictor(scorer, domain, dim=8, seed=3).to(device)
        groups = [
            group.to(predictor.device) for group in groups_of("p(X, Y) => q(Y, X)", "p(X, Y) => q(X, Y)", *TEXTS[1:2])
        ]
        adversary = ClosedForm()
        loss = kind(adversary, predictor, groups)
        with FormChoice("eager").in_use():
            loss.adopt(adversary.find(predictor, groups))
        noise = torch.randn(predictor.relations.shape, generator=torch.Generator().manual_seed(1))
        predictor.relations.data += 0.1 * noise.to(device)  # at the best λ two corners are alike
        slopes = torch.tensor([2.0, 0.5, 1.5], device=device)
        into = torch.ones_like(predictor.relations, requires_grad=False)
        added = loss.add_gradient(slopes, into) if hasattr(loss, "add_gradient") else None
        if added is None:
            added = loss()
            into += torch.autograd.grad((slopes * added).sum(), predictor.relations)[0]
        found += [added.detach(), into]
    return found


def training(device, against_all=False, step="eager", **options):
    facts = {"training": "1-vs-all", "loss": "softmax", "regulariser": "n3"} if against_all else {"loss": "logistic"}
    settings = {
        "model": {"scorer": "complex", "dim": 8},
        "facts": facts | {"batches": 3},
        "train": {"step": step, "device": device, "epochs": 3, "passes": 2},
        "evaluate": {"every": 0},
    }
    given = Settings.from_mapping(settings)
    return prepare(GRAPH, CLAUSES, given, observer=Calling(message=lambda text: None), **options)


def steps(kind, device, against_all=False, **options):
    """The parameters after a few passes by steps of a kind."""
    some = training(device, against_all, **options)
    some.step = kind(some.objective, some.optimizer)
    some.train_pass.step = some.step
    return [parameter.detach() for parameter in some.run().parameters()]


def passes(kind, device):
    some = training(device, step="auto")  # whose step takes a new set where the last one lay
    some.train_pass = kind(some.step)
    return [parameter.detach() for parameter in some.run().parameters()]


def products_with_all(function, device):
    generator = torch.Generator().manual_seed(0)
    queries, entities = (torch.randn(size, 6, generator=generator).requires_grad_() for size in (5, 20))
    found = []
    for loss in (Softmax(0.1), BinaryCrossEntropy()):
        value = function(queries, entities, Answers.one_each(torch.arange(5)), loss, "highest")
        found += [value.detach(), *torch.autograd.grad(value, (queries, entities))]
    return found


def adagrad(kind, device):
    generator = torch.Generator().manual_seed(0)
    table = torch.nn.Parameter(torch.randn(6, 5, generator=generator).to(device))
    optimizer = kind([table], lr=0.3, initial_accumulator_value=0.1)
    for factor in (1.0, 2.0, -1.0):
        optimizer.zero_grad()
        (factor * table.sin()).sum().backward()
        optimizer.step()
    return [table.detach()]


def rows_stepped_on(function, device):
    generator = torch.Generator().manual_seed(0)
    found = []
    for by_row in (False, True):
        table = RowTable(5, Dealing(9), by_row=by_row, device=torch.device(device))
        table.weight.data.copy_(torch.rand(9, 5, generator=generator))
        table.sums.fill_(0.1)
        rows = torch.tensor([1, 4, 8], device=device)
        for _ in range(3):
            gradient = torch.randn(3, 5, generator=generator).to(device)
            function(table, rows, gradient, 0.3, Cube(), torch.Generator(device))
        found += [table.weight.detach(), table.sums]
    return found


def counts(kind, device):
    generator = torch.Generator().manual_seed(0)
    scores = torch.randint(9, (4, 40), generator=generator).float().to(device)  # with many ties
    targets, known = (torch.randint(40, (size,), generator=generator).to(device) for size in (10, 12))
    batch = QueryBatch(targets, [0, 5, 8, 9, 10], known, [0, 6, 6, 10, 12])
    return [kind(scores, scores.numel())(scores, batch)]


class Rows:
    def __init__(self, matrix):
        self.matrix = matrix

    def rows(self, ids):
        return self.matrix[ids]


def chains(multiply, device):
    generator = torch.Generator().manual_seed(0)
    left, columns, floor = (torch.randn(30, 30, generator=generator).to(device) for _ in range(3))
    middles = SortedMiddles.of(Rows(left), 30, Memory(2**16, torch.device(device)))
    return [multiply(middles, columns[:7], floor[:, :7].contiguous())]


def widest_paths(function, device):
    generator = torch.Generator().manual_seed(0)
    steps = torch.randn(40, 40, generator=generator).masked_fill(torch.rand(40, 40, generator=generator) < 0.9, -9)

    def raise_by_product(left, right, best):
        found = torch.minimum(left.unsqueeze(1), right(torch.arange(40))).amax(2)
        rose = bool((found > best).any())
        torch.maximum(best, found, out=best)
        return rose

    lone, carried = steps.clone(), torch.randn(40, 40, generator=generator)
    both_ways, along = torch.maximum(steps, steps.T), carried.T.clone()
    function(lone, raise_by_product)
    function(steps, raise_by_product, carried)
    function(both_ways, raise_by_product, along)
    return [lone, steps, carried, both_ways, along]


def phases(function, device):
    generator = torch.Generator().manual_seed(0)
    real, imag = torch.randn(2, 4, 3, 6, generator=generator).to(device)
    matrices = torch.stack([real, imag, -imag, real], -1).unflatten(-1, (2, 2)).requires_grad_()
    weights = torch.rand(4, 3, generator=generator).to(device)
    radius = torch.rand(4, 3, 6, generator=generator).to(device)
    scores = function(matrices, weights, radius, (0, 1, 2), (False, True, False))
    return [scores.detach(), *torch.autograd.grad((weights * scores).sum(), matrices)]


def weights_of_two_forms(function, device):
    generator = torch.Generator().manual_seed(0)
    table = torch.randn(6, 2, 5, 16, generator=generator, dtype=torch.float64)
    table[0, 0] += 9  # the second form alone decides
    table[1, 1] += 9
    table[2, :, :, 1:] = table[2, :, :, :1]  # corners are alike
    table[3, 1] = -table[3, 0]
    return [function(table.to(device), torch.randn(6, 2, generator=generator, dtype=torch.float64).to(device))]


def products(function, device):
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        return [function(torch.randn(5, 7, generator=generator), torch.randn(17, 7, generator=generator))]


def projections(kind, device):
    generator = torch.Generator().manual_seed(0)
    below = [(0, 1), (2, 1), (1, 3), (4, 5), (4, 6), (5, 7), (6, 7), (8, 9), (9, 8)]
    demands = Demands(12, equal=[(10, 11, -1)], below=below, non_negative={0})
    return [kind(structure_of(demands), torch.device(device))(torch.randn(12, 9, generator=generator))]


CASES = {
    "ascent by CPU kernels": ("cpu", ascents),
    "ascent as a CUDA graph": ("cuda", ascents),
    "clause loss by CPU kernels": ("cpu", clause_losses),
    "clause loss by a GPU kernel": ("cuda", added_gradients),
    "clause loss by features": ("cpu", clause_losses),
    "step by kernels": ("cpu", steps),
    "step by rows in place": ("cpu", lambda kind, device: steps(kind, device, by_rows=True)),
    "step by rows with kernels": ("cpu", lambda kind, device: steps(kind, device, by_rows=True)),
    "AdaGrad on rows by a CPU kernel": ("cpu", rows_stepped_on),
    "AdaGrad on rows by a GPU kernel": ("cuda", rows_stepped_on),
    "step without tables of zeros": ("cpu", lambda kind, device: steps(kind, device, against_all=True)),
    "products with all entities in pieces": ("cpu", products_with_all),
    "passes as a CUDA graph": ("cuda", passes),
    "AdaGrad by a GPU kernel": ("cuda", adagrad),
    "projection onto orders by a CPU kernel": ("cpu", projections),
    "ranks by a CPU kernel": ("cpu", counts),
    "chains by CPU kernels": ("cpu", chains),
    "chains by a GPU kernel": ("cuda", chains),
    "widest paths by a CPU kernel": ("cpu", widest_paths),
    "phases by a GPU kernel": ("cuda", phases),
    "phases by a CPU kernel": ("cpu", phases),
    "weights of two forms by a GPU kernel": ("cuda", weights_of_two_forms),
    "weights of two forms by a CPU kernel": ("cpu", weights_of_two_forms),
    "products in whole cache lines": ("cpu", products),
}
"""For each form the device it is for, and what is computed by it or by its reference."""


def test_every_form_has_a_case():
    assert {form.name for form in registered()} == set(CASES)


@pytest.mark.parametrize(
    "form",
    [pytest.param(form, marks=[pytest.mark.gpu] * (CASES[form.name][0] == "cuda")) for form in registered()],
    ids=lambda form: form.name,
)
def test_a_form_gives_what_its_reference_gives(form):
    device, compute = CASES[form.name]
    module, _, name = form.reference.partition(":")
    expected = compute(getattr(import_module(module), name), device)
    assert any(tensor.any() for tensor in expected)
    torch.testing.assert_close(compute(form.load(), device), expected, rtol=1e-4, atol=1e-5)


def test_references_are_what_they_are_registered_under():
    for form in registered():
        module, _, name = form.reference.partition(":")
        assert name_of(getattr(import_module(module), name)) == form.reference


def test_eager_takes_no_form():
    sample = torch.empty(1)
    with FormChoice("eager", kernels_loaded=True).in_use():
        assert fastest(scores_at_best_phases, sample) is scores_at_best_phases
        assert type(training("cpu").step).__name__ == "Step"


def plain_double(number):
    return number + number


def test_a_form_can_be_added_from_outside():
    form = FastForm("doubling by a shift", name_of(plain_double), lambda number: number << 1, lambda number: None)
    with FormChoice().in_use() as choice:
        assert fastest(plain_double, 3) is plain_double
        register(form)
        try:
            assert fastest(plain_double, 3)(3) == 6
            assert choice.taken == {name_of(plain_double): "doubling by a shift"}
        finally:
            unregister(form)
        assert fastest(plain_double, 3) is plain_double


def test_a_form_that_does_not_apply_says_why():
    form = FastForm("never", name_of(plain_double), plain_double, lambda number: "it is never the time")
    register(form)
    try:
        assert why_not(plain_double, 3) == {"never": "it is never the time"}
        assert fastest(plain_double, 3) is plain_double
    finally:
        unregister(form)
