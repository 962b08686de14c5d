"""All scores of a query as one matrix product, whose rows lie on cache lines."""

from __future__ import annotations

import pytest
import torch

from clausal.fast import fastest
from clausal.model.tensors import inner_products


@pytest.mark.parametrize("candidates", [1, 15, 16, 17, 40])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_padded_rows_hold_the_inner_products(candidates, dtype):
    generator = torch.Generator().manual_seed(0)
    queries = torch.randn(5, 7, generator=generator, dtype=dtype)
    entities = torch.randn(candidates, 7, generator=generator, dtype=dtype)
    with torch.no_grad():
        products = fastest(inner_products, queries, entities)(queries, entities)
    assert products.shape == (5, candidates)
    assert products.stride(0) % 16 == 0
    torch.testing.assert_close(products, (queries[:, None] * entities).sum(-1))


def test_gradients_flow_where_they_are_wanted():
    queries, entities = torch.ones(2, 3, requires_grad=True), torch.arange(12.0).reshape(4, 3)
    fastest(inner_products, queries, entities)(queries, entities).sum().backward()
    assert queries.grad.tolist() == [[18.0, 22.0, 26.0]] * 2
