"""The encoder of described entities: vectors in the domain for any features, and training that reaches them."""

import numpy as np
import pytest
import torch

from clausal.model import DOMAINS, Box, check_encoder
from clausal.model.described import DescribedEncoder, project_with_way_back
from clausal.model.features import Features, features_of, more_features

TEXTS = ["a dog", "a cat", "", "the old dog of a cat"]
SEEN = np.array([True, True, True, False])


def features(kind="ngrams"):
    if kind == "ngrams":
        return features_of("ngrams", TEXTS, SEEN, buckets=64)
    return features_of("vectors", vectors(), SEEN)


def vectors():
    rows = np.random.default_rng(0).normal(size=(4, 5)).astype(np.float32)
    rows[2] = 0
    return rows


def encoder(domain, kinds=("ngrams", "vectors"), **options):
    made = DescribedEncoder([features(kind) for kind in kinds], 6, domain, **options)
    made.reset_parameters(torch.Generator().manual_seed(1))
    return made


@pytest.mark.parametrize("kind", [kind for name, kind in DOMAINS.items() if name != "none"])
@pytest.mark.parametrize("scale", [1.0, 100.0])
@pytest.mark.parametrize("hidden", [0, 7])
def test_every_vector_is_in_the_domain_whatever_was_learnt(kind, scale, hidden):
    domain = kind()
    made = encoder(domain, hidden=hidden).eval()
    made.scale_(scale)
    made.own.data.normal_()
    check_encoder(made, 4, 6)
    assert domain.contains(made(torch.arange(4))).all()


def test_it_is_the_own_vector_and_the_maps_of_features():
    made = encoder(DOMAINS["none"]()).eval()
    made.own.data.normal_()
    dense = torch.zeros(4, 64)
    sparse = made.features[0].rows
    for row in range(4):
        own = slice(sparse.starts[row], sparse.starts[row + 1])
        dense[row, sparse.columns[own].long()] = sparse.values[own]
    expected = made.own + dense @ made.maps[0] + made.features[1].rows.vectors @ made.maps[1]
    torch.testing.assert_close(made(torch.arange(4)), expected)
    torch.testing.assert_close(made(torch.tensor([[3, 3], [0, 2]])), expected[torch.tensor([[3, 3], [0, 2]])])


def test_a_hidden_layer_says_more_of_vectors_and_nothing_where_there_are_none():
    made = encoder(DOMAINS["none"](), ("vectors", "ngrams"), hidden=7).eval()
    assert list(made.layers) == ["0"]  # n-grams have none
    layer, features = made.layers["0"], made.features[0].rows.vectors * 5**0.5
    layer.bias.data.normal_()
    units = torch.nn.functional.gelu(features @ layer.inward + layer.bias)
    said = features @ made.maps[0] + units @ layer.outward
    said[2] = 0  # has no vector
    sparse = made.features[1].rows.map(torch.arange(4), made.maps[1])
    torch.testing.assert_close(made(torch.arange(4)), said + sparse)
    more = [
        one.extended(more_features(one, given)) for one, given in zip(made.features, (vectors(), TEXTS), strict=True)
    ]
    torch.testing.assert_close(made.extended(more)(torch.arange(8)), (said + sparse).repeat(2, 1), rtol=1e-4, atol=1e-5)


def test_a_hidden_layer_learns_what_no_linear_map_says():
    """Whether one of two numbers is positive, but not both."""
    rows = np.array([[1, 1], [1, -1], [-1, 1], [-1, -1]], np.float32)
    described = features_of("vectors", rows, np.ones(4, np.bool_))
    target = torch.tensor([[0.0], [1.0], [1.0], [0.0]]).repeat(1, 4)

    def left(hidden):
        torch.manual_seed(0)
        made = DescribedEncoder(
            [described], 4, DOMAINS["box"](), own_dropout=1.0, feature_dropout=0.0, hidden=hidden
        ).train()
        optimizer = torch.optim.Adam(made.parameters(), lr=0.03)
        for _ in range(200):
            optimizer.zero_grad()
            loss = (made(torch.arange(4)) - target).square().mean()
            loss.backward()
            optimizer.step()
        return float(loss.detach())

    assert left(16) < 1e-2 < 0.2 < left(0)


