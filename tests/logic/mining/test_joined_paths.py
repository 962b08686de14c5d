"""Rules that an engine joins are those that are walked in memory, fact for fact."""

from contextlib import closing

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive_paths import edges_of

from clausal.errors import InputError
from clausal.graph import Graph
from clausal.logic.engines import open_engine
from clausal.logic.mining import joined_paths, mine, mine_paths
from clausal.logic.mining.joined_paths import join_paths

ids = st.integers(0, 7)
triples = st.lists(st.tuples(ids, st.integers(0, 2), ids), max_size=40)


def joined(facts, relations, **options):
    rows = np.array(facts, np.int32).reshape(-1, 3)
    with closing(open_engine("duckdb", "mining", threads=1)) as engine:
        return join_paths(engine, rows, relations, **options)


def assert_same(found, expected):
    assert np.array_equal(found.heads, expected.heads)
    assert np.array_equal(found.bodies, expected.bodies)
    for column in ("support", "pairs", "known", "share"):
        np.testing.assert_allclose(getattr(found, column), getattr(expected, column), rtol=1e-12)


@settings(max_examples=12, deadline=None)
@given(triples, st.sampled_from([1, 2]), st.sampled_from([0.0, 0.2]))
def test_joins_find_what_walks_find(facts, support, confidence):
    options = {"max_length": 2, "min_support": support, "min_confidence": confidence}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(joined_paths, "BATCH", 200)  # so that there are several
        assert_same(joined(facts, 3, **options), mine_paths(edges_of(facts, 8, 3), **options))


def test_a_sample_is_said_and_a_time_limit_keeps_the_short_rules():
    draw = np.random.default_rng(0)
    facts = draw.integers(0, [40, 3, 40], (600, 3)).tolist()
    sampled = joined(facts, 3, min_support=1, steps=10_000)
    assert 0.1 < sampled.share[sampled.lengths == 2].max() < 0.9
    assert (sampled.share[sampled.lengths == 1] == 1).all()
    ended = joined(facts, 3, min_support=1, seconds=1e-9)
    assert not ended.complete
    assert set(ended.lengths.tolist()) == {1}


def test_an_engine_is_named_by_the_miner():
    draw = np.random.default_rng(1)
    rows = draw.integers(0, [20, 3, 20], (300, 3)).astype(str).tolist()
    graph = Graph.from_triples([tuple(row) for row in rows])
    options = {"min_support": 2, "min_confidence": 0.1}
    assert mine(graph, engine="duckdb", memory="200MB", **options) == mine(graph, **options) != []
    with pytest.raises(InputError, match="duckdb mines rules of one or two body atoms without constants"):
        mine(graph, engine="duckdb", max_body=3)
    with pytest.raises(InputError, match="memory is for mining with an engine"):
        mine(graph, memory="1GB")
    with pytest.raises(InputError, match="unknown engine 'abacus'"):
        mine(graph, engine="abacus")
