"""Rows that are dealt over processes: fetched by any of them, and stepped on by their owners, as one table would be."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from clausal.model.domains import Cube, Sphere
from clausal.model.row_table import RowTable
from clausal.peers import ALONE, Dealing
from clausal.training.rows import descend_on_rows_, rounded
from processes import do_together

ROWS, DIM = 23, 4


@given(rows=st.integers(1, 60), size=st.integers(1, 7), seed=st.integers(0, 3))
def test_each_row_is_dealt_to_one_process_and_is_found_there(rows, size, seed):
    ids = torch.arange(rows)
    found = []
    for rank in range(size):
        dealing = Dealing.of(rows, rank, size, seed)
        own = dealing.own_ids()
        assert len(own) == dealing.count()
        assert (dealing.owners(own) == rank).all()
        assert dealing.places(own).tolist() == list(range(len(own)))
        assert (dealing.owners(ids) < size).all()
        found += own.tolist()
    assert sorted(found) == list(range(rows))


def exchanged(peers, dtype):
    """Fetch rows whose numbers tell what they are, and bring home gradients that tell who sent them."""
    table = RowTable(DIM, Dealing.of(ROWS, peers.rank, peers.size, 1), peers, dtype=dtype)
    own = table.dealing.own_ids()
    table.weight.data.copy_(own.unsqueeze(1) + torch.arange(DIM) / 4)
    ids = torch.tensor([[2, 5, 5], [22, 0, 2 + peers.rank]])
    with torch.no_grad():
        vectors = table(ids)
    batch = table.fetch(ids.unique())
    home = batch.bring_home(torch.full_like(batch.rows, 10.0**peers.rank))
    sums = torch.zeros(len(own)).index_put((home.places,), home.gradients[:, 0])
    return ids.tolist(), vectors.numpy(), own.tolist(), sums.tolist(), peers.sent


def test_rows_come_from_their_owners_and_gradients_go_back_to_them(tmp_path):
    dtypes = (torch.float32, torch.bfloat16)
    for answers in do_together(3, tmp_path, {str(dtype): (exchanged, (dtype,)) for dtype in dtypes}).values():
        expected = dict.fromkeys(range(ROWS), 0.0)
        for rank, (ids, vectors, *_) in enumerate(answers):
            np.testing.assert_allclose(vectors, np.array(ids)[..., None] + np.arange(DIM) / 4)
            for row in set(np.ravel(ids).tolist()):
                expected[row] += 10.0**rank
        came = {row: value for _, _, own, sums, _ in answers for row, value in zip(own, sums, strict=True)}
        assert came == expected
        assert all(sent > 0 for *_, sent in answers)


@pytest.mark.parametrize("domain", [Cube(), Sphere()], ids=["cube", "sphere"])
@pytest.mark.parametrize("by_row", [False, True])
def test_a_step_on_rows_is_adagrad_on_them_alone(domain, by_row):
    generator = torch.Generator().manual_seed(0)
    table = RowTable(DIM, Dealing(ROWS), ALONE, by_row=by_row)
    table.weight.data.copy_(domain.project(torch.rand(ROWS, DIM, generator=generator)))
    before, sums = table.weight.detach().double().numpy().copy(), np.full((ROWS, 1 if by_row else DIM), 0.1)
    table.sums.fill_(0.1)
    rows = torch.tensor([3, 7, 20])
    for _ in range(6):
        gradient = torch.randn(3, DIM, generator=generator)
        descend_on_rows_(table, rows, gradient, 0.3, domain, generator)
        for row, g in zip(rows.tolist(), gradient.double().numpy(), strict=True):
            held = (
                ((before[row] <= 0) & (g > 0)) | ((before[row] >= 1) & (g < 0)) if isinstance(domain, Cube) else False
            )
            sums[row] += (g * g * ~np.broadcast_to(held, g.shape)).mean() if by_row else g * g
            before[row] -= 0.3 * g / np.sqrt(sums[row])
            before[row] = np.clip(before[row], 0, 1) if isinstance(domain, Cube) else before[row] / np.sqrt(
                (before[row] ** 2).sum()
            )  # fmt: skip
    np.testing.assert_allclose(table.weight.detach().numpy(), before, atol=1e-5)
    np.testing.assert_allclose(table.sums.numpy(), sums, rtol=1e-5)


def test_numbers_held_at_the_edge_of_the_cube_do_not_slow_the_others_of_their_row():
    for gradient, moved in (([5.0, -5.0, 0.1, 0.0], 1), ([-5.0, 5.0, 0.1, 0.0], 3)):
        table = RowTable(DIM, Dealing(1), ALONE, by_row=True)
        table.weight.data.copy_(torch.tensor([[0.0, 1.0, 0.5, 0.5]]))
        given = torch.tensor([gradient])
        assert Cube().can_move(table.weight.detach(), -given).sum() == moved + 1  # a gradient of zero holds nothing
        descend_on_rows_(table, torch.tensor([0]), given, 0.1, Cube(), torch.Generator())
        counted = [0.1] if moved == 1 else [5.0, 5.0, 0.1]
        assert table.sums.item() == pytest.approx(sum(g * g for g in counted) / DIM)


def test_rounding_at_random_keeps_the_mean_and_numbers_that_need_none():
    generator = torch.Generator().manual_seed(0)
    third = torch.full((20_000,), 1 / 3)
    found = rounded(third, torch.bfloat16, generator)
    assert found.dtype == torch.bfloat16
    assert len(found.unique()) == 2
    assert abs(found.float().mean().item() - 1 / 3) < 2e-5  # to the nearest, it would be 6.5e-4 away
    exact = torch.tensor([0.0, 1.0, -0.5, 96.0])
    assert torch.equal(rounded(exact, torch.bfloat16, generator).float(), exact)
    assert torch.equal(rounded(third, torch.float32, generator), third)
