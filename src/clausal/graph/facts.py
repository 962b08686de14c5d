"""Facts as integer rows: packed into keys, repeated ones dropped, looked for in another set."""

from __future__ import annotations

from threading import Thread

import numpy as np
from numpy.typing import NDArray

from clausal.errors import InputError

_WORTH_A_THREAD = 1 << 18

Facts = NDArray[np.int32]
"""Facts, one per row: subject, relation, object ids. Shape [facts, 3]."""


def no_facts() -> Facts:
    """Return an empty set of facts."""
    return np.empty((0, 3), dtype=np.int32)


def fact_keys(facts: NDArray[np.integer], entities: int, relations: int) -> NDArray[np.int64]:
    """Pack each fact into one integer, different for different facts. Shape [facts]."""
    if entities * entities * relations >= 2**63:
        raise InputError(f"a graph of {entities:,} entities and {relations:,} relations is too large")
    keys = facts[:, 0].astype(np.int64)
    keys *= relations
    keys += facts[:, 1]
    keys *= entities
    keys += facts[:, 2]
    return keys


def drop_duplicates(facts: Facts, entities: int, relations: int) -> Facts:
    """Keep the first occurrence of each fact, in the order given."""
    return distinct_facts(facts, entities, relations)[0]


def distinct_facts(facts: Facts, entities: int, relations: int) -> tuple[Facts, NDArray[np.int64]]:
    """Return the first occurrence of each fact, in the order given, and the sorted keys of all of them."""
    keys = fact_keys(facts, entities, relations)
    ordered = _sorted(keys)
    again = ordered[1:] == ordered[:-1]
    if not again.any():
        return facts, ordered
    # Repeated facts are few as a rule: only their positions need sorting, which is slower than sorting keys.
    rows = np.flatnonzero(found_in(keys, ordered[1:][again]))
    _, first = np.unique(keys[rows], return_index=True)
    kept = np.ones(len(facts), dtype=np.bool_)
    kept[rows] = False
    kept[rows[first]] = True
    return facts[kept], ordered[np.concatenate([[True], ~again])]


def _sorted(keys: NDArray[np.int64]) -> NDArray[np.int64]:
    """Sort a copy of the keys, the lower half and the upper half side by side."""
    ordered = keys.copy()
    middle = len(ordered) // 2
    if middle >= _WORTH_A_THREAD:
        ordered.partition(middle)
        other = Thread(target=ordered[middle:].sort)
        other.start()
        ordered[:middle].sort()
        other.join()
    else:
        ordered.sort()
    return ordered


def occur_in(facts: Facts, others: Facts, entities: int, relations: int) -> NDArray[np.bool_]:
    """Say for each fact whether it is one of ``others``. Shape [facts]."""
    return found_in(fact_keys(facts, entities, relations), np.sort(fact_keys(others, entities, relations)))


def found_in(keys: NDArray[np.int64], ordered: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Say for each key whether it is one of the sorted keys ``ordered``. Shape [keys]."""
    if not len(ordered):
        return np.zeros(len(keys), dtype=np.bool_)
    places = np.searchsorted(ordered, keys)
    places[places == len(ordered)] = 0
    found: NDArray[np.bool_] = ordered[places] == keys
    return found
