"""The filter finds exactly the known answers of a query."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from clausal.evaluation.known import Known, object_queries, subject_queries

N, R = 7, 3
fact_lists = st.lists(st.tuples(st.integers(0, N - 1), st.integers(0, R - 1), st.integers(0, N - 1)), max_size=40).map(
    lambda rows: np.array(rows, dtype=np.int32).reshape(-1, 3)
)


def split_by_query(answers, counts):
    return [sorted(piece.tolist()) for piece in np.split(answers, np.cumsum(counts)[:-1])] if len(counts) else []


@given(fact_lists, fact_lists, st.booleans())
def test_find_returns_the_answers_of_each_query_once(facts, asked, only_asked):
    known = Known(facts, N, R, asked if only_asked else None)
    pairs = set(map(tuple, facts.tolist()))
    objects = split_by_query(*known.objects.find(object_queries(asked, R)))
    subjects = split_by_query(*known.subjects.find(subject_queries(asked, N)))
    assert objects == [[o for o in range(N) if (s, r, o) in pairs] for s, r, _ in asked.tolist()]
    assert subjects == [[s for s in range(N) if (s, r, o) in pairs] for _, r, o in asked.tolist()]


@given(fact_lists, fact_lists, st.booleans())
def test_contain_is_membership(facts, asked, only_asked):
    known = Known(facts, N, R, asked if only_asked else None)
    expected = [fact in set(map(tuple, facts.tolist())) for fact in map(tuple, asked.tolist())]
    assert known.objects.contain(object_queries(asked, R), asked[:, 2]).tolist() == expected
    assert known.subjects.contain(subject_queries(asked, N), asked[:, 0]).tolist() == expected


@given(fact_lists, fact_lists)
def test_answers_to_what_is_not_asked_are_left_out(facts, asked):
    known = Known(facts, N, R, asked)
    assert set(known.objects.queries.tolist()) <= set(object_queries(asked, R).tolist())
    assert set(known.subjects.queries.tolist()) <= set(subject_queries(asked, N).tolist())


def test_keys_do_not_overflow_with_ninety_million_entities():
    n, r = 90_000_000, 5_000
    facts = np.array([[n - 1, r - 1, n - 1], [n - 1, r - 1, 3], [0, 0, n - 1], [5, r - 1, n - 1]], dtype=np.int32)
    assert object_queries(facts, r).tolist() == [s * r + p for s, p, _ in facts.tolist()]
    assert subject_queries(facts, n).tolist() == [p * n + o for _, p, o in facts.tolist()]
    known = Known(facts, n, r)
    objects, counts = known.objects.find(object_queries(facts[:1], r))
    assert (objects.tolist(), counts.tolist()) == ([3, n - 1], [2])
    subjects, counts = known.subjects.find(subject_queries(facts[:1], n))
    assert (subjects.tolist(), counts.tolist()) == ([5, n - 1], [2])
    assert known.objects.contain(object_queries(facts, r), facts[:, 2]).all()
