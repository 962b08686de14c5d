"""Training against all entities descends on the loss it names, for every scorer; it resumes, saves and loads as any."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from synthetic import knowledge_base
from torch.nn import functional as F
from trainings import identical, parameters, run, settings_with

import clausal
from clausal.config import Settings
from clausal.errors import InputError
from clausal.observer import Calling
from clausal.training import prepare

ALL = {"loss": "softmax", "training": "1-vs-all", "batches": 3}
FREE = {"domain": "none", "reciprocal": True}


@pytest.fixture(scope="module")
def base():
    return knowledge_base("implication")


@pytest.mark.parametrize("reciprocal", [False, True])
def test_a_step_is_the_gradient_step_on_cross_entropy_and_cubes(base, reciprocal):
    settings = settings_with(
        model={"domain": "none", "reciprocal": reciprocal},
        facts={**ALL, "batches": 1, "regulariser": "n3", "regulariser_weight": 0.3},
        clauses={"adversary": "none"},
        train={"epochs": 1, "passes": 1, "optimizer": "sgd", "learning_rate": 0.01},
    )
    training = prepare(base.graph, (), settings)
    own = training.predictor.encoder.weight, training.predictor.relations
    entities, relations = (parameter.detach().clone().requires_grad_() for parameter in own)
    subject, relation, object = torch.from_numpy(base.graph.train).long().unbind(1)
    row = relation + len(base.graph.relations) if reciprocal else relation
    score = training.predictor.scorer.score

    def answers(rows, known, turned):
        ends = (entities, known[:, None]) if turned else (known[:, None], entities)
        return score(relations[rows][:, None], *ends)

    loss = F.cross_entropy(answers(relation, entities[subject], turned=False), object, reduction="sum")
    loss = loss + F.cross_entropy(answers(row, entities[object], turned=not reciprocal), subject, reduction="sum")
    for vectors in (entities[subject], relations[relation], entities[object]) * 2:
        loss = loss + 0.3 * torch.complex(*vectors.chunk(2, -1)).abs().pow(3).sum()
    if reciprocal:  # the second query of a fact has another relation vector
        for sign, rows in ((-1, relation), (1, row)):
            loss = loss + sign * 0.3 * torch.complex(*relations[rows].chunk(2, -1)).abs().pow(3).sum()
    gradients = torch.autograd.grad(loss, (entities, relations))
    training.run()
    for after, before, gradient in zip(own, (entities, relations), gradients, strict=True):
        torch.testing.assert_close(after, before - 0.01 * gradient, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("facts", [ALL, ALL | {"training": "k-vs-all"}, ALL | {"loss": "logistic"}], ids=str)
@pytest.mark.parametrize("scorer", ["complex", "transe", "er-mlp", "rotate"])
def test_the_loss_falls_for_every_kind_of_scorer(base, scorer, facts):
    settings = settings_with(model={"scorer": scorer, **FREE}, facts=facts, train={"epochs": 6, "passes": 2})
    _, reports = run(base.graph, (), settings)
    assert reports[-1].fact_loss < 0.9 * reports[0].fact_loss


@pytest.mark.parametrize("loss", ["hinge", "pairwise", "logistic"])
def test_reciprocal_models_train_on_corruptions_too(base, loss):
    settings = settings_with(
        model=FREE, facts={"loss": loss, "corruption": "bernoulli", "negatives": 2, "regulariser": "n3"}
    )
    predictor, reports = run(base.graph, (), settings)
    assert reports[-1].fact_loss < 0.6 * reports[0].fact_loss
    result = clausal.evaluation.evaluate(predictor, base.graph, split="train")
    assert min(result.filtered[side]["mrr"] for side in ("subject", "object")) > 0.6  # both directions are learnt


@pytest.mark.parametrize("training", ["1-vs-all", "k-vs-all"])
def test_a_training_goes_on_exactly_from_any_pass(base, training):
    graph = replace(base.graph, train=base.graph.train[25:], valid=base.graph.train[:25])
    settings = settings_with(
        model=FREE,
        facts=ALL | {"training": training, "regulariser": "n3"},
        clauses={"adversary": "closed-form"},
        train={"epochs": 3, "passes": 2, "initial_accumulator": 0.0},
        evaluate={"every": 1},
    )
    states = []
    end = parameters(
        prepare(graph, base.clauses, settings).run(checkpoint=lambda training: states.append(training.state()))
    )
    for tensors, position in states:
        resumed = prepare(graph, base.clauses, settings)
        resumed.restore(tensors, position)
        assert identical(parameters(resumed.run()), end)


def test_a_reciprocal_run_is_saved_and_loaded(base, tmp_path):
    graph = replace(base.graph, train=base.graph.train[20:], valid=base.graph.train[:10], test=base.graph.train[10:20])
    settings = settings_with(model=FREE, facts=ALL, clauses={"adversary": "closed-form"}, train={"epochs": 3})
    trained = clausal.train(graph, base.clauses, settings, out=tmp_path / "run")
    loaded = clausal.load(tmp_path / "run", device="cpu")
    assert identical(parameters(trained.predictor), parameters(loaded.predictor))
    assert loaded.evaluate().to_dict() == trained.evaluate().to_dict()
    relation, subject = graph.relations[0], graph.entities[0]
    for query in (f"{relation}({subject}, ?)", f"{relation}(?, {subject})", f"?({subject}, {subject})"):
        answers = loaded.predict(query)
        assert answers == trained.predict(query)
        assert {answer.relation for answer in answers} <= set(graph.relations)
    certified = loaded.certify()
    assert certified.region == "discs"
    assert len(certified.clauses) == len(base.clauses)
    for one in certified.clauses:
        assert one.bound >= max(one.attained, one.entities.worst) - 1e-6
        example = one.entities.example
        assert example.body - example.head == pytest.approx(one.entities.worst, abs=1e-4)


def test_clauses_hold_better_where_they_are_trained_on(base):
    def inconsistency(weight):
        settings = settings_with(
            model=FREE, facts=ALL, clauses={"adversary": "closed-form", "weight": weight}, evaluate={"every": 10}
        )
        log = []
        training = prepare(base.graph, base.clauses, settings)
        training.run(Calling(epoch=log.append))
        return log[-1]["certified"]["inconsistency"]

    assert inconsistency(1.0) < 0.5 * inconsistency(1e-9)


@pytest.mark.parametrize(
    ("sections", "message"),
    [
        ({"facts": {"loss": "softmax"}}, 'facts.loss: softmax is over all entities; set facts.training to "1-vs-all"'),
        ({"facts": {"training": "1-vs-all"}}, 'with facts.training = "1-vs-all" use softmax or logistic'),
        ({"facts": {"label_smoothing": 0.1}}, "facts.label_smoothing: set facts.training"),
        ({"facts": ALL, "model": {"scorer": "model-f"}}, "facts: model-f scores entity pairs"),
        ({"facts": {"regulariser": "n3"}, "model": {"scorer": "transe"}}, "facts.regulariser: n3 is for scorers that"),
    ],
)
def test_settings_that_do_not_go_together_say_what_does(sections, message):
    with pytest.raises(InputError) as caught:
        Settings.from_mapping(sections)
    assert message in str(caught.value)


def test_fused_kernels_say_why_they_do_not_train_against_all_entities(base):
    with pytest.raises(InputError, match="training against all entities is matrix products"):
        prepare(base.graph, (), settings_with(facts=ALL, train={"step": "fused"}))
    told = []
    assert prepare(base.graph, (), settings_with(facts=ALL), observer=Calling(message=told.append)).step.name == "eager"
    assert told == ["fast forms: step without tables of zeros"]


@pytest.mark.parametrize(
    ("sections", "reason"),
    [({"model": {"reciprocal": True}}, "reciprocal"), ({"facts": {"regulariser": "f2"}}, "regulariser")],
)
def test_fused_kernels_leave_reciprocals_and_penalties_to_the_eager_step(base, sections, reason):
    told = []
    observer = Calling(message=told.append)
    assert prepare(base.graph, (), settings_with(**sections), observer=observer).step.name == "eager"
    assert len(told) == 1
    assert reason in told[0]
