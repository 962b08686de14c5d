"""The kernels of the (max, min) product compare integers, and find what a product of whole matrices of numbers has."""

import pytest
import torch

from clausal.fast.cpu.middles import numbers_of, ordered, try_all, try_candidates

PRECISIONS = [torch.float32, torch.float64]


@pytest.mark.parametrize("dtype", PRECISIONS)
def test_the_integers_have_the_order_of_the_numbers(dtype):
    limits = torch.finfo(dtype)
    numbers = [-torch.inf, limits.min, -2.5, -1.0, -limits.tiny, 0.0, limits.tiny, 1.0, 2.5, limits.max, torch.inf]
    numbers = torch.tensor(numbers, dtype=dtype)
    integers = ordered(numbers)
    assert (integers.diff() > 0).all()
    assert torch.equal(numbers_of(integers), numbers)


@pytest.mark.parametrize("dtype", PRECISIONS)
@pytest.mark.parametrize("kept", [1, 8, 37, 2000])
@pytest.mark.parametrize("levels", [1, 1000], ids=["tied", "apart"])
def test_a_product_is_that_of_whole_matrices(dtype, kept, levels):
    generator = torch.Generator().manual_seed(kept)
    left, right, floor = (
        (torch.randn(shape, generator=generator, dtype=dtype) * levels).round()
        for shape in ((50, 2000), (2000, 30), (50, 30))
    )
    expected = torch.minimum(left.unsqueeze(2), right.unsqueeze(0)).amax(1).maximum(floor)
    values, ids = left.sort(1, descending=True)
    values = torch.cat([values, values.new_full((50, 1), -torch.inf)], 1)[:, : kept + 1]
    values, ids = ordered(values), ids[:, :kept].int().contiguous()
    columns, best = ordered(right.T), ordered(floor)
    try_candidates(values, ids, columns.T.contiguous(), best)
    assert (numbers_of(best) <= expected).all()
    row, column = (values[:, -1:] > best).nonzero().unbind(1)
    if kept == 1:
        assert len(row)
    try_all(ordered(left), columns, torch.arange(50), row, column, best)
    assert torch.equal(numbers_of(best), expected)
