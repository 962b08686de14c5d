"""The graph inside a run directory: read in pieces, and its names decoded only when they are wanted."""

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from clausal import Graph
from clausal.errors import InputError
from clausal.graph.vocabulary import Names
from clausal.run.storage import FACTS, load_stored_graph, store_graph

ROWS = [(f"e{number % 7}", f"r{number % 3}", f"e{number % 5}") for number in range(100)]


@pytest.fixture
def graph():
    return Graph.from_triples(ROWS[:80], ROWS[80:90], ROWS[90:])


def facts_of(graph):
    return {split: facts.tolist() for split, facts in graph.splits.items()}


def test_a_graph_comes_back_as_it_was_stored(graph, tmp_path):
    store_graph(tmp_path, graph)
    read = load_stored_graph(tmp_path, "again")
    assert facts_of(read) == facts_of(graph)
    assert list(read.entities) == list(graph.entities)
    assert read.entities == graph.entities


def test_splits_may_be_mixed_and_in_several_pieces(graph, tmp_path):
    store_graph(tmp_path, graph)
    table = parquet.read_table(tmp_path / FACTS)
    order = np.random.default_rng(0).permutation(len(table))
    parquet.write_table(table.take(pa.array(order)), tmp_path / FACTS, row_group_size=7)
    read = load_stored_graph(tmp_path, "again")
    assert {split: sorted(facts) for split, facts in facts_of(read).items()} == {
        split: sorted(facts) for split, facts in facts_of(graph).items()
    }


@pytest.mark.parametrize("entity", [-1, 7, 2**31 - 1])
def test_an_id_outside_the_vocabulary_is_refused_in_any_piece(entity, graph, tmp_path):
    store_graph(tmp_path, graph)
    table = parquet.read_table(tmp_path / FACTS)
    objects = table["object"].to_pylist()
    objects[-1] = entity
    table = table.set_column(3, "object", pa.array(objects, pa.int32()))
    parquet.write_table(table, tmp_path / FACTS, row_group_size=10)
    with pytest.raises(InputError, match="an id outside the vocabulary"):
        load_stored_graph(tmp_path, "again")


def test_names_of_an_arrow_array_are_those_of_a_list():
    texts = ["b", "a", "é", "long name with spaces"]
    lazy, plain = Names(pa.array(texts), "entity"), Names(texts, "entity")
    assert len(lazy) == 4
    assert [lazy[place] for place in range(-4, 4)] == [plain[place] for place in range(-4, 4)]
    assert lazy[np.int64(2)] == "é"
    assert lazy[1:3] == plain[1:3]
    assert lazy.ids(["é", "nobody"]).tolist() == [2, -1]
    with pytest.raises(IndexError):
        lazy[4]
    assert lazy == plain


def test_an_index_beyond_the_names_of_an_arrow_array_is_an_error():
    with pytest.raises(IndexError):
        Names(pa.array(["a"]), "entity")[1]
