"""Mining path rules: all of one atom, then of two, then of three, from all entities or from a sample of them."""

from __future__ import annotations

import queue
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from clausal.logic.mining.compiling import in_threads, threads
from clausal.logic.mining.edges import Edges, Ids
from clausal.logic.mining.known_pairs import known_pairs
from clausal.logic.mining.path_counts import count_one, count_three, count_two
from clausal.logic.mining.path_rules import MOST_ATOMS, PRIOR, PathRules
from clausal.logic.mining.walks import Walks
from clausal.observer import Observer

STEPS = 1_000_000_000
"""Edges that may be walked for the bodies of one length; beyond that, a sample of the entities begins them."""


MOST_RULES = 2_000_000
"""Rules of one length, at most: the best are kept."""
SEEN = 5
"""Facts in a sample that a rule predicts, at least: fewer say little of the others."""


def mine_paths(
    edges: Edges,
    *,
    max_length: int = MOST_ATOMS,
    min_support: float = 2,
    min_confidence: float = 0.0,
    steps: int = STEPS,
    most: int = MOST_RULES,
    seed: int = 0,
    seconds: float | None = None,
    observer: Observer | None = None,
) -> PathRules:
    """Find the path rules with enough support and smoothed confidence; shorter ones first, until the time is over.

    The same seed gives the same rules unless ``seconds`` ends the search, which ``complete`` then says. Where walking
    the paths of one length would take more than ``steps`` edges, they are walked from a sample of the entities, and
    a rule needs the least support, and 5, among the cases that were seen. Of one length the ``most`` best are kept.
    """
    until = None if seconds is None else time.monotonic() + seconds
    search = _Search(Walks.of(edges), min_support, min_confidence, most, seed, until, observer or Observer())
    parts = [search.best([search.one_atom()])]
    for length in range(2, max_length + 1):
        parts.append(search.longer(length, steps))
    complete = until is None or time.monotonic() < until
    return PathRules.joined(edges.relations, parts, complete)


@dataclass(frozen=True, eq=False)
class _Search:
    walks: Walks
    min_support: float
    min_confidence: float
    most: int
    seed: int
    until: float | None
    observer: Observer

    def one_atom(self) -> PathRules:
        keys, support = count_one(self.walks.relations, self.walks.run_start, self.walks.run_labels)
        body, head = np.divmod(keys, max(self.walks.relations, 1))
        pairs = self.walks.edges_of_label()[body]
        return self._admitted(head, body[:, None], support, pairs, self.walks.groups_by_label, 1.0)

    def longer(self, length: int, steps: int) -> PathRules:
        """Return the best rules of one length, of all first labels of bodies that there is time for."""
        groups, share = self._starts(length, steps)
        labels, starts = np.unique(self.walks.group_label[groups], return_index=True)
        own = dict(zip(labels.tolist(), np.split(groups, starts)[1:], strict=True))
        cost = self._cost(length)
        by_cost = sorted(own, key=lambda label: (-int(cost[own[label]].sum()), label))
        spaces: queue.SimpleQueue[list[Ids]] = queue.SimpleQueue()
        for _ in range(threads()):
            spaces.put([*(np.zeros(self.walks.entities, np.int64) for _ in range(3)), np.zeros(2, np.int64)])

        def work(label: int) -> PathRules:
            space = spaces.get()
            try:
                return self._of_label(length, label, own[label], groups, share, space)
            finally:
                spaces.put(space)

        parts: list[PathRules] = []
        for done, (_, rules) in enumerate(in_threads(work, self._in_time(by_cost)), 1):
            parts.append(rules)
            if sum(map(len, parts)) > 2 * self.most:
                parts = [self.best(parts)]
            self.observer.advanced(f"paths of {length}", done, len(own), "relations")
        return self.best(parts)

    def best(self, parts: list[PathRules]) -> PathRules:
        """Return the best rules of all parts, as many as there may be of one length."""
        rules = PathRules.joined(self.walks.relations, parts)
        return rules.select(np.arange(min(len(rules), self.most)))

    def _in_time(self, labels: list[int]) -> Iterator[int]:
        for label in labels:
            if self.until is not None and time.monotonic() >= self.until:
                return
            yield label

    def _cost(self, length: int) -> Ids:
        """Return how many edges the paths of one length from each group walk, at most."""
        walks = self.walks
        degree = np.bincount(walks.group_source, np.diff(walks.group_start), minlength=walks.entities)
        for _ in range(length - 2):
            degree = np.bincount(walks.group_source, self._sums(degree), minlength=walks.entities)
        cost: Ids = self._sums(degree).astype(np.int64)
        return cost

    def _sums(self, of_entity: Any) -> Any:
        total = np.append(0, np.cumsum(of_entity[self.walks.targets]))
        return np.diff(total[self.walks.group_start])

    def _starts(self, length: int, steps: int) -> tuple[Ids, float]:
        """Return the groups that begin the paths, by label, and the share of the entities that they are from."""
        walks = self.walks
        every = walks.groups_by_label
        # Where most pairs are joined by several labels, these take longer to count than the paths.
        total = int(self._cost(length).sum() * (1 + len(walks.targets) / max(walks.entities, 1) ** 2))
        sources = np.unique(walks.group_source)
        wanted = len(sources) if total <= steps else max(1, int(len(sources) * (steps / total)))
        if wanted == len(sources):
            return every, 1.0
        chosen = np.zeros(walks.entities, np.bool_)
        chosen[np.random.default_rng(self.seed).choice(sources, wanted, replace=False)] = True
        return every[chosen[walks.group_source[every]]], wanted / len(sources)

    def _of_label(self, length: int, label: int, own: Ids, groups: Ids, share: float, space: list[Ids]) -> PathRules:
        walks, labels = self.walks, self.walks.labels
        arrays = (
            *(walks.targets, walks.group_source, walks.group_label, walks.group_start, walks.first_group),
            *(walks.run_target, walks.run_start, walks.run_labels, walks.first_run),
        )
        if length == 2:
            of_body, keys, support = count_two(walks.relations, *arrays, own, *space)
            rest, head = np.divmod(keys, labels)
            pairs, later = of_body[rest], rest[:, None]
        else:
            bodies, of_body, keys, support = count_three(walks.relations, *arrays, own, *space)
            rest, head = np.divmod(keys, labels)
            pairs, later = of_body[np.searchsorted(bodies, rest)], np.column_stack(np.divmod(rest, labels))
        body = np.column_stack([np.full(len(later), label), later])
        backwards = head >= walks.relations
        body[backwards] = ((body[backwards] + walks.relations) % labels)[:, ::-1]
        return self._admitted(head % walks.relations, body, support, pairs, groups, share)

    def _admitted(self, heads: Ids, body: Ids, support: Ids, pairs: Ids, groups: Ids, share: float) -> PathRules:
        """Return the rules that reach the thresholds, with counts for the whole graph."""
        least = self.min_support if share == 1 else max(self.min_support, SEEN)
        enough = np.flatnonzero((support >= least) & (support / (pairs + PRIOR) >= self.min_confidence))
        bodies = np.full((len(enough), MOST_ATOMS), -1, np.int64)
        bodies[:, : body.shape[1]] = body[enough]
        heads = heads[enough]
        known = known_pairs(self.walks, groups, heads, bodies)
        counts = support[enough] / share, pairs[enough] / share, known / share
        return PathRules(self.walks.relations, heads, bodies, *counts, np.full(len(enough), share))
