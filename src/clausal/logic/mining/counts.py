"""What mining counts: how many facts of a head each body predicts, then how many pairs each of these bodies has.

The first half, support, goes through one head at a time; the second, the sizes of bodies in all and under the PCA,
through one body at a time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from clausal.graph.facts import found_in
from clausal.logic.mining.edges import Edges, Ids, distinct, expand_runs, slices_of_cost

_MOST_EDGES = 2_000_000  # looked at together, at some 100 bytes each
_MOST_PAIRS = 1_000_000  # likewise, of predicted pairs


@dataclass(frozen=True, eq=False)
class Supports:
    """Bodies that predict enough pairs of a head, and how many.

    A body b(X, Y) is its label b; a chain b1(X, Y), b2(Y, Z) is b1 times the number of labels plus b2. ``circular``
    counts the pairs among the support that are predicted only from themselves, as r(a, b) is by
    r(X, Y), s(Y, Z) => r(X, Z) where s(b, b) is a fact.
    """

    bodies: Ids
    support: Ids
    circular: Ids


def one_atom_supports(edges: Edges, head: int, least: int) -> Supports:
    """Find the bodies of one atom that predict at least ``least`` pairs of ``head``, circular ones apart."""
    source, target = edges.of_label[head]
    places = np.searchsorted(edges.pairs, source * edges.entities + target)
    _, rows = expand_runs(edges.first_of_pair[places], edges.labels_of_pair[places])
    support = np.bincount(edges.label[rows], minlength=2 * edges.relations)
    circular = np.zeros(len(support), np.int64)
    circular[head] = support[head]  # a relation follows from itself
    circular[edges.inverse(np.array(head))] = (source == target).sum()  # r(a, a) is symmetric by itself
    bodies = np.flatnonzero(support - circular >= least)
    return Supports(bodies, support[bodies], circular[bodies])


def chain_supports(edges: Edges, head: int, least: int) -> Supports:
    """Find the chains that predict at least ``least`` pairs of ``head``, circular ones apart."""
    source, target = edges.of_label[head]
    labels = 2 * edges.relations
    first, last = _reach(edges, source, least), _reach(edges, target, least)[edges.inverse(np.arange(labels))]
    support, circular = _Tally(), _Tally()
    # Walk from the end with fewer edges: hubs have many, and most of those lead nowhere near the other end.
    from_source = edges.degree[source] <= edges.degree[target]
    for forward in (True, False):
        allowed = first if forward else last[edges.inverse(np.arange(labels))]
        rows = np.flatnonzero(from_source == forward)
        near, far = (source[rows], target[rows]) if forward else (target[rows], source[rows])
        for part in slices_of_cost(edges.degree[near], _MOST_EDGES):
            pair, near_label, middle, far_label = _paths(edges, near[part], far[part], allowed)
            b1, b2 = (near_label, far_label) if forward else (edges.inverse(far_label), edges.inverse(near_label))
            kept = np.flatnonzero(first[b1] & last[b2])
            pair, b1, b2, middle = pair[kept], b1[kept], b2[kept], middle[kept]
            keys = (pair * labels + b1) * labels + b2
            # Several entities in the middle are still one predicted pair.
            support.add(distinct(keys) % (labels * labels))
            x, z = source[rows[part]][pair], target[rows[part]][pair]
            same = _is_fact(edges, head, b1, x, middle, x, z) | _is_fact(edges, head, b2, middle, z, x, z)
            if same.any():
                itself = distinct(keys[same])
                circular.add(itself[~found_in(itself, distinct(keys[~same]))] % (labels * labels))
    circular_counts = circular.of(support.keys)
    enough = np.flatnonzero(support.counts - circular_counts >= least)
    return Supports(support.keys[enough], support.counts[enough], circular_counts[enough])


def _reach(edges: Edges, ends: Ids, least: int) -> NDArray[np.bool_]:
    """Say of each label whether it leaves these ends often enough, counted with repetition, to be in a rule.

    Support can only shrink as atoms are added, so a label that leaves fewer ends of the head's facts is in no rule.
    """
    entities, times = np.unique(ends, return_counts=True)
    reached = np.zeros(2 * edges.relations, np.int64)
    for part in slices_of_cost(edges.degree[entities], _MOST_EDGES):
        chosen = entities[part]
        runs, rows = expand_runs(edges.first_of_source[chosen], edges.degree[chosen])
        once = distinct(runs * (2 * edges.relations) + edges.label[rows])
        runs, label = np.divmod(once, 2 * edges.relations)
        reached += np.bincount(label, times[part][runs], minlength=len(reached)).astype(np.int64)
    return reached >= least


def _paths(edges: Edges, near: Ids, far: Ids, allowed: NDArray[np.bool_]) -> tuple[Ids, Ids, Ids, Ids]:
    """Return the paths of two edges from near[i] to far[i]: i, first label, entity in the middle, second label.

    ``allowed`` says which labels the first may have.
    """
    runs, rows = expand_runs(edges.first_of_source[near], edges.degree[near])
    kept = np.flatnonzero(allowed[edges.label[rows]])
    runs, rows = runs[kept], rows[kept]
    wanted = edges.target[rows] * edges.entities + far[runs]
    places = np.minimum(np.searchsorted(edges.pairs, wanted), len(edges.pairs) - 1)
    closed = np.flatnonzero(edges.pairs[places] == wanted)
    runs, rows, places = runs[closed], rows[closed], places[closed]
    paths, last = expand_runs(edges.first_of_pair[places], edges.labels_of_pair[places])
    return runs[paths], edges.label[rows[paths]], edges.target[rows[paths]], edges.label[last]


def _is_fact(edges: Edges, head: int, label: Ids, start: Ids, end: Ids, x: Ids, z: Ids) -> NDArray[np.bool_]:
    """Say whether each edge from start to end is the very fact head(x, z), walked either way."""
    forth = (label == head) & (start == x) & (end == z)
    back = (label == edges.inverse(np.array(head))) & (start == z) & (end == x)
    return forth | back


class _Tally:
    """How often each key has been seen, over several arrays of them."""

    def __init__(self) -> None:
        self.keys, self.counts = np.empty(0, np.int64), np.empty(0, np.int64)

    def add(self, occurrences: Ids) -> None:
        new, times = np.unique(occurrences, return_counts=True)
        self.keys, places = np.unique(np.concatenate([self.keys, new]), return_inverse=True)
        total = np.bincount(places, np.concatenate([self.counts, times]), minlength=len(self.keys))
        self.counts = total.astype(np.int64)

    def of(self, keys: Ids) -> Ids:
        """Return the count of each key, 0 for one that was not seen; ``keys`` are sorted and hold all that were."""
        counts = np.zeros(len(keys), np.int64)
        counts[np.searchsorted(keys, self.keys)] = self.counts
        return counts


def one_atom_sizes(edges: Edges, body: int, head: int) -> tuple[int, int]:
    """Count the pairs of a body of one atom, and those whose first entity is a source of the head."""
    sources = edges.of_label[body][0]
    return len(sources), int(found_in(sources, edges.sources[head]).sum())


class ChainsInto:
    """All chains b1(X, Y), b2(Y, Z) with one b2, whose edges are indexed once."""

    def __init__(self, edges: Edges, second: int) -> None:
        self.edges = edges
        source, self.target = edges.of_label[second]
        self.fan = np.bincount(source, minlength=edges.entities)
        self.first = np.cumsum(self.fan) - self.fan

    def sizes(
        self, first: int, heads: Sequence[int], most: NDArray[np.float64], most_pca: NDArray[np.float64]
    ) -> tuple[Ids, Ids]:
        """Count for each head the distinct pairs (X, Z) of the chain, and those whose X is a source of the head.

        A head is given up, and its counts are too small, once it has more pairs than ``most``, or more than
        ``most_pca`` whose X is a source of it: this is what keeps hubs, which join everything with everything,
        affordable.
        """
        size, size_pca = (np.zeros(len(heads), np.int64) for _ in range(2))
        alive = np.ones(len(heads), np.bool_)
        source, middle = self.edges.of_label[first]
        leads_on = self.fan[middle] > 0
        source, middle = source[leads_on], middle[leads_on]
        # Cut only between sources, so that a pair is counted in one slice.
        starts = np.append(np.flatnonzero(np.diff(source, prepend=-1)), len(source))
        cost = np.diff(np.append(0, np.cumsum(self.fan[middle]))[starts])
        for part in slices_of_cost(cost, _MOST_PAIRS):
            rows = slice(int(starts[part.start]), int(starts[part.stop]))
            x, reached = self._reached(source[rows], middle[rows])
            size[alive] += reached.sum()
            for index in np.flatnonzero(alive):
                size_pca[index] += reached[found_in(x, self.edges.sources[heads[int(index)]])].sum()
            alive &= (size <= most) & (size_pca <= most_pca)
            if not alive.any():
                break
        return size, size_pca

    def _reached(self, source: Ids, middle: Ids) -> tuple[Ids, Ids]:
        """Return the distinct X of these edges, and how many distinct Z the chain leads to from each."""
        runs, rows = expand_runs(self.first[middle], self.fan[middle])
        pairs = distinct(source[runs] * self.edges.entities + self.target[rows])
        return np.unique(pairs // self.edges.entities, return_counts=True)
