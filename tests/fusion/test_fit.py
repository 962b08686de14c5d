"""The fit finds weights that made the answers, keeps its bounds, and never trades the model for noise."""

import numpy as np
import pytest
import torch
from by_hand import strange_graph
from score_tables import TablePredictor

from clausal.fusion import VotingRules, fuse, mine_rules
from clausal.fusion.fit import fit, paired_gain
from clausal.fusion.lists import Lists, join_lists
from clausal.fusion.moments import expected_ranks, moments


def drawn(weights, lists=1500, size=12, seed=0, groups=2):
    """Lists whose answers are drawn from a softmax of weights · features, with the answer put first."""
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(lists, size, weights.shape[1])).astype(np.float32)
    group = np.sort(rng.integers(groups, size=lists))
    scores = np.einsum("lck,lk->lc", features, weights[group]) + rng.gumbel(size=(lists, size))
    answer = scores.argmax(axis=1)
    rows = np.arange(lists)
    features[rows, 0], features[rows, answer] = features[rows, answer], features[rows, 0].copy()
    flat = features.reshape(-1, weights.shape[1])
    ones = np.ones(len(flat), np.float32)
    return Lists(group, rows, np.arange(0, len(flat) + 1, size), flat, ones, groups)


def test_the_fit_finds_the_weights_of_each_group():
    truth = np.array([[1.0, 0.5, 0.0], [1.0, 1.5, -1.0]])
    found = fit(drawn(truth, 8000), np.array([1.0, 0.0, 0.0]), np.array([0.0, -np.inf, -np.inf]))
    np.testing.assert_allclose(found.weights, truth, atol=0.2)
    assert np.isfinite(found.strength)
    assert found.gains


def test_no_weight_is_below_its_bound():
    truth = np.array([[1.0, -0.7, 0.4], [1.0, -0.2, 0.4]])
    found = fit(drawn(truth), np.array([1.0, 0.1, 0.1]), np.zeros(3))
    assert (found.weights >= 0).all()
    np.testing.assert_allclose(found.weights[:, 1], 0, atol=1e-6)
    np.testing.assert_allclose(found.weights[:, 2], 0.4, atol=0.15)


@pytest.mark.parametrize("seed", range(4))
def test_noise_gains_nothing(seed):
    found = fit(drawn(np.array([[1.0, 0.0, 0.0]] * 2), 300, seed=seed), np.array([1.0, 0.0, 0.0]), np.zeros(3))
    assert found.gain < 0.02


