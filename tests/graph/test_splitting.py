"""A random split is a partition of the facts in which train keeps every entity and relation."""

import time

import numpy as np
import pytest
from graph_files import lines, write
from hypothesis import given, settings
from hypothesis import strategies as st

from clausal.errors import InputError
from clausal.graph import Graph, load_graph, split_facts

SHARES = st.floats(0, 0.49)


@st.composite
def facts(draw):
    rows = draw(st.lists(st.tuples(st.integers(0, 12), st.integers(0, 3), st.integers(0, 12)), min_size=1, unique=True))
    return np.array(rows, dtype=np.int32)


@settings(max_examples=300)
@given(facts=facts(), valid=SHARES, test=SHARES, seed=st.integers(0, 5))
def test_the_split_is_a_partition_that_keeps_order_and_names(facts, valid, test, seed):
    parts = split_facts(facts, valid=valid, test=test, seed=seed)
    rows = [list(map(tuple, part.tolist())) for part in parts]
    whole = list(map(tuple, facts.tolist()))
    assert sorted(rows[0] + rows[1] + rows[2]) == sorted(whole)
    for part in rows:
        assert part == sorted(part, key=whole.index)
    seen = {entity for s, _, o in rows[0] for entity in (s, o)}
    assert {entity for s, _, o in rows[1] + rows[2] for entity in (s, o)} <= seen
    assert {r for _, r, _ in rows[1] + rows[2]} <= {r for _, r, _ in rows[0]}
    assert len(rows[1]) <= round(valid * len(whole))
    assert len(rows[2]) <= round(test * len(whole))


def test_a_dense_graph_gets_exactly_the_shares_asked_for():
    everything = np.array([(s, r, o) for s in range(20) for r in range(5) for o in range(20)], dtype=np.int32)
    train, valid, test = split_facts(everything, valid=0.1, test=0.25, seed=1)
    assert (len(train), len(valid), len(test)) == (1300, 200, 500)


def test_valid_and_test_shrink_alike_when_few_facts_can_be_held_out():
    couples = [(2 * i, 0, 2 * i + 1) for i in range(100)] + [(2 * i, 1, 2 * i + 1) for i in range(30)]
    train, valid, test = split_facts(np.array(couples, dtype=np.int32), valid=0.4, test=0.2, seed=0)
    assert len(train) + len(valid) + len(test) == 130
    assert len(valid) + len(test) in (28, 29, 30)  # one of the second relation may have to stay in train
    assert abs(len(valid) - 2 * len(test)) <= 2


def test_the_seed_decides_the_split():
    everything = np.array([(s, 0, o) for s in range(30) for o in range(30)], dtype=np.int32)
    first, again, other = (split_facts(everything, seed=seed) for seed in (3, 3, 4))
    assert all(np.array_equal(a, b) for a, b in zip(first, again, strict=True))
    assert not np.array_equal(first[2], other[2])


def test_couples_leave_nothing_to_hold_out_and_the_graph_says_so(tmp_path):
    couples = [(f"a{i}", "married to", f"b{i}") for i in range(100)]
    graph = load_graph(write(tmp_path / "couples.tsv", lines(couples)))
    assert [len(part) for part in graph.splits.values()] == [100, 0, 0]
    assert graph.notes == ("0 facts held out, not 20: train needs the rest to keep every name",)


@pytest.mark.parametrize(("valid", "test"), [(-0.1, 0.1), (0.5, 0.5), (0, 1), (float("nan"), 0)])
def test_shares_must_leave_something_to_train_on(valid, test):
    with pytest.raises(InputError, match="must be 0 or more and add up to less than 1"):
        split_facts(np.zeros((4, 3), dtype=np.int32), valid=valid, test=test)


def test_one_file_is_split_into_ten_percent_each_with_all_names_in_train(tmp_path):
    rng = np.random.default_rng(0)
    rows = {(f"e{s}", f"r{r}", f"e{o}") for s, r, o in rng.integers(0, [60, 4, 60], (3000, 3))}
    graph = load_graph(write(tmp_path / "facts.tsv", lines(sorted(rows))))
    tenth = round(len(rows) / 10)
    assert (len(graph.valid), len(graph.test)) == (tenth, tenth)
    assert set(graph.train[:, [0, 2]].ravel()) == set(range(len(graph.entities)))
    assert set(graph.train[:, 1]) == set(range(len(graph.relations)))


def test_splitting_is_linear_in_the_number_of_facts():
    rng = np.random.default_rng(0)
    many = rng.integers(0, [200_000, 100, 200_000], (1_000_000, 3)).astype(np.int32)
    before = time.process_time()
    split_facts(many)
    assert time.process_time() - before < 5  # a quadratic way would take hours


def test_a_graph_from_python_can_be_split():
    triples = [(f"e{i}", "r", f"e{j}") for i in range(12) for j in range(12)]
    graph = Graph.from_triples(triples).split(valid=0.25, test=0.25, seed=2)
    assert [len(part) for part in graph.splits.values()] == [72, 36, 36]
