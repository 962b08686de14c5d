"""Seeded random splits of facts: train keeps every entity and relation, or some entities are held out whole."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from clausal.errors import InputError
from clausal.graph.facts import Facts

UNSEEN_SEEN, UNSEEN_UNSEEN = "test-unseen-seen", "test-unseen-unseen"
"""Parts of test: facts about one entity that train and valid do not have, and about two."""
_VALID, _TEST = 1, 2


@dataclass(frozen=True)
class DrawnSplit:
    """How facts were held out at random: the shares of valid and test, and the seed."""

    valid: float
    test: float
    seed: int


def split_facts(facts: Facts, *, valid: float = 0.1, test: float = 0.1, seed: int = 0) -> tuple[Facts, Facts, Facts]:
    """Split facts into train, valid and test, in linear time; each split keeps the order of ``facts``.

    ``valid`` and ``test`` are shares of all facts. Every entity and relation of valid and test also occurs in
    train; where that leaves too few facts to hold out, valid and test shrink by the same factor.
    """
    if not (valid >= 0 and test >= 0 and valid + test < 1):
        raise InputError(f"the shares of valid ({valid}) and test ({test}) must be 0 or more and add up to less than 1")
    order = np.random.default_rng(seed).permutation(len(facts))
    free = order[~_needed_in_train(facts[order])]
    counts = np.array([round(valid * len(facts)), round(test * len(facts))])
    if counts.sum() > len(free):
        counts = counts * len(free) // counts.sum()
    held_valid, held_test = free[: counts[0]], free[counts[0] : counts.sum()]
    rest = np.ones(len(facts), dtype=np.bool_)
    rest[held_valid] = rest[held_test] = False
    return facts[rest], facts[np.sort(held_valid)], facts[np.sort(held_test)]


class EntitySplit(NamedTuple):
    """Facts by the entities that they are about: only train's, valid's too, or test's too."""

    train: Facts
    valid: Facts
    test: Facts
    level: NDArray[np.int8]
    """Where each entity is seen first: 0 in train, 1 in valid, 2 in test. Shape [entities]."""

    @property
    def parts(self) -> dict[str, Facts]:
        """The test facts by how many of their two entities valid and train do not have."""
        unseen = (self.level[self.test[:, [0, 2]]] == _TEST).sum(1)
        return {UNSEEN_SEEN: self.test[unseen == 1], UNSEEN_UNSEEN: self.test[unseen == 2]}


def split_entities(facts: Facts, entities: int, *, valid: float = 0.1, test: float = 0.1, seed: int = 0) -> EntitySplit:
    """Hold out entities, and with them every fact that they are in: test entities occur in test alone.

    ``valid`` and ``test`` are shares of the entities. They are drawn one by one; one whose facts another entity of
    train, or a relation, would need as its last is left in train, so that fewer are held out where facts are few.
    """
    if not (valid >= 0 and test >= 0 and valid + test < 1):
        raise InputError(f"the shares of valid ({valid}) and test ({test}) must be 0 or more and add up to less than 1")
    level = np.zeros(entities, np.int8)
    left = np.bincount(facts[:, [0, 2]].ravel(), minlength=entities)  # facts in train of each entity
    of_relation = np.bincount(facts[:, 1], minlength=int(facts[:, 1].max(initial=0)) + 1)
    order = np.argsort(facts[:, [0, 2]].ravel(), kind="stable") // 2  # the facts of each entity side by side
    ends = np.cumsum(left)
    starts = ends - left
    wanted = {_TEST: round(test * entities), _VALID: round(valid * entities)}
    for entity in np.random.default_rng(seed).permutation(entities).tolist():
        kind = next((kind for kind, number in wanted.items() if number), None)
        if kind is None:
            break
        own = facts[np.unique(order[starts[entity] : ends[entity]])]
        own = own[(level[own[:, [0, 2]]] == 0).all(1)]  # those that are still in train
        others, times = np.unique(own[:, [0, 2]].ravel(), return_counts=True)
        of_others = others != entity
        relations, uses = np.unique(own[:, 1], return_counts=True)
        if (left[others] - times <= 0)[of_others].any() or (of_relation[relations] - uses <= 0).any():
            continue
        level[entity] = kind
        left[others] -= times
        of_relation[relations] -= uses
        wanted[kind] -= 1
    of_fact = level[facts[:, [0, 2]]].max(1, initial=0)
    return EntitySplit(facts[of_fact == 0], facts[of_fact == _VALID], facts[of_fact == _TEST], level)


def _needed_in_train(facts: Facts) -> NDArray[np.bool_]:
    """Mark each fact that is the first to hold one of its entities or its relation. Shape [facts]."""
    needed = np.zeros(len(facts), dtype=np.bool_)
    if len(facts):
        needed[_first_rows(facts[:, 1])] = True
        # Subject and object of a row follow each other, so that a position halves to its row.
        needed[_first_rows(facts[:, [0, 2]].ravel()) // 2] = True
    return needed


def _first_rows(ids: NDArray[np.int32]) -> NDArray[np.intp]:
    """Return the position of the first occurrence of each id that occurs."""
    first = np.full(int(ids.max()) + 1, -1, dtype=np.intp)
    first[ids[::-1]] = np.arange(len(ids))[::-1]  # of repeated indices the last assignment stays
    return first[first >= 0]
