"""Mining path rules: all of one atom, then of two, then of three, from all entities or from a sample of them."""

from __future__ import annotations

import queue
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from clausal.logic.mining.compiling import in_threads, threads
from clausal.logic.mining.edges import Edges, Ids
from clausal.logic.mining.known_pairs import known_pairs
from clausal.logic.mining.path_counts import count_one, count_three, count_two
from clausal.logic.mining.path_rules import MOST_ATOMS, PRIOR, PathRules
from clausal.logic.mining.walks import Runs, Walks
from clausal.observer import Observer

STEPS = 1_000_000_000
"""Edges that may be walked for the bodies of one length; beyond that, a sample of the entities begins them."""
MOST_RULES = 2_000_000
"""Rules of one length, at most: the best are kept."""
SEEN = 5
"""Facts in a sample that a rule predicts, at least: fewer say little of the others."""
_TASK_STEPS, _TASK_LABELS = 1_000_000, 2_000  # edges or first labels that are one task for a thread


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
        heads = self._possible_heads(groups, share)
        own, cost = self._first_labels(length, groups, heads, share)
        by_cost = sorted(own, key=lambda label: (-cost[label], label))
        spaces: queue.SimpleQueue[list[Ids]] = queue.SimpleQueue()
        for _ in range(threads()):
            spaces.put(self._space(length))

        def work(labels: list[int]) -> PathRules:
            space = spaces.get()
            try:
                return self._of_labels(length, {label: own[label] for label in labels}, heads, groups, share, space)
            finally:
                spaces.put(space)

        parts: list[PathRules] = []
        done = 0
        tasks = _tasks(by_cost, cost)
        for task, rules in in_threads(work, self._in_time(tasks)):
            parts.append(rules)
            if sum(map(len, parts)) > 2 * self.most:
                parts = [self.best(parts)]
            done += len(task)
            self.observer.advanced(f"paths of {length}", done, len(own), "relations")
        return self.best(parts)

    def _possible_heads(self, groups: Ids, share: float) -> Runs:
        """Return the labels between pairs that can be heads: a rule predicts no more facts than its head has."""
        walks = self.walks
        sizes = np.bincount(walks.group_label[groups], np.diff(walks.group_start)[groups], minlength=walks.labels)
        return walks.runs_of(sizes >= self._least(share))

    def _first_labels(
        self, length: int, groups: Ids, heads: Runs, share: float
    ) -> tuple[dict[int, Ids], dict[int, int]]:
        """Return the first labels of bodies that can make a rule: their groups, and the edges to walk from there.

        Of others the paths are too few, or begin where no head does.
        """
        if not len(groups):
            return {}, {}
        labels, starts = np.unique(self.walks.group_label[groups], return_index=True)
        cost = np.add.reduceat(self._cost(length)[groups], starts)
        begins = np.diff(heads.first_run) > 0
        some = np.logical_or.reduceat(begins[self.walks.group_source[groups]], starts)
        ends = np.append(starts[1:], len(groups))
        able = np.flatnonzero(some & (cost >= self._least(share))).tolist()
        own = {int(labels[place]): groups[starts[place] : ends[place]] for place in able}
        return own, {int(labels[place]): int(cost[place]) for place in able}

    def _space(self, length: int) -> list[Ids]:
        """Return arrays for a kernel to work in: made once a thread, as there may be many labels of few facts."""
        entities, labels, groups = self.walks.entities, self.walks.labels, len(self.walks.group_label)
        space = [*(np.zeros(entities, np.int64) for _ in range(3)), np.zeros(2, np.int64)]
        for _ in range(length - 1):
            space += [np.full(labels, -1, np.int64), np.empty(labels, np.int64)]
            space += [np.empty(groups, np.int64), np.empty(groups, np.int64)]
        return space if length == 2 else [*space, np.empty(entities, np.int64), np.empty(entities, np.int64)]

    def best(self, parts: list[PathRules]) -> PathRules:
        """Return the best rules of all parts, as many as there may be of one length."""
        rules = PathRules.joined(self.walks.relations, parts)
        return rules.select(np.arange(min(len(rules), self.most)))

    def _in_time(self, tasks: Iterable[list[int]]) -> Iterator[list[int]]:
        for task in tasks:
            if self.until is not None and time.monotonic() >= self.until:
                return
            yield task

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

    def _of_labels(
        self, length: int, own: Mapping[int, Ids], heads_between: Runs, groups: Ids, share: float, space: list[Ids]
    ) -> PathRules:
        """Return the rules whose bodies begin with some labels."""
        walks, labels = self.walks, self.walks.labels
        arrays = (
            *(walks.targets, walks.group_source, walks.group_label, walks.group_start, walks.first_group),
            *heads_between,
        )
        found: list[tuple[Ids, Ids, Ids, Ids]] = []
        for label, starts in own.items():
            count = count_two if length == 2 else count_three
            bodies, of_body, keys, support = count(walks.relations, *arrays, starts, *space)
            rest, head = np.divmod(keys, labels)
            pairs = of_body[np.searchsorted(bodies, rest)]
            enough = self._enough(support, pairs, share)
            rest, head, support, pairs = rest[enough], head[enough], support[enough], pairs[enough]
            later = rest[:, None] if length == 2 else np.column_stack(np.divmod(rest, labels))
            body = np.column_stack([np.full(len(later), label), later])
            backwards = head >= walks.relations
            body[backwards] = ((body[backwards] + walks.relations) % labels)[:, ::-1]
            found.append((head % walks.relations, body, support, pairs))
        heads, body, support, pairs = (np.concatenate(columns) for columns in zip(*found, strict=True))
        return self._admitted(heads, body, support, pairs, groups, share)

    def _least(self, share: float) -> float:
        """Return the least support among the cases that are seen."""
        return self.min_support if share == 1 else max(self.min_support, SEEN)

    def _enough(self, support: Ids, pairs: Ids, share: float) -> Ids:
        """Return the places of the rules that reach the thresholds."""
        return np.flatnonzero((support >= self._least(share)) & (support / (pairs + PRIOR) >= self.min_confidence))

    def _admitted(self, heads: Ids, body: Ids, support: Ids, pairs: Ids, groups: Ids, share: float) -> PathRules:
        """Return the rules that reach the thresholds, with counts for the whole graph."""
        enough = self._enough(support, pairs, share)
        bodies = np.full((len(enough), MOST_ATOMS), -1, np.int64)
        bodies[:, : body.shape[1]] = body[enough]
        heads = heads[enough]
        known = known_pairs(self.walks, groups, heads, bodies)
        counts = support[enough] / share, pairs[enough] / share, known / share
        return PathRules(self.walks.relations, heads, bodies, *counts, np.full(len(enough), share))


def _tasks(labels: list[int], cost: Mapping[int, int]) -> Iterator[list[int]]:
    """Yield labels that one thread does in one go: many, where each is little work."""
    task: list[int] = []
    size = 0
    for label in labels:
        task.append(label)
        size += cost[label]
        if size >= _TASK_STEPS or len(task) == _TASK_LABELS:
            yield task
            task, size = [], 0
    if task:
        yield task
