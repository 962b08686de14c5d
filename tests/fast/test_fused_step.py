"""The fused step computes what the eager step computes, from the same samples."""

import pytest
import torch

from clausal.config import Settings
from clausal.errors import InputError
from clausal.fast.step import FusedStep
from clausal.graph import Graph
from clausal.logic import parse_clauses
from clausal.model.scorers import SCORERS
from clausal.observer import Calling
from clausal.training.prepare import prepare
from clausal.training.step import Step

CLAUSES = parse_clauses("p(X, Y) => q(X, Y)\nq(X, Y) => p(Y, X)\np(X, Y), q(Y, Z) => r(X, Z)")


TRILINEAR = [name for name, kind in SCORERS.items() if kind.terms is not None]


@pytest.fixture(scope="module")
def graph():
    generator = torch.Generator().manual_seed(3)
    draws = torch.randint(40, (600, 3), generator=generator) % torch.tensor([40, 3, 40])
    names = [(f"e{s}", "pqr"[r], f"e{o}") for s, r, o in draws.tolist()]
    return Graph.from_triples(sorted(set(names)))


def trained(graph, step, passes=10, given=CLAUSES, device="cpu", **sections):
    settings = {
        "model": {"scorer": "complex", "dim": 12, "domain": "cube"},
        "facts": {"loss": "logistic"},
        "train": {"epochs": 1, "passes": passes, "step": step, "device": device},
        "evaluate": {"every": 0},
    }
    for section, values in sections.items():
        settings[section] = settings.get(section, {}) | values
    training = prepare(graph, given, Settings.from_mapping(settings))
    training.run()
    return training


def distance(one, other):
    gaps = [
        (a - b).norm() / a.norm() for a, b in zip(one.predictor.parameters(), other.predictor.parameters(), strict=True)
    ]
    return max(gap.item() for gap in gaps)


@pytest.mark.parametrize("domain", ["cube", "sphere", "ball", "box", "none"])
@pytest.mark.parametrize("scorer", TRILINEAR)
def test_a_hundred_steps_agree_with_the_eager_step(graph, scorer, domain):
    fused, eager = (trained(graph, step, model={"scorer": scorer, "domain": domain}) for step in ("fused", "eager"))
    assert isinstance(fused.step, FusedStep)
    assert type(eager.step) is Step
    assert distance(fused, eager) < 1e-4


@pytest.mark.parametrize(
    "facts",
    [
        {"loss": "hinge", "margin": 0.5},
        {"loss": "pairwise"},
        {"negatives": 3},
        {"corruption": "bernoulli"},
        {"filtered": True},
        {"l2_relations": 0.1},
        {"batch_size": 7},
    ],
    ids=str,
)
def test_every_loss_and_corruption_agrees(graph, facts):
    fused, eager = (trained(graph, step, passes=2, facts=facts) for step in ("fused", "eager"))
    assert distance(fused, eager) < 1e-4


@pytest.mark.parametrize("adversary", ["closed-form", "none", "entities"])
def test_every_adversary_agrees(graph, adversary):
    fused, eager = (trained(graph, step, clauses={"adversary": adversary}) for step in ("fused", "eager"))
    assert distance(fused, eager) < 1e-4


@pytest.mark.parametrize("adversary", ["closed-form", "gradient"])
def test_clauses_that_name_entities_move_them(graph, adversary):
    named = parse_clauses("p(X, e1) => q(X, e2)\nr(e3, e4)\np(X, Y) => q(Y, X)")
    fused, eager = (
        trained(graph, step, passes=3, given=named, clauses={"adversary": adversary}) for step in ("fused", "eager")
    )
    assert distance(fused, eager) < 1e-4


@pytest.mark.gpu
@pytest.mark.parametrize("scorer", TRILINEAR)
def test_a_pass_recorded_on_a_gpu_agrees_with_the_eager_step(graph, scorer):
    fused, eager = (trained(graph, step, device="cuda", model={"scorer": scorer}) for step in ("fused", "eager"))
    assert fused.train_pass._recording._graph is not None
    assert distance(fused, eager) < 1e-4


def test_threads_share_the_work_without_changing_it(graph):
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(3)
        many = trained(graph, "fused")
        torch.set_num_threads(1)
        one = trained(graph, "fused")
    finally:
        torch.set_num_threads(before)
    assert distance(many, one) < 1e-5


def test_auto_takes_the_fused_step_where_it_can_and_says_why_not(graph):
    told = []

    def step(optimizer="adagrad", **sections):
        settings = sections | {"train": {"optimizer": optimizer, "device": "cpu"}}
        return prepare(graph, (), Settings.from_mapping(settings), observer=Calling(message=told.append)).step

    assert isinstance(step(model={"scorer": "distmult", "dim": 4}), FusedStep)
    assert isinstance(step(model={"scorer": "transe", "dim": 4}, facts={"loss": "pairwise"}), Step)
    assert told == ["fast forms: step by kernels", "fast forms: none"]
    assert isinstance(step("sgd", model={"scorer": "distmult", "dim": 4}), Step)
    assert "the step is eager, as the fused one takes AdaGrad's steps, and train.optimizer is sgd" in told[2]


@pytest.mark.parametrize(
    ("section", "reason"),
    [
        ({"model": {"scorer": "rescal", "dim": 4}}, "RESCAL"),
        ({"train": {"optimizer": "adam"}}, "adam"),
        ({"facts": {"l2_entities": 0.1}}, "l2_entities"),
    ],
    ids=str,
)
def test_fused_is_refused_with_the_reason_where_it_cannot_be(graph, section, reason):
    values = {"model": {"dim": 4}} | section
    values["train"] = values.get("train", {}) | {"step": "fused"}
    with pytest.raises(InputError, match=reason):
        prepare(graph, (), Settings.from_mapping(values))


def test_every_trilinear_scorer_is_its_terms():
    generator = torch.Generator().manual_seed(0)
    for name in TRILINEAR:
        scorer = SCORERS[name](8)
        parts, terms = scorer.terms
        r = torch.randn(scorer.relation_dim, generator=generator)
        x, y = torch.randn(2, 8, generator=generator)
        cut = [vector.split(8 // parts) for vector in (r, x, y)]
        total = sum(w * (cut[0][a] * cut[1][b] * cut[2][c]).sum() for w, a, b, c in terms)
        torch.testing.assert_close(total, scorer.score(x, r, y))
