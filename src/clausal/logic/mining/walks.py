"""Edges grouped for walking: from an entity to its labels, and from a label to the targets.

Paths are walked under object identity: all entities of a path are different. So no edge leads from an entity to itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from clausal.logic.mining.edges import Edges, Ids


class Runs(NamedTuple):
    """Labels by source and target, as ``Walks`` has those of all edges."""

    run_target: Ids
    run_start: Ids
    run_labels: Ids
    first_run: Ids


@dataclass(frozen=True, eq=False)
class Walks:
    """The edges that are no loops, sorted by source, label and target.

    Group g is the edges of one source and one label: ``targets[group_start[g] : group_start[g + 1]]``. The groups of
    entity x are ``first_group[x] … first_group[x + 1] - 1``, by label. ``runs`` are the same edges by source and
    target: the labels from ``near_source`` x to ``near_target`` are those of a run, and the runs of x are
    ``first_run[x] … first_run[x + 1] - 1``.
    """

    entities: int
    relations: int
    targets: Ids
    group_source: Ids
    group_label: Ids
    group_start: Ids
    first_group: Ids
    run_target: Ids
    run_start: Ids
    run_labels: Ids
    first_run: Ids

    @classmethod
    def of(cls, edges: Edges) -> Walks:
        """Group the edges of a graph."""
        kept = np.flatnonzero(edges.source != edges.target)
        source, target, label = edges.source[kept], edges.target[kept], edges.label[kept]
        entities = np.arange(edges.entities + 1)
        new_run = _begins(source, target)
        run_source = source[new_run]
        order = np.lexsort((target, label, source))
        by_source, by_label = source[order], label[order]
        new_group = _begins(by_source, by_label)
        return cls(
            edges.entities,
            edges.relations,
            target[order],
            by_source[new_group],
            by_label[new_group],
            np.append(new_group, len(kept)),
            np.searchsorted(by_source[new_group], entities),
            target[new_run],
            np.append(new_run, len(kept)),
            label,
            np.searchsorted(run_source, entities),
        )

    def runs_of(self, labels: NDArray[np.bool_]) -> Runs:
        """Return the runs with some labels alone."""
        kept = labels[self.run_labels]
        starts = np.append(0, np.cumsum(kept))[self.run_start]
        left = np.diff(starts) > 0
        ends = np.append(starts[:-1][left], starts[-1])
        first = np.append(0, np.cumsum(left))[self.first_run]
        return Runs(self.run_target[left], ends, self.run_labels[kept], first)

    @property
    def labels(self) -> int:
        """How many labels there are: each relation, and each the other way round."""
        return 2 * self.relations

    @property
    def group_of_edge(self) -> Ids:
        """The group of each edge."""
        return np.repeat(np.arange(len(self.group_label)), np.diff(self.group_start))

    @cached_property
    def groups_by_label(self) -> Ids:
        """The groups, sorted by label."""
        return np.argsort(self.group_label, kind="stable")

    @cached_property
    def _label_starts(self) -> Ids:
        return np.searchsorted(self.group_label[self.groups_by_label], np.arange(self.labels + 1))

    def groups_of_label(self, label: int) -> Ids:
        """Return the groups of one label, by source."""
        return self.groups_by_label[self._label_starts[label] : self._label_starts[label + 1]]

    def edges_of_label(self) -> Ids:
        """Count the edges of each label."""
        sizes = np.diff(self.group_start)
        return np.bincount(self.group_label, sizes, minlength=self.labels).astype(np.int64)


def _begins(first: Ids, second: Ids) -> Ids:
    """Return where a new pair begins in two columns that are sorted."""
    if not len(first):
        return np.empty(0, np.int64)
    changes = (np.diff(first) != 0) | (np.diff(second) != 0)
    return np.flatnonzero(np.append(True, changes))
