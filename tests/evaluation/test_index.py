"""The index against exact answers: what it finds has its exact score and order, and little is missed."""

from __future__ import annotations

from threading import Thread

import numpy as np
import pytest
import torch

from clausal.evaluation.largest import Hidden, LargestProducts

pytest.importorskip("usearch", reason="an index: pip install 'clausal[index]'")

from clausal.evaluation.index import IndexedProducts, VectorIndex, lifted

METRICS = ("dot", "cosine", "euclidean")


def clustered(count=3000, dim=16, seed=0):
    """Vectors in groups of different lengths, far from 0, as those of a trained model are."""
    generator = torch.Generator().manual_seed(seed)
    centres = torch.randn(40, dim, generator=generator) * (0.3 + torch.rand(40, 1, generator=generator)) + 1
    vectors = centres[torch.arange(count) % 40] + 0.2 * torch.randn(count, dim, generator=generator)
    return vectors, torch.randn(50, dim, generator=generator)


def recall(found, exact):
    pairs = [(set(one.ids.tolist()), set(other.ids.tolist())) for one, other in zip(found, exact, strict=True)]
    return np.mean([len(one & other) / len(other) for one, other in pairs])


def test_what_the_index_finds_is_exact_and_nearly_all_of_it():
    vectors, queries = clustered()
    exact = LargestProducts(vectors).find(queries, 10)
    found = IndexedProducts(vectors, VectorIndex.build(vectors)).find(queries, 10)
    assert recall(found, exact) > 0.99
    for place, one in enumerate(found):
        assert one.scores.tolist() == sorted(one.scores.tolist(), reverse=True)
        again = LargestProducts(vectors).scores(queries, np.full(len(one.ids), place), one.ids)
        np.testing.assert_array_equal(one.scores, again)


def test_what_is_left_out_is_not_found_and_others_take_its_place():
    vectors, queries = clustered()
    products = IndexedProducts(vectors, VectorIndex.build(vectors))
    best = products.find(queries, 40)
    hidden = Hidden(np.concatenate([np.full(40, 0), np.full(5, 1)]), np.concatenate([best[0].ids, best[1].ids[:5]]))
    found, exact = products.find(queries, 10, hidden), LargestProducts(vectors).find(queries, 10, hidden)
    assert not set(found[0].ids.tolist()) & set(best[0].ids.tolist())
    assert [len(one.ids) for one in found] == [10] * len(queries)
    assert recall(found, exact) > 0.99


def test_where_few_are_left_the_answer_is_exact():
    vectors, queries = clustered(30)
    left_out = np.arange(25)
    hidden = Hidden(np.zeros(25, np.int64), left_out)
    (found,) = IndexedProducts(vectors, VectorIndex.build(vectors)).find(queries[:1], 10, hidden)
    (exact,) = LargestProducts(vectors).find(queries[:1], 10, hidden)
    assert found.ids.tolist() == exact.ids.tolist()
    assert len(found.ids) == 5


@pytest.mark.parametrize("metric", METRICS)
def test_each_metric_is_a_product(metric):
    vectors, queries = clustered(400, 5)
    asked = torch.cat([queries, torch.ones(len(queries), 1)], 1) if metric == "euclidean" else queries
    products = asked @ lifted(vectors, metric).T
    if metric == "dot":
        near = queries @ vectors.T
    elif metric == "cosine":
        near = torch.nn.functional.cosine_similarity(queries[:, None], vectors[None], dim=-1)
    else:
        near = -torch.cdist(queries, vectors)
    assert (products.argmax(1) == near.argmax(1)).all()
    found = VectorIndex.build(vectors, metric).find(queries.numpy(), 5)
    hits = [best in some for best, some in zip(near.argmax(1).tolist(), found.tolist(), strict=True)]
    assert np.mean(hits) > 0.95


def test_threads_can_ask_at_the_same_time():
    vectors, queries = clustered()
    products = IndexedProducts(vectors, VectorIndex.build(vectors))
    expected = [one.ids.tolist() for one in products.find(queries, 5)]
    found = [None] * 4

    def ask(place):
        found[place] = [one.ids.tolist() for one in products.find(queries, 5)]

    threads = [Thread(target=ask, args=(place,)) for place in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 4
