"""Each entity of a batch has one slot, and entities far apart have theirs in the order of their rows."""

from __future__ import annotations

import numpy as np
import pytest

from clausal.fast.cpu.step import assign_slots


@pytest.mark.parametrize("entities", [1, 50, 4096, 100_000])
def test_slots_and_rows_are_each_others_inverse(entities):
    generator = np.random.default_rng(0)
    facts = generator.integers(entities, size=(300, 3))
    subjects, objects = generator.integers(entities, size=(2, 2, 300))
    named = np.array([0, entities - 1])
    slots, rows = np.full(entities, -1), np.empty(2000, np.int64)
    count = assign_slots(facts, subjects, objects, named, slots, rows)
    expected = np.unique(np.concatenate([facts[:, 0], facts[:, 2], subjects.ravel(), objects.ravel(), named]))
    np.testing.assert_array_equal(np.sort(rows[:count]), expected)
    np.testing.assert_array_equal(slots[rows[:count]], np.arange(count))
    assert (np.delete(slots, expected) == -1).all()
    assert np.abs(rows[:count] - expected).max() <= entities // 4096  # no further away than a bucket is wide
