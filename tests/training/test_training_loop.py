"""The loop repeats bit by bit, goes on exactly after an interruption, keeps the best model and stops on divergence."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from synthetic import knowledge_base, mean_violation
from torch import nn
from trainings import identical, parameters, run, settings_with

from clausal.errors import InputError, RunError
from clausal.graph import Graph, Names
from clausal.logic import parse_clause
from clausal.model import MultilinearScorer, check_encoder, check_scorer
from clausal.model.build import find_device
from clausal.model.threads import FEW_NUMBERS
from clausal.observer import Calling
from clausal.training import prepare

TINY = {"epochs": 3, "passes": 3}


@pytest.fixture(scope="module")
def base():
    return knowledge_base("implication")


def with_valid(graph, count=25):
    return replace(graph, train=graph.train[count:], valid=graph.train[:count])


@pytest.mark.parametrize("scorer", ["complex", "er-mlp", "model-f"])
def test_the_seed_decides_everything(base, scorer):
    def train(seed):
        torch.manual_seed(np.random.default_rng().integers(2**31).item())  # the global generator must not matter
        settings = settings_with(model={"scorer": scorer}, train={**TINY, "seed": seed})
        return parameters(run(base.graph, base.clauses, settings)[0])

    assert identical(train(7), train(7))
    other, seven = train(8), train(7)
    assert not any(torch.equal(other[name], seven[name]) for name in ("relations", "encoder.weight"))


def test_two_threads_repeat_bit_by_bit_too():
    rng = np.random.default_rng(0)
    facts = np.unique(rng.integers(0, [500, 4, 500], (4000, 3)), axis=0)
    graph = Graph(
        Names([f"e{i}" for i in range(500)], "entity"), Names(list("pqrs"), "relation"), facts.astype(np.int32)
    )
    settings = settings_with(model={"dim": 128}, train={"epochs": 2, "passes": 2})  # large enough to be shared out
    clauses = [parse_clause("p(X, Y), q(Y, Z) => r(X, Z)"), parse_clause("r(X, Y) => s(Y, X)")]
    threads = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        assert identical(*(parameters(run(graph, clauses, settings)[0]) for _ in range(2)))
    finally:
        torch.set_num_threads(threads)


@pytest.mark.parametrize("optimizer", ["adagrad", "adam", "sgd"])
@pytest.mark.parametrize("adversary", ["gradient", "closed-form"])
def test_a_training_goes_on_exactly_from_any_pass(base, adversary, optimizer):
    graph = with_valid(base.graph)
    clauses = [*base.clauses, parse_clause("r00(X,Y), r01(Y,Z) => r02(X,Z)")]
    settings = settings_with(
        train={**TINY, "optimizer": optimizer, "learning_rate": 0.05},
        clauses={"adversary": adversary, "steps": 3},
        evaluate={"every": 1},
    )
    states = []
    whole = prepare(graph, clauses, settings)
    end = parameters(whole.run(checkpoint=lambda training: states.append(training.state())))
    positions = [(position["epoch"], position["passes"]) for _, position in states]
    assert positions == [(0, 1), (0, 2), (1, 0), (1, 1), (1, 2), (2, 0), (2, 1), (2, 2), (3, 0)]
    for tensors, position in states:
        resumed = prepare(graph, clauses, settings)
        resumed.restore(tensors, position)
        assert identical(parameters(resumed.run()), end)
        assert resumed.position == whole.position


class FeatureEncoder(nn.Module):
    """A user's encoder: a small network over fixed features."""

    def __init__(self, features, dim, dropout=0.0):
        super().__init__()
        self.register_buffer("features", features)
        generator = torch.Generator().manual_seed(0)
        self.first = nn.Parameter(torch.randn(features.shape[1], 16, generator=generator) / 4)
        self.second = nn.Parameter(torch.randn(16, dim, generator=generator) / 4)
        self.dropout = nn.Dropout(dropout)

    def forward(self, ids):
        return self.dropout(torch.tanh(self.features[ids] @ self.first)) @ self.second + 0.5


def features(count=30):
    return torch.randn(count, 12, generator=torch.Generator().manual_seed(1))


def test_modules_that_draw_at_random_resume_exactly_too(base):
    graph = with_valid(base.graph)
    settings = settings_with(train=TINY, evaluate={"every": 2})

    def make():
        return prepare(graph, base.clauses, settings, encoder=FeatureEncoder(features(), 20, dropout=0.3))

    states = []
    end = parameters(make().run(checkpoint=lambda training: states.append(training.state())))
    for state in states:
        resumed = make()
        resumed.restore(*state)
        assert identical(parameters(resumed.run()), end)


