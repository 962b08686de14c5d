"""The compiled count of scores above that of a fact equals the place of the fact among them."""

from __future__ import annotations

import pytest
import torch

from clausal.fast.cpu.counting import count_above

LAYOUTS = {
    "gaps between rows": lambda: torch.rand(11, 32)[:, :20],
    "columns as rows": lambda: torch.rand(20, 11).T,
    "rows side by side": lambda: torch.rand(11, 20),
    "one row for all": lambda: torch.rand(1, 20).expand(11, 20),
    "half precision": lambda: torch.stack([torch.randperm(20) for _ in range(11)]).half(),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("threads", [1, 3])
def test_threads_count_rows_wherever_they_lie(layout, threads, monkeypatch):
    monkeypatch.setattr(torch, "get_num_threads", lambda: threads)
    torch.manual_seed(0)
    scores = LAYOUTS[layout]()
    queries, targets = torch.arange(11).repeat_interleave(2), torch.randint(20, (22,))
    known, known_starts = torch.arange(20, dtype=torch.int32), torch.tensor([0] * 11 + [20])  # of the last query
    above = scores.argsort(dim=1, descending=True).argsort(dim=1)[queries, targets]
    among_known = above * (queries == 10)
    expected = torch.stack([above, above + 1, among_known, among_known + (queries == 10)])
    assert count_above(scores, queries, targets, known, known_starts).tolist() == expected.tolist()
