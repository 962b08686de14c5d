"""How many pairs a body predicts, in all and under the PCA: the second half of mining, one body at a time."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from clausal.graph.facts import found_in
from clausal.logic.mining.edges import Edges, Ids, distinct, slices_of_cost, spread

_BUDGET = 1_000_000  # predicted pairs looked at together, at some 100 bytes each


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
        for part in slices_of_cost(cost, _BUDGET):
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
        runs, rows = spread(self.first[middle], self.fan[middle])
        pairs = distinct(source[runs] * self.edges.entities + self.target[rows])
        return np.unique(pairs // self.edges.entities, return_counts=True)
