"""Lists to fit a fusion on: held-out facts as questions, each with its answer and candidates that it must beat.

A list has every candidate, or the most likely ones and some of the others, drawn at random, each of which then stands
for several. Lists of the most likely ones alone would be biased: a weight could raise all others at no cost.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Ids = NDArray[np.int64]
Reals = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Lists:
    """Questions with their candidates, the answer first; sorted by group.

    A group is a label: relation r for questions (s, r, ?), r + relations for (?, r, o). ``stands_for`` says how many
    candidates each one speaks for.
    """

    groups: Ids
    """[lists]"""
    facts: Ids
    """[lists] the fact that each question comes from."""
    starts: Ids
    """[lists + 1]"""
    features: NDArray[np.float32]
    """[candidates, features]"""
    stands_for: NDArray[np.float32]
    """[candidates]"""
    num_groups: int

    def __len__(self) -> int:
        return len(self.groups)

    @property
    def group_starts(self) -> Ids:
        """Where the lists of each group start, and the end."""
        return np.searchsorted(self.groups, np.arange(self.num_groups + 1))

    def with_features(self, columns: Ids) -> Lists:
        """Return the same lists with some of the features."""
        chosen = np.ascontiguousarray(self.features[:, columns])
        return Lists(self.groups, self.facts, self.starts, chosen, self.stands_for, self.num_groups)


def join_lists(parts: list[Lists]) -> Lists:
    """Join lists of several batches, sorted by group."""
    groups = np.concatenate([part.groups for part in parts])
    order = np.argsort(groups, kind="stable")
    sizes = np.concatenate([np.diff(part.starts) for part in parts])
    starts = np.concatenate([[0], np.cumsum(sizes)])
    new_starts = np.concatenate([[0], np.cumsum(sizes[order])])
    rows = np.repeat(starts[:-1][order] - new_starts[:-1], sizes[order]) + np.arange(new_starts[-1])
    return Lists(
        groups[order],
        np.concatenate([part.facts for part in parts])[order],
        new_starts,
        np.concatenate([part.features for part in parts])[rows],
        np.concatenate([part.stands_for for part in parts])[rows],
        parts[0].num_groups,
    )
