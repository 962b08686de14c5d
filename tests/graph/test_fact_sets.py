"""Dropping repeated facts and looking facts up agree with Python's sets."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clausal.errors import InputError
from clausal.graph import facts
from clausal.graph.facts import distinct_facts, drop_duplicates, fact_keys, occur_in

ENTITIES, RELATIONS = 4, 3
ROWS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2), st.integers(0, 3)))


def as_facts(rows):
    return np.array(rows, dtype=np.int32).reshape(-1, 3)


@given(rows=ROWS)
def test_the_first_of_equal_facts_stays_in_its_place(rows):
    kept = drop_duplicates(as_facts(rows), ENTITIES, RELATIONS)
    assert [tuple(row) for row in kept.tolist()] == list(dict.fromkeys(rows))


def test_halves_that_are_sorted_side_by_side_are_one_sorted_whole(monkeypatch):
    monkeypatch.setattr(facts, "_WORTH_A_THREAD", 10)
    rows = np.random.default_rng(0).integers(9, size=(500, 3), dtype=np.int32)
    kept, keys = distinct_facts(rows, 9, 9)
    expected = list(dict.fromkeys(map(tuple, rows.tolist())))
    assert [tuple(row) for row in kept.tolist()] == expected
    assert keys.tolist() == sorted(81 * s + 9 * r + o for s, r, o in expected)


@given(rows=ROWS, others=ROWS)
def test_facts_are_found_exactly_where_a_set_finds_them(rows, others):
    found = occur_in(as_facts(rows), as_facts(others), ENTITIES, RELATIONS)
    assert found.tolist() == [row in set(others) for row in rows]


def test_keys_of_the_largest_ids_do_not_overflow():
    entities, relations = 50_000_000, 3_000
    last = as_facts([(entities - 1, relations - 1, entities - 1)])
    assert fact_keys(last, entities, relations).tolist() == [entities * entities * relations - 1]


def test_more_names_than_keys_can_hold_are_refused():
    with pytest.raises(InputError, match=r"a graph of 100,000,000 entities and 1,000 relations is too large"):
        fact_keys(as_facts([]), 100_000_000, 1_000)
