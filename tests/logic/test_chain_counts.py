"""Chains counted by walks, against sets of pairs on strange graphs."""

from __future__ import annotations

import numpy as np
import pytest

from clausal.logic import parse_clause
from clausal.logic.chain_counts import Step, Walks, can_walk
from clausal.logic.shape import chain_of, shape_of


def pairs_of(facts, step):
    return {(o, s) if step.backwards else (s, o) for s, r, o in facts if r == step.relation}


def naive(facts, way, head, at_start):
    reached = {(x, x) for x in range(50)}
    for step in way:
        edges = pairs_of(facts, step)
        reached = {(x, z) for x, y in reached for u, z in edges if u == y}
    heads = pairs_of(facts, head)
    ends = {pair[0 if at_start else 1] for pair in heads}
    return len(reached), len(reached & heads), sum(pair[0 if at_start else 1] in ends for pair in reached)


@pytest.mark.parametrize("seed", range(12))
def test_pairs_support_and_known_ends_are_those_of_sets(seed):
    random = np.random.default_rng(seed)
    entities, relations = int(random.integers(1, 9)), int(random.integers(1, 4))
    count = int(random.integers(0, 30))  # with duplicates and self-loops
    columns = [random.integers(0, size, count) for size in (entities, relations, entities)]
    facts = np.stack(columns, axis=1).astype(np.int32)
    walks = Walks(facts, range(relations), entities, relations)

    def step():
        return Step(int(random.integers(relations)), bool(random.integers(2)))

    for length in (1, 2, 3, 4):
        way, heads = [step() for _ in range(length)], [step() for _ in range(3)]
        at_start = [bool(random.integers(2)) for _ in heads]
        pairs, support, known = walks.count(way, heads, at_start)
        expected = [naive(facts.tolist(), way, head, side) for head, side in zip(heads, at_start, strict=True)]
        if pairs == 0:
            assert expected == [(0, 0, 0)] * 3
        assert [(pairs, *rest) for rest in zip(support, known, strict=True)] == expected
        assert walks.count(way, [], []) == (pairs, [], [])


@pytest.mark.parametrize(
    ("body", "way"),
    [
        ("p(X, Y)", [(0, False)]),
        ("p(Y, X)", [(0, True)]),
        ("q(A, Y), p(X, A)", [(1, False), (0, False)]),
        ("p(A, X), q(A, B), p(Y, B)", [(0, True), (1, False), (2, True)]),
        ("p(X, Y), q(X, Y)", None),
        ("p(X, A), q(A, Y), p(A, A)", None),
        ("p(X, A), q(B, Y)", None),
        ("p(X, A), q(A, X), p(X, Y)", None),
        ("p(X, Y), q(Y, A)", None),
        ("p(X, one), q(one, Y)", None),
    ],
)
def test_which_bodies_are_chains(body, way):
    shape, _, _ = shape_of(parse_clause(f"{body} => h(X, Y)"))
    assert chain_of(shape.atoms[:-1], shape.atoms[-1].slots) == way


def test_graphs_too_large_to_number_their_facts_are_not_walked():
    assert can_walk(20_000_000, 1000)
    assert not can_walk(10**9, 10_000)