def test_a_users_encoder_trains_end_to_end(base):
    violations, losses = [], []
    for adversary in ("none", "gradient"):
        encoder = FeatureEncoder(features(), 20)
        check_encoder(encoder, 30, 20)
        start = parameters(encoder)
        settings = settings_with(clauses={"adversary": adversary}, train={"learning_rate": 0.05})
        predictor, reports = run(base.graph, base.clauses, settings, encoder=encoder)
        end = parameters(predictor.encoder)
        changed = {name for name in start if not torch.equal(end[name], start[name])}
        assert changed == {"first", "second"}
        violations.append(mean_violation(predictor, base.clauses, base.graph.relations))
        losses.append((reports[0].fact_loss, reports[-1].fact_loss))
    assert all(last < 0.9 * first for first, last in losses)
    assert violations[1] < 0.5 * violations[0]


class WeightedProduct(MultilinearScorer):
    """A user's scorer: DistMult with a weight for each component that all relations share."""

    name = "weighted-product"

    def __init__(self, dim):
        super().__init__(dim)
        self.weights = nn.Parameter(torch.linspace(0.5, 1.5, dim))

    def object_query(self, subject, relation):
        return self.weights * relation * subject

    subject_query = object_query


def test_a_users_scorer_trains_end_to_end(base):
    violations = []
    for adversary in ("none", "closed-form"):  # which has no closed form for it, and falls back
        scorer = WeightedProduct(16)
        check_scorer(scorer)
        start = scorer.weights.detach().clone()
        predictor, reports = run(
            base.graph, base.clauses, settings_with(clauses={"adversary": adversary}), scorer=scorer
        )
        assert predictor.encoder.weight.shape == (30, 16)
        assert not torch.equal(predictor.scorer.weights, start)
        assert reports[-1].fact_loss < 0.9 * reports[0].fact_loss
        violations.append(mean_violation(predictor, base.clauses, base.graph.relations))
    assert violations[1] < 0.5 * violations[0]


def test_validation_does_not_disturb_a_training(base):
    graph = with_valid(base.graph)
    ends = []
    for every in (0, 1):
        encoder = FeatureEncoder(features(), 20, dropout=0.2)
        settings = settings_with(model={"scorer": "er-mlp"}, train=TINY, evaluate={"every": every, "patience": 0})
        training = prepare(graph, base.clauses, settings, encoder=encoder)
        last = {}
        training.run(Calling(epoch=lambda _, last=last, t=training: last.update(parameters(t.predictor))))
        ends.append(last)
    assert identical(*ends)


def test_frozen_vectors_stay_as_they_are(base, tmp_path):
    vectors = torch.randn(30, 20, generator=torch.Generator().manual_seed(0)).numpy()
    np.save(tmp_path / "vectors.npy", vectors)
    model = {"encoder": "frozen", "pretrained": str(tmp_path / "vectors.npy"), "domain": "sphere"}
    predictor, _ = run(base.graph, base.clauses, settings_with(model=model))
    expected = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    np.testing.assert_allclose(predictor.encode_all().numpy(), expected, rtol=1e-6, atol=1e-7)
    start = parameters(prepare(base.graph, base.clauses, settings_with(model=model)).predictor)
    assert torch.equal(predictor.encode_all(), start["encoder.weight"])
    assert not torch.equal(predictor.relations, start["relations"])


def test_pretrained_vectors_are_where_a_table_starts(base, tmp_path):
    vectors = np.random.default_rng(0).uniform(0, 1, (30, 20)).astype(np.float32)
    np.save(tmp_path / "vectors.npy", vectors)
    settings = settings_with(model={"pretrained": str(tmp_path / "vectors.npy")})
    training = prepare(base.graph, base.clauses, settings)
    np.testing.assert_array_equal(training.predictor.encode_all().detach().numpy(), vectors)
    assert not np.allclose(training.run().encode_all().detach().numpy(), vectors)


def scripted(training, values):
    """Let validation say these values, and remember the model it saw each time."""
    seen = []
    remaining = iter(values)

    def validate(predictor):
        seen.append(parameters(predictor))
        return {"mrr": next(remaining)}

    training.validate = validate
    return seen


