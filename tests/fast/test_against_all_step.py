"""The step that looks vectors up outside of autograd trains as the plain one does."""

import pytest
import torch

from clausal.config import Settings
from clausal.demo import world
from clausal.fast.against_all import AgainstAllStep
from clausal.training.prepare import prepare


def trained(step, facts, clauses):
    settings = Settings.from_mapping(
        {
            "model": {"scorer": "complex", "dim": 8, "domain": "none", "reciprocal": True},
            "facts": {"loss": "softmax", "batch_size": 100, **facts},
            "clauses": {"adversary": "closed-form", "weight": 0.01},
            "train": {"epochs": 3, "passes": 1, "step": step, "device": "cpu"},
            "evaluate": {"every": 0},
        }
    )
    graph, given = world()
    training = prepare(graph, given if clauses else (), settings)
    training.run()
    return training


@pytest.mark.parametrize("clauses", [False, True])
@pytest.mark.parametrize(
    "facts",
    [
        {"training": "1-vs-all", "regulariser": "n3", "relation_weight": 0.5},
        {"training": "1-vs-all", "regulariser": "dura", "label_smoothing": 0.1},
        {"training": "k-vs-all", "regulariser": "f2"},
    ],
)
def test_parameters_agree_with_the_eager_step(facts, clauses):
    auto, eager = trained("auto", facts, clauses), trained("eager", facts, clauses)
    assert type(auto.step) is AgainstAllStep
    assert type(eager.step) is not AgainstAllStep
    for ours, theirs in zip(auto.predictor.parameters(), eager.predictor.parameters(), strict=True):
        assert (ours - theirs).norm() < 1e-4 * theirs.norm()


def test_scorers_without_a_query_vector_take_the_plain_step():
    settings = Settings.from_mapping(
        {"model": {"scorer": "transe", "dim": 8}, "facts": {"training": "1-vs-all", "loss": "softmax"}}
    )
    assert not isinstance(prepare(world()[0], (), settings).step, AgainstAllStep)


def test_a_row_asks_for_the_object_of_one_fact_and_the_subject_of_another():
    graph, _ = world()
    settings = Settings.from_mapping({"facts": {"training": "1-vs-all", "loss": "softmax"}})
    rows = prepare(graph, (), settings).objective.facts
    for half in (rows[:, :3], rows[:, 3:]):
        assert sorted(half.tolist()) == sorted(graph.train.tolist())
    same = (rows[:, :3] == rows[:, 3:]).all(1)
    assert same.float().mean() < 0.01
    assert torch.equal(rows, prepare(graph, (), settings).objective.facts)