def test_own_vectors_are_left_out_of_training_as_often_as_asked():
    made = encoder(DOMAINS["none"](), ("vectors",), own_dropout=1.0, feature_dropout=0.0)
    made.own.data.fill_(5)
    by_features = made.features[0].rows.vectors @ made.maps[0]
    torch.testing.assert_close(made.train()(torch.arange(4)), by_features)
    torch.testing.assert_close(made.eval()(torch.arange(4)), 5 + by_features)


@pytest.mark.parametrize("kind", ["ngrams", "vectors"])
def test_the_same_description_later_gives_the_same_row(kind):
    known = features(kind)
    later = more_features(known, (TEXTS if kind == "ngrams" else vectors())[:2])
    for name, tensor in later.tensors().items():
        torch.testing.assert_close(tensor, known.rows.tensors()[name][: len(tensor)], rtol=1e-4, atol=1e-5)


def test_vectors_are_brought_to_one_variance_in_all_directions_that_differ():
    rng = np.random.default_rng(0)
    spread = np.array([10, 1, 1, 1, 0])  # the last direction says nothing
    given = (rng.normal(size=(500, 5)) * spread + 3).astype(np.float32)
    made = features_of("vectors", given, np.ones(500, np.bool_))
    rows = made.rows.vectors.numpy()
    np.testing.assert_allclose(rows.mean(0), 0, atol=1e-5)
    assert np.square(rows).sum(1).mean() == pytest.approx(1, rel=1e-4)
    deviations = rows.std(0)
    assert deviations[:4].max() < 10 / 3 * deviations[:4].min()
    later = more_features(made, np.array([[3, 3, 3, 3, 1e3]], np.float32))  # a direction that train knows nothing of
    assert float(later.tensors()["vectors"].abs().max()) < 0.5


def test_rows_of_a_run_with_a_single_scale_are_still_made():
    tensors = {"vectors": torch.ones(2, 3), "shift": torch.ones(3), "scale": torch.tensor(2.0)}
    old = Features.of_tensors("vectors", tensors)
    assert more_features(old, np.full((1, 3), 2, np.float32)).tensors()["vectors"].tolist() == [[2, 2, 2]]
    with pytest.raises(ValueError, match="do not fit"):
        Features.of_tensors("vectors", tensors | {"scale": torch.ones(2, 3)})


def test_ngrams_have_room_enough_to_be_apart():
    few = features_of("ngrams", TEXTS, SEEN)
    assert few.rows.width == 1024
    many = features_of("ngrams", [f"word{number} of many" for number in range(3000)], np.ones(3000, np.bool_))
    distinct = 3000 + 3000 + 3000 + 2 + 1  # at least: words, pairs and ends of words
    assert distinct < many.rows.width <= 1 << 17
    assert many.rows.width & (many.rows.width - 1) == 0


def test_what_counts_is_learnt_from_train_alone():
    """Another text of an unseen entity changes no row of a seen one."""
    other = features_of("ngrams", [*TEXTS[:3], "dog dog cat zebra"], SEEN, buckets=64)
    for name in ("columns", "values"):
        end = int(other.rows.starts[3])
        torch.testing.assert_close(other.rows.tensors()[name][:end], features().rows.tensors()[name][:end])


def test_clipped_numbers_find_their_way_back():
    outside = torch.tensor([[2.0, -2.0, 0.5]], requires_grad=True)
    for target, moved in ((-1.0, [True, False, True]), (1.0, [False, True, True])):
        outside.grad = None
        (project_with_way_back(Box(-1, 1), outside) * -target).sum().backward()  # descending leads towards the target
        assert (outside.grad != 0).squeeze(0).tolist() == moved


def test_a_linear_map_learns_through_a_narrow_domain():
    """From a start that lies outside of the cube in half of its numbers."""
    torch.manual_seed(0)
    rows = np.random.default_rng(0).normal(size=(4, 8)).astype(np.float32)
    described = features_of("vectors", rows, np.ones(4, np.bool_))
    made = DescribedEncoder([described], 6, DOMAINS["cube"](), own_dropout=1.0, feature_dropout=0.0).train()
    target = torch.rand(2, 6)
    optimizer = torch.optim.Adagrad([made.maps[0]], lr=0.3)
    for _ in range(200):
        optimizer.zero_grad()
        loss = (made(torch.tensor([0, 1])) - target).square().sum()
        loss.backward()
        optimizer.step()
    assert loss < 1e-2
