"""Optimisers step as their formulas say, and their state comes back from named tensors."""

from __future__ import annotations

import math
import sys
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from torch import nn
from torch.optim import Adagrad

from clausal.config import Settings, TrainSettings
from clausal.fast.adagrad import FusedAdagrad
from clausal.graph import Graph, Names
from clausal.training import prepare
from clausal.training.optimizers import make_optimizer, optimizer_tensors, restore_optimizer


def test_a_training_step_is_adagrad_on_the_gradient_summed_over_the_batch():
    """Accumulator 0.1, learning rate 0.1, no epsilon; rows that occur several times are summed before the square."""
    facts = np.array([[0, 0, 1], [0, 0, 2], [0, 1, 3], [2, 0, 1]], dtype=np.int32)
    graph = Graph(Names(list("abcd"), "entity"), Names(["r", "s"], "relation"), facts)
    settings = Settings.from_mapping(
        {
            "model": {"scorer": "distmult", "dim": 3, "domain": "none"},
            "facts": {"batches": 1, "margin": 5},  # every hinge is active
            "train": {"epochs": 1, "passes": 1, "device": "cpu"},
        }
    )
    training = prepare(graph, (), settings)
    entities = training.predictor.encoder.weight.detach().double().numpy().copy()
    relations = training.predictor.relations.detach().double().numpy().copy()
    drawn = []
    draw = training.objective.corruption.draw

    def recording(batch, generator):
        negatives = draw(batch, generator)
        drawn.append((batch.tolist(), negatives.subjects[0].tolist(), negatives.objects[0].tolist()))
        return negatives

    training.objective.corruption.draw = recording
    training.run()
    ((batch, other_subjects, other_objects),) = drawn
    of_entities, of_relations = np.zeros_like(entities), np.zeros_like(relations)
    for (s, r, o), other_s, other_o in zip(batch, other_subjects, other_objects, strict=True):
        for subject, object, label in ((s, o, 1), (other_s, o, -1), (s, other_o, -1)):
            of_entities[subject] -= label * relations[r] * entities[object]
            of_entities[object] -= label * relations[r] * entities[subject]
            of_relations[r] -= label * entities[subject] * entities[object]
    for start, gradient, parameter in (
        (entities, of_entities, training.predictor.encoder.weight),
        (relations, of_relations, training.predictor.relations),
    ):
        expected = start - 0.1 * gradient / np.sqrt(0.1 + gradient**2)
        np.testing.assert_allclose(parameter.detach().numpy(), expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(("name", "step"), [("sgd", 0.5 * 4.0), ("adam", 0.5), ("adagrad", 0.5 * 4 / 16.1**0.5)])
def test_the_first_step_of_each_optimiser(name, step):
    parameter = nn.Parameter(torch.tensor([1.0]))
    optimizer = make_optimizer([parameter], TrainSettings(optimizer=name, learning_rate=0.5))
    (2 * parameter.square()).sum().backward()
    optimizer.step()
    assert parameter.item() == pytest.approx(1 - step, rel=1e-5)


def test_parameters_that_need_no_gradient_are_left_out():
    frozen = nn.Parameter(torch.ones(2), requires_grad=False)
    optimizer = make_optimizer([frozen, nn.Parameter(torch.ones(2))], TrainSettings())
    assert [len(group["params"]) for group in optimizer.param_groups] == [1]


def test_the_step_of_a_gpu_gives_its_kernel_tables_of_every_parameter(monkeypatch):
    """The kernel is stood in for by torch on a CPU, and the result is that of torch's AdaGrad."""

    def descend_(parameters, sums, gradient, rate):
        assert parameters.dim() == 2
        sums.addcmul_(gradient, gradient)
        parameters.addcdiv_(gradient, sums.sqrt().add_(1e-10), value=-rate)
        gradient.zero_()

    monkeypatch.setitem(sys.modules, "clausal.fast.cuda.step", SimpleNamespace(descend_=descend_))
    shapes = ((3, 4), (5,), (2, 3, 4), ())
    ours, theirs = ([nn.Parameter(torch.linspace(1, 2, math.prod(s)).reshape(s)) for s in shapes] for _ in range(2))
    settings = {"lr": 0.5, "initial_accumulator_value": 0.1}
    for parameters, optimizer in ((ours, FusedAdagrad(ours, **settings)), (theirs, Adagrad(theirs, **settings))):
        for _ in range(3):
            optimizer.zero_grad()
            sum(parameter.pow(3).sum() for parameter in parameters).backward()
            optimizer.step()
    for one, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(one, other)


def some_steps(optimizer, parameter, count):
    for factor in range(1, count + 1):
        optimizer.zero_grad()
        (factor * parameter.sin()).sum().backward()
        optimizer.step()


@pytest.mark.parametrize("name", ["sgd", "adam", "adagrad"])
def test_an_optimiser_goes_on_exactly_from_its_tensors(name):
    settings = TrainSettings(optimizer=name)
    parameter = nn.Parameter(torch.linspace(-1, 1, 5))
    optimizer = make_optimizer([parameter], settings)
    some_steps(optimizer, parameter, 3)
    kept = {key: value.clone() for key, value in optimizer_tensors(optimizer).items()}
    copy = nn.Parameter(parameter.detach().clone())
    other = make_optimizer([copy], settings)
    restore_optimizer(other, kept)
    some_steps(optimizer, parameter, 3)
    before = {key: value.clone() for key, value in kept.items()}
    some_steps(other, copy, 3)
    assert torch.equal(parameter, copy)
    assert all(torch.equal(kept[key], before[key]) for key in kept)  # the given tensors are not worked on
