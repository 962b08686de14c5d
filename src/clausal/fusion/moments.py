"""The loss of lists under weights, with its gradient and curvature for each group, by compiled kernels.

The loss of a list is −log of the probability of its answer under a softmax of weights · features over its candidates.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from clausal.fusion.lists import Lists, Reals
from clausal.logic.mining.compiling import in_threads, kernel

_LISTS_AT_ONCE = 4096


class Moments(NamedTuple):
    """Sums over the lists of each group: loss [groups], gradient [groups, f], curvature [groups, f, f]."""

    loss: Reals
    gradient: Reals
    curvature: Reals

    def total(self) -> Moments:
        """Return the sums over all groups, as one group."""
        return Moments(*(values.sum(axis=0, keepdims=True) for values in self))


def moments(lists: Lists, weights: Reals, used: NDArray[np.bool_]) -> Moments:
    """Return the moments of the ``used`` lists under the weights of each group [groups, features]."""
    groups, features = weights.shape
    found = Moments(np.zeros(groups), np.zeros((groups, features)), np.zeros((groups, features, features)))
    bounds = lists.group_starts

    def work(task: tuple[int, int]) -> None:
        first, last = task
        data = lists.groups, lists.starts, lists.features, lists.stands_for
        _add_moments(*data, weights, used, bounds[first], bounds[last], *found)

    for _ in in_threads(work, _cut(bounds)):
        pass
    return found


def expected_ranks(lists: Lists, weights: Reals) -> Reals:
    """Return the rank of each answer among its candidates, ties half, each candidate counted as what it stands for."""
    ranks = np.empty(len(lists))
    cuts = range(0, len(lists), _LISTS_AT_ONCE)

    def work(first: int) -> None:
        last = min(first + _LISTS_AT_ONCE, len(lists))
        _add_ranks(lists.groups, lists.starts, lists.features, lists.stands_for, weights, first, last, ranks)

    for _ in in_threads(work, cuts):
        pass
    return ranks


def _cut(bounds: NDArray[np.int64]) -> list[tuple[int, int]]:
    """Cut the groups into consecutive ranges of some thousands of lists: a group is summed by one thread, in order."""
    cuts, start = [], 0
    for group in range(len(bounds) - 1):
        if bounds[group + 1] - bounds[start] >= _LISTS_AT_ONCE or group == len(bounds) - 2:
            cuts.append((start, group + 1))
            start = group + 1
    return cuts


@kernel
def _add_moments(  # type: ignore[no-untyped-def]
    groups, starts, features, stands_for, weights, used, first, last, loss, gradient, curvature
):
    count = features.shape[1]
    mean = np.empty(count)
    longest = 0
    for one in range(first, last):
        longest = max(longest, starts[one + 1] - starts[one])
    scores = np.empty(longest)
    for one in range(first, last):
        if not used[one]:
            continue
        group, begin, end = groups[one], starts[one], starts[one + 1]
        most = -np.inf
        for place in range(begin, end):
            score = 0.0
            for k in range(count):
                score += weights[group, k] * features[place, k]
            scores[place - begin] = score
            most = max(most, score)
        total, answer = 0.0, scores[0]
        mean[:] = 0.0
        for place in range(begin, end):
            mass = stands_for[place] * np.exp(scores[place - begin] - most)
            scores[place - begin] = mass
            total += mass
            for k in range(count):
                mean[k] += mass * features[place, k]
        for k in range(count):
            mean[k] /= total
        loss[group] += np.log(total) + most - answer
        for k in range(count):
            gradient[group, k] += mean[k] - features[begin, k]
        for place in range(begin, end):
            mass = scores[place - begin] / total
            if mass < 1e-9:
                continue
            for k in range(count):
                off = mass * (features[place, k] - mean[k])
                for j in range(k + 1):
                    curvature[group, k, j] += off * (features[place, j] - mean[j])
    for group in range(groups[first] if last > first else 0, groups[last - 1] + 1 if last > first else 0):
        for k in range(count):
            for j in range(k):
                curvature[group, j, k] = curvature[group, k, j]


@kernel
def _add_ranks(groups, starts, features, stands_for, weights, first, last, ranks):  # type: ignore[no-untyped-def]
    count = features.shape[1]
    for one in range(first, last):
        group, begin = groups[one], starts[one]
        answer, rank = 0.0, 1.0
        for k in range(count):
            answer += weights[group, k] * features[begin, k]
        for place in range(begin + 1, starts[one + 1]):
            score = 0.0
            for k in range(count):
                score += weights[group, k] * features[place, k]
            if score > answer:
                rank += stands_for[place]
            elif score == answer:
                rank += 0.5 * stands_for[place]
        ranks[one] = rank