def test_early_stopping_keeps_the_best_model(base):
    settings = settings_with(train={"epochs": 20, "passes": 1}, evaluate={"every": 2, "patience": 3})
    training = prepare(base.graph, base.clauses, settings)
    seen = scripted(training, [0.1, 0.3, 0.2, 0.3, 0.25, 0.9])
    records = []
    best = parameters(training.run(Calling(epoch=records.append)))
    assert identical(best, seen[1])
    assert not identical(best, seen[4])
    assert len(records) == 10
    assert (training.position.best, training.position.best_epoch, training.position.stopped) == (0.3, 4, True)
    assert [record["epoch"] for record in records if "valid" in record] == [2, 4, 6, 8, 10]


def test_the_last_model_can_be_kept_and_the_best_is_still_there(base):
    settings = settings_with(train={"epochs": 6, "passes": 1}, evaluate={"every": 1, "patience": 2, "keep": "last"})
    training = prepare(base.graph, base.clauses, settings)
    seen = scripted(training, [0.1, 0.3, 0.2, 0.2, 0.2, 0.2])
    assert identical(parameters(training.run()), seen[-1])
    assert (training.position.best_epoch, training.position.epoch, training.position.stopped) == (2, 6, False)
    assert identical(parameters(training.adopt_best()), seen[1])


@pytest.mark.parametrize(
    ("values", "inconsistencies", "kept"),
    [
        ([0.5, 0.6, 0.599, 0.598], [9.0, 8.0, 5.0, 1.0], 2),  # the last one is too far from the best
        ([0.6, 0.601, 0.7, 0.1], [1.0, 2.0, 9.0, 0.0], 2),  # the consistent first one falls behind
        ([0.6, 0.6, 0.5985, 0.6], [3.0, 3.0, 2.0, 3.0], 2),
        ([0.6, 0.6, 0.6, 0.6], [1.0, 2.0, 1.0, 2.0], 2),  # of equals the later
    ],
)
@pytest.mark.parametrize("interrupted", [None, 1, 3])
def test_the_most_consistent_model_within_the_tolerance_is_kept(base, values, inconsistencies, kept, interrupted):
    evaluate = {"every": 1, "patience": 0, "metric": "mrr, inconsistency", "tolerance": 0.00151}
    settings = settings_with(train={"epochs": 4, "passes": 1}, evaluate=evaluate)
    states = []

    def begun(start):
        training = prepare(base.graph, base.clauses, settings)
        left = iter(inconsistencies[start:])
        training.certify = lambda predictor: {"certified": {"inconsistency": next(left)}}
        return training, scripted(training, values[start:])

    training, seen = begun(0)
    best = parameters(training.run(checkpoint=lambda one: states.append(one.state())))
    if interrupted:
        training, _ = begun(interrupted)
        training.restore(*states[interrupted - 1])
        best = parameters(training.run())
    assert identical(best, seen[kept])
    assert training.position.best_epoch == kept + 1
    assert training.position.best == max(values)


def test_without_patience_every_epoch_is_trained_and_the_last_one_is_validated(base):
    settings = settings_with(train={"epochs": 5, "passes": 1}, evaluate={"every": 2, "patience": 0})
    training = prepare(base.graph, base.clauses, settings)
    seen = scripted(training, [0.3, 0.2, 0.1])
    assert identical(parameters(training.run()), seen[0])
    assert len(seen) == 3
    assert training.position.epoch == 5


def test_validation_finds_a_better_model_than_the_start(base):
    graph = replace(base.graph, valid=base.graph.train[:40])  # facts it also trains on are easy to rank
    settings = settings_with(train={"epochs": 20}, evaluate={"every": 10})
    records = []
    prepare(graph, (), settings).run(Calling(epoch=records.append))
    untrained = prepare(graph, (), settings)
    assert records[-1]["valid"]["mrr"] > 2 * untrained.validate(untrained.predictor)["mrr"]


def test_divergence_names_epoch_and_pass_and_what_to_do(base):
    settings = settings_with(
        model={"scorer": "rescal", "domain": "none"},
        train={"optimizer": "sgd", "learning_rate": 1e6, "epochs": 5, "passes": 2},
    )
    saved = []
    training = prepare(base.graph, base.clauses, settings)
    with pytest.raises(RunError, match=r"diverged in epoch 1, pass \d.*smaller train\.learning_rate.*model\.domain"):
        training.run(checkpoint=lambda at: saved.append(at.state()[0]))
    assert all(tensor.isfinite().all() for tensors in saved for tensor in tensors.values())


