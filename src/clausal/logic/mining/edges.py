"""Facts as edges that can be walked both ways: the index that mining joins on."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from clausal.errors import InputError
from clausal.graph import Facts

Ids = NDArray[np.int64]


class Edges:
    """The distinct facts of a graph in both directions.

    Edge label ``b`` below ``relations`` is relation b from subject to object; ``b + relations`` is the same
    relation from object to subject. Edges are sorted by source, then target, then label.
    """

    def __init__(self, facts: Facts, entities: int, relations: int) -> None:
        if entities * entities * 2 * relations >= 2**63:
            raise InputError(f"a graph of {entities:,} entities and {relations:,} relations is too large to mine")
        subject, relation, object = facts.T.astype(np.int64)
        source, target = np.concatenate([subject, object]), np.concatenate([object, subject])
        label = np.concatenate([relation, relation + relations])
        keys = distinct((source * entities + target) * (2 * relations) + label)
        self.entities, self.relations = entities, relations
        pairs, self.label = np.divmod(keys, 2 * relations)
        self.source, self.target = np.divmod(pairs, entities)
        self.pairs, self.first_of_pair, self.labels_of_pair = np.unique(pairs, return_index=True, return_counts=True)
        self.first_of_source = np.searchsorted(self.source, np.arange(entities))
        self.degree = np.bincount(self.source, minlength=entities)

    @cached_property
    def of_label(self) -> list[tuple[Ids, Ids]]:
        """Sources and targets of each label, sorted by source."""
        order = np.argsort(self.label, kind="stable")
        ends = np.cumsum(self.sizes)[:-1]
        return list(
            zip(np.split(self.source[order], ends), np.split(self.target[order], ends), strict=True),
        )

    @cached_property
    def sizes(self) -> Ids:
        """How many edges each label has."""
        return np.bincount(self.label, minlength=2 * self.relations)

    @cached_property
    def source_counts(self) -> Ids:
        """How many distinct sources each label has."""
        keys = distinct(self.label * self.entities + self.source)
        return np.bincount(keys // max(self.entities, 1), minlength=2 * self.relations)

    @cached_property
    def from_subject(self) -> NDArray[np.bool_]:
        """Whether the more functional end of each relation is its subject; it is where both are alike.

        AMIE's functionality is distinct sources / facts, so the end with more distinct entities is the functional one.
        """
        subjects, objects = self.source_counts.reshape(2, -1)
        functional: NDArray[np.bool_] = subjects >= objects
        return functional

    def inverse(self, label: Ids) -> Ids:
        """Return the labels of the same relations walked the other way."""
        inverted: Ids = (label + self.relations) % (2 * self.relations)
        return inverted


def distinct(keys: Ids) -> Ids:
    """Return the distinct keys, sorted; ``np.unique`` hashes, which takes many times longer on these keys."""
    ordered = np.sort(keys)
    new = np.ones(len(ordered), np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=new[1:])
    return ordered[new]


def expand_runs(starts: Ids, counts: Ids) -> tuple[Ids, Ids]:
    """Enumerate runs of rows: for run i the rows starts[i] … starts[i] + counts[i] - 1.

    Returns for each row the run it belongs to, and the row.
    """
    runs = np.repeat(np.arange(len(counts)), counts)
    before = np.cumsum(counts) - counts
    return runs, np.arange(len(runs)) + (starts - before)[runs]


def slices_of_cost(costs: Ids, budget: int) -> list[slice]:
    """Cut consecutive items into slices of at most ``budget`` cost each; one that costs more is alone."""
    total = np.cumsum(costs)
    cuts, start = [], 0
    while start < len(costs):
        before = int(total[start - 1]) if start else 0
        end = max(start + 1, int(np.searchsorted(total, before + budget, side="right")))
        cuts.append(slice(start, end))
        start = end
    return cuts
