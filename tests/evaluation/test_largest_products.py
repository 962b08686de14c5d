"""The largest products are those of every candidate computed by itself, whatever the batch, the block and the ties."""

import numpy as np
import pytest
import torch

from clausal.errors import RunError
from clausal.evaluation import largest
from clausal.evaluation.largest import Hidden, LargestProducts


def by_brute_force(queries, candidates, k, left_out):
    found = []
    for row, query in enumerate(queries):
        scores = (query * candidates).sum(-1).double().numpy()
        ids = np.setdiff1d(np.arange(len(candidates)), left_out[row])
        order = np.lexsort((ids, -scores[ids]))[:k]
        found.append((ids[order].tolist(), scores[ids[order]].tolist()))
    return found


def as_lists(found):
    return [(one.ids.tolist(), one.scores.tolist()) for one in found]


def hidden_pairs(left_out):
    queries = np.repeat(np.arange(len(left_out)), [len(ids) for ids in left_out])
    ids = np.concatenate([np.empty(0, np.int64), *left_out]).astype(np.int64)
    shuffled = np.random.default_rng(0).permutation(len(ids))
    return Hidden(queries[shuffled], ids[shuffled])


@pytest.fixture(params=[1, 1 << 9, 1 << 22], ids=["tiny blocks", "some blocks", "one block"])
def blocks(request, monkeypatch):
    monkeypatch.setattr(largest, "_SCORES_AT_ONCE", request.param)


@pytest.mark.parametrize("kind", ["random", "ties", "all equal", "zeros", "huge and small"])
@pytest.mark.parametrize(("count", "k"), [(1, 1), (5, 10), (300, 1), (700, 12)])
def test_the_best_are_those_of_brute_force(kind, count, k, blocks):
    rng = np.random.default_rng(count + k)
    candidates = rng.normal(size=(count, 10)).astype(np.float32)
    if kind == "ties":
        candidates = candidates[rng.integers(1 + count // 20, size=count)]
    elif kind == "all equal":
        candidates[:] = candidates[0]
    elif kind == "zeros":
        candidates[rng.random(count) < 0.9] = 0
    elif kind == "huge and small":
        candidates *= 10.0 ** rng.integers(-6, 6, size=(count, 1))
    queries = rng.normal(size=(9, 10)).astype(np.float32)
    queries[3] = 0
    left_out = [rng.permutation(count)[: rng.integers(count + 1)] for _ in queries]
    left_out[0], left_out[1] = np.empty(0, int), np.arange(count)
    queries, candidates = torch.from_numpy(queries), torch.from_numpy(candidates)
    expected = by_brute_force(queries, candidates, k, left_out)
    products = LargestProducts(candidates)
    assert as_lists(products.find(queries, k, hidden_pairs(left_out))) == expected
    alone = [products.find(queries[row : row + 1], k, hidden_pairs(left_out[row : row + 1]))[0] for row in range(9)]
    assert as_lists(alone) == expected
    assert as_lists(products.find(queries, k)) == by_brute_force(queries, candidates, k, [[]] * 9)


def test_many_queries_are_taken_some_at_a_time_with_the_candidates_that_each_leaves_out():
    generator = torch.Generator().manual_seed(0)
    queries, candidates = torch.randn(600, 4, generator=generator), torch.randn(50, 4, generator=generator)
    left_out = [np.array([row % 50]) for row in range(600)]
    found = LargestProducts(candidates).find(queries, 3, hidden_pairs(left_out))
    assert as_lists(found) == by_brute_force(queries, candidates, 3, left_out)


def test_answers_that_the_product_rounds_apart_or_together_are_told_apart(monkeypatch):
    """With a product that is off by as much as is allowed, each way, the best are still the best."""
    generator = torch.Generator().manual_seed(1)
    candidates = torch.randn(1, 30, generator=generator) + 1e-6 * torch.randn(500, 30, generator=generator)
    queries = torch.randn(5, 30, generator=generator)
    exact = largest._products
    expected = by_brute_force(queries, candidates, 7, [[]] * 5)
    for sign in (1, -1):

        def rounded(queries, block, sign=sign):
            noise = torch.empty(len(queries), len(block)).uniform_(0, 30 * 2.0**-24)
            return exact(queries, block) + sign * noise * queries.norm(dim=1, keepdim=True) * block.norm(dim=1)

        monkeypatch.setattr(largest, "_products", rounded)
        assert as_lists(LargestProducts(candidates).find(queries, 7)) == expected


def test_no_queries_have_no_answers():
    assert LargestProducts(torch.randn(5, 3)).find(torch.empty(0, 3), 4) == []


def test_vectors_that_are_no_numbers_are_a_failure():
    with pytest.raises(RunError, match="not numbers"):
        LargestProducts(torch.full((5, 3), torch.nan)).find(torch.ones(1, 3), 2)