def test_a_candidate_that_stands_for_several_counts_as_often():
    lists = drawn(np.array([[1.0, 0.5]] * 2), 50)
    twice = Lists(
        lists.groups,
        lists.facts,
        np.append(0, np.cumsum(np.full(50, 13))),
        np.concatenate([np.concatenate([one, one[-1:]]) for one in lists.features.reshape(50, 12, 2)]),
        np.ones(650, np.float32),
        2,
    )
    weighted = Lists(lists.groups, lists.facts, lists.starts, lists.features, lists.stands_for.copy(), 2)
    weighted.stands_for[11::12] = 2
    weights, every = np.array([[0.3, 1.0]] * 2), np.ones(50, np.bool_)
    for one, other in zip(moments(weighted, weights, every), moments(twice, weights, every), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(expected_ranks(weighted, weights), expected_ranks(twice, weights))


def test_gradient_and_curvature_are_the_derivatives_of_the_loss():
    lists, every = drawn(np.array([[1.0, 0.5]] * 2), 40), np.ones(40, np.bool_)
    weights = np.array([[0.7, -0.2], [0.1, 0.4]])
    features = torch.from_numpy(lists.features.reshape(40, 12, 2)).double()

    def loss(weights):
        own = weights[torch.from_numpy(lists.groups)]
        return -torch.einsum("lck,lk->lc", features, own).log_softmax(dim=1)[:, 0].sum()

    found = moments(lists, weights, every)
    point = torch.tensor(weights, requires_grad=True)
    (gradient,) = torch.autograd.grad(loss(point), point)
    curvature = torch.autograd.functional.hessian(loss, point.detach())
    assert found.loss.sum() == pytest.approx(loss(point).item())
    np.testing.assert_allclose(found.gradient, gradient.numpy(), atol=1e-6)
    for group in range(2):
        np.testing.assert_allclose(found.curvature[group], curvature[group, :, group].numpy(), atol=1e-5)


def test_lists_of_several_batches_are_sorted_by_group():
    one, other = drawn(np.array([[1.0, 0.5]] * 2), 30, size=5), drawn(np.array([[1.0, 0.5]] * 2), 20, size=7, seed=1)
    both = join_lists([one, other])
    weights = np.array([[1.0, 0.5], [0.2, 2.0]])
    parts = [moments(lists, weights, np.ones(len(lists), np.bool_)) for lists in (one, other)]
    whole = moments(both, weights, np.ones(50, np.bool_))
    np.testing.assert_allclose(whole.loss, parts[0].loss + parts[1].loss)
    np.testing.assert_allclose(whole.gradient, parts[0].gradient + parts[1].gradient)


def test_the_two_sides_of_a_fact_are_one_case():
    one, other, facts = np.array([1.0, 1.0, 0.0, 0.0]), np.zeros(4), np.array([0, 0, 1, 1])
    gain, error = paired_gain(one, other, facts)
    assert gain == 0.5
    assert error == pytest.approx(0.5)


def table_model(graph, seed=0):
    shape = len(graph.relations), len(graph.entities), len(graph.entities)
    return TablePredictor(torch.randn(shape, generator=torch.Generator().manual_seed(seed)))


def test_votes_count_nothing_where_they_gain_nothing():
    graph = strange_graph(5, valid=60)
    fusion = fuse(table_model(graph), graph, mine_rules(graph))
    assert fusion.basis in ("no gain", "fitted")
    if fusion.basis == "no gain":
        assert not fusion.weights[:, 1:].any()
    assert (fusion.weights[:, :7] >= 0).all()


@pytest.mark.parametrize("valid", [0, 5])
def test_without_enough_valid_facts_weights_are_set(valid):
    graph = strange_graph(6, valid=valid)
    fusion = fuse(table_model(graph), graph, mine_rules(graph))
    assert fusion.basis == "default"
    assert (fusion.weights == fusion.weights[0]).all()
    assert fusion.weights[0, 0] > 0 < fusion.weights[0, 1]


def test_symmetry_that_the_model_has_not_learnt_is_voted_for():
    """Every fact of valid is the mirror of one in train; the model knows nothing."""
    rng = np.random.default_rng(0)
    pairs = np.array([[a, b] for a in range(40) for b in range(a) if rng.random() < 0.15])
    facts = np.stack([pairs[:, 0], np.zeros(len(pairs)), pairs[:, 1]], 1).astype(np.int32)
    mirror = facts[:, [2, 1, 0]]
    graph = strange_graph(0, entities=40, relations=1)
    graph = type(graph)(
        graph.entities, graph.relations, np.concatenate([facts, mirror[:60]]), mirror[60:90], mirror[90:]
    )
    fusion = fuse(table_model(graph), graph, mine_rules(graph))
    assert fusion.basis == "fitted"
    assert fusion.gain > 0.3
    assert fusion.weights[:, 1].min() > 0.5


def test_signed_weights_can_be_negative_and_only_they_look_at_links():
    graph = strange_graph(7, train=60, valid=60)
    rules: VotingRules = mine_rules(graph)
    plain = fuse(table_model(graph), graph, rules)
    signed = fuse(table_model(graph), graph, rules, signed=True)
    assert not plain.weights[:, -1].any()
    assert signed.signed
    assert not plain.signed