def test_the_first_sets_are_unsearched_where_the_discriminator_moves_first(base):
    sets = []
    for clauses in ({"first": "adversary"}, {"first": "discriminator"}, {"adversary": "entities"}):
        training = prepare(base.graph, base.clauses, settings_with(clauses=clauses))
        sets.append(training.find_adversarial_set()[0].vectors)
    assert torch.equal(sets[1], sets[2])
    assert not torch.equal(sets[0], sets[1])


def test_adversarial_sets_are_constants_while_the_model_trains(base):
    training = prepare(base.graph, base.clauses, settings_with(train={"epochs": 1, "passes": 2}))
    at_passes = []
    loss = training.objective.clause_loss
    training.run(Calling(passed=lambda _: at_passes.append([one.vectors.clone() for one in loss.adversarial_set])))
    assert torch.equal(at_passes[0][0], at_passes[1][0])
    assert not any(one.vectors.requires_grad for one in loss.adversarial_set)


def test_regularisers_shrink_what_they_weigh(base):
    def norms(**facts):
        predictor, _ = run(base.graph, (), settings_with(model={"domain": "none"}, facts={"batches": 3, **facts}))
        return predictor.encode_all().detach().norm().item(), predictor.relations.detach().norm().item()

    plain, entities, relations = norms(), norms(l2_entities=1.0), norms(l2_relations=1.0)
    assert entities[0] < 0.7 * plain[0]
    assert relations[1] < 0.7 * plain[1]


@pytest.mark.parametrize(
    "facts",
    [
        {"loss": "pairwise"},
        {"loss": "logistic"},
        {"negatives": 3},
        {"corruption": "bernoulli"},
        {"filtered": True},
        {"batch_size": 7},
        {"corruption": "bernoulli", "filtered": True, "negatives": 2},
    ],
    ids=str,
)
@pytest.mark.parametrize("scorer", ["complex", "model-f"])
def test_every_way_to_treat_facts_lowers_their_loss(base, scorer, facts):
    _, reports = run(base.graph, (), settings_with(model={"scorer": scorer}, facts=facts, train={"epochs": 6}))
    assert reports[-1].fact_loss < 0.9 * reports[0].fact_loss


def test_batches_cover_every_fact_once_in_a_pass(base):
    training = prepare(base.graph, (), settings_with(facts={"batches": 10}, train={"epochs": 1, "passes": 1}))
    batches = []
    draw = training.objective.corruption.draw
    training.objective.corruption.draw = lambda facts, generator: (
        batches.append(facts.clone()),
        draw(facts, generator),
    )[1]
    training.run()
    assert [len(batch) for batch in batches] == [14] * 9 + [9]  # ⌈135 / 10⌉ = 14
    assert sorted(torch.cat(batches).tolist()) == sorted(base.graph.train.tolist())
    assert torch.cat(batches).tolist() != base.graph.train.tolist()


def test_bad_input_is_refused_before_training(base):
    empty = Graph(Names(["a"], "entity"), Names(["r"], "relation"), np.empty((0, 3), dtype=np.int32), name="nothing")
    with pytest.raises(InputError, match="nothing: the train split is empty"):
        prepare(empty)
    with pytest.raises(InputError, match="unknown relation 'r99'"):
        prepare(base.graph, [parse_clause("r99(X,Y) => r00(X,Y)")])
    with pytest.raises(InputError, match=r"train\.device: 'abacus' cannot be used here"):
        find_device("abacus")
    with pytest.raises(InputError, match="takes no encoder of entities"):
        prepare(base.graph, (), settings_with(model={"scorer": "model-f"}), encoder=FeatureEncoder(features(), 20))
    with pytest.raises(InputError, match="only where violations are linear in scores"):
        prepare(base.graph, (), settings_with(clauses={"adversary": "closed-form", "semantics": "product"}))


def test_small_steps_against_all_entities_take_one_thread_and_large_ones_all(base):
    threads = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        for dim, expected in ((8, 1), (FEW_NUMBERS // len(base.graph.entities) * 2, 2)):
            facts = {"training": "1-vs-all", "loss": "softmax", "batch_size": 4}
            training = prepare(base.graph, [], settings_with(model={"dim": dim}, facts=facts))
            assert training.threads == expected
            assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(threads)
