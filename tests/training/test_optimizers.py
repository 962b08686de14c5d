"""Optimisers step as their formulas say, and their state comes back from named tensors."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

from clausal.config import Settings, TrainSettings
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
