"""The two inner loops of evaluation, by torch and by compiled kernels, equal plain loops over all numbers."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
import torch
from torch import Tensor

from clausal.evaluation.counting import Counting, QueryBatch
from clausal.evaluation.entities.matrices import Memory
from clausal.evaluation.entities.middles import SortedMiddles, max_min_product
from clausal.fast.cpu.counting import CompiledCounting
from clausal.fast.cpu.middles import max_min_product_compiled


def plain_counts(scores, targets, known):
    """Of each target, how many score more and at least as much, among all and among the known, in plain Python."""
    columns = []
    for row, mine, answers in zip(scores.tolist(), targets, known, strict=True):
        for target in mine:
            wanted, column = row[target], []
            for candidates in (row, [row[answer] for answer in answers]):
                column += [sum(score > wanted for score in candidates), sum(score >= wanted for score in candidates)]
            columns.append(column)
    return torch.tensor(columns).T


def batch_of(targets, known):
    def flat(lists):
        starts = [0]
        for one in lists:
            starts.append(starts[-1] + len(one))
        return torch.tensor([number for one in lists for number in one]), starts

    return QueryBatch(*flat(targets), *flat(known))


@pytest.mark.parametrize("kind", [Counting, CompiledCounting])
@pytest.mark.parametrize("most", [4, 70, 300], ids="at most {} targets".format)
def test_counts_of_greater_and_equal_scores_are_those_of_a_plain_loop(kind, most):
    generator = torch.Generator().manual_seed(most)
    scores = torch.randint(9, (5, 40), generator=generator).float()  # with many ties
    targets = [torch.randint(40, (size,), generator=generator).tolist() for size in (most, most // 2, 2, 1, 1)]
    known = [torch.randperm(40, generator=generator)[:size].tolist() for size in (10, 0, 40, 1, 5)]
    count = kind(scores, scores.numel())
    assert count(scores, batch_of(targets, known)).equal(plain_counts(scores, targets, known))


@dataclass
class Given:
    """A matrix that is there already."""

    matrix: Tensor

    def rows(self, ids):
        return self.matrix[ids]


@pytest.mark.parametrize("product", [max_min_product, max_min_product_compiled])
@pytest.mark.parametrize("budget", [20_000, 2**20], ids="{} bytes".format)
def test_the_pruned_product_is_the_largest_of_the_least_over_all_middles(product, budget):
    left, right = torch.randn(2, 50, 50, generator=torch.Generator().manual_seed(0))
    floor = torch.full((50, 50), -0.2)
    expected = torch.maximum(floor, torch.minimum(left.unsqueeze(2), right.unsqueeze(0)).amax(1))
    middles = SortedMiddles.of(Given(left), 50, Memory(budget, torch.device("cpu")))
    assert product(middles, right.T.contiguous(), floor).equal(expected)
