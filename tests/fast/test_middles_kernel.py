"""The kernels of the (max, min) product compare integers, and find what a product of whole matrices of numbers has."""

import pytest
import torch

from clausal.evaluation.entities.matrices import Memory
from clausal.evaluation.entities.middles import SortedMiddles
from clausal.fast.cpu.middles import max_min_product_compiled, numbers_of, ordered

PRECISIONS = [torch.float32, torch.float64]


@pytest.mark.parametrize("dtype", PRECISIONS)
def test_the_integers_have_the_order_of_the_numbers(dtype):
    limits = torch.finfo(dtype)
    numbers = [-torch.inf, limits.min, -2.5, -1.0, -limits.tiny, 0.0, limits.tiny, 1.0, 2.5, limits.max, torch.inf]
    numbers = torch.tensor(numbers, dtype=dtype)
    integers = ordered(numbers)
    assert (integers.diff() > 0).all()
    assert torch.equal(numbers_of(integers), numbers)


class Rows:
    def __init__(self, table):
        self.table = table

    def rows(self, ids):
        return self.table[ids]


@pytest.mark.parametrize("dtype", PRECISIONS)
@pytest.mark.parametrize("kept", [1, 8, 37, 2000])
@pytest.mark.parametrize("levels", [1, 1000], ids=["tied", "apart"])
@pytest.mark.parametrize("at_hand", [False, True], ids=["by rows", "by rows and columns"])
def test_a_product_is_that_of_whole_matrices(dtype, kept, levels, at_hand):
    generator = torch.Generator().manual_seed(kept)
    left, right, floor = (
        (torch.randn(shape, generator=generator, dtype=dtype) * levels).round()
        for shape in ((50, 2000), (2000, 30), (50, 30))
    )
    right[:, ::3] -= 2 * levels  # that the best of a row do not settle
    expected = torch.minimum(left.unsqueeze(2), right.unsqueeze(0)).amax(1).maximum(floor)
    values, ids = left.sort(1, descending=True)
    values = torch.cat([values, values.new_full((50, 1), -torch.inf)], 1)[:, : kept + 1]
    memory = Memory(2**16, torch.device("cpu"))
    middles = SortedMiddles(
        Rows(left), values.contiguous(), ids[:, :kept].int().contiguous(), memory, left if at_hand else None
    )
    found = max_min_product_compiled(middles, right.T.contiguous(), floor)
    assert torch.equal(found, expected)
