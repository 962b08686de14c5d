"""Clauses that come after some epochs: a training is one without them until then, and can be interrupted anywhere."""

from __future__ import annotations

import pytest
import torch
from synthetic import knowledge_base
from trainings import identical, parameters, settings_with

from clausal.observer import Calling
from clausal.training import prepare

KINDS = {
    "corruption": {},
    "eager": {"train": {"step": "eager"}},
    "1-vs-all": {"facts": {"training": "1-vs-all", "loss": "softmax", "batch_size": 32}},
}


@pytest.fixture(scope="module")
def base():
    return knowledge_base("implication")


def settings(kind, epochs, after):
    values = KINDS[kind]
    train = {"epochs": epochs, "passes": 2, **values.get("train", {})}
    return settings_with(facts=values.get("facts", {}), train=train, clauses={"after": after})


@pytest.mark.parametrize("kind", KINDS)
def test_until_then_it_is_a_training_without_clauses_and_then_it_obeys(base, kind):
    records = []
    training = prepare(base.graph, base.clauses, settings(kind, 4, 2))
    training.run(Calling(epoch=records.append))
    assert [record["inconsistency"] > 0 for record in records] == [False, False, True, True]
    without = parameters(prepare(base.graph, [], settings(kind, 2, 0)).run())
    until_then = prepare(base.graph, base.clauses, settings(kind, 2, 2)).run()
    assert identical(parameters(until_then), without)
    never = parameters(prepare(base.graph, [], settings(kind, 4, 0)).run())
    assert not torch.equal(parameters(training.predictor)["relations"], never["relations"])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("stop", [(1, 0), (1, 1), (2, 0), (2, 1), (3, 0)])
def test_a_training_goes_on_exactly_before_and_after_clauses_come(base, kind, stop):
    chosen = settings(kind, 4, 2)
    whole = parameters(prepare(base.graph, base.clauses, chosen).run())
    states = {}

    def keep(training):
        states.setdefault((training.position.epoch, training.position.passes), training.state())

    prepare(base.graph, base.clauses, chosen).run(checkpoint=keep)
    resumed = prepare(base.graph, base.clauses, chosen)
    resumed.restore(*states[stop])
    assert identical(parameters(resumed.run()), whole)
