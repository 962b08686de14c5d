"""Data frames, graphs and factories of other libraries give the same graph as a file."""

import duckdb
import networkx
import pandas
import pyarrow as pa
import pytest
from graph_files import FACTS, named

from clausal.errors import InputError
from clausal.graph import Graph, load_graph

COLUMNS = {
    "source": [fact[0] for fact in FACTS],
    "target": [fact[2] for fact in FACTS],
    "type": [fact[1] for fact in FACTS],
    "year": [1999] * len(FACTS),
}


def polars_frame():
    return pytest.importorskip("polars").DataFrame(COLUMNS)


@pytest.mark.parametrize(
    "make",
    [
        lambda: pandas.DataFrame(COLUMNS),
        lambda: pandas.DataFrame(COLUMNS).iloc[::1].set_index("source"),
        polars_frame,
        lambda: pa.table(COLUMNS),
        lambda: pa.table(COLUMNS).to_reader(),
        lambda: duckdb.from_arrow(pa.table(COLUMNS)),
        lambda: pa.table(COLUMNS).to_pylist(),
    ],
    ids=["pandas", "pandas index", "polars", "pyarrow", "reader", "duckdb", "dicts"],
)
def test_columns_are_found_by_name_in_whatever_has_them(make):
    graph = Graph.from_triples(make())
    assert named(graph, graph.train) == FACTS
    graph = load_graph(make(), valid=0, test=0)
    assert named(graph, graph.train) == FACTS


def test_unused_columns_are_said_and_unknown_names_refused():
    assert Graph.from_triples(pandas.DataFrame(COLUMNS)).notes == ("train: not used: column year",)
    unknown = pandas.DataFrame(COLUMNS).rename(columns={"type": "x", "source": "y", "target": "z"})
    with pytest.raises(InputError, match="which are subject, relation, object"):
        Graph.from_triples(unknown)
    graph = Graph.from_triples(unknown, columns=["y", "x", "z"])
    assert named(graph, graph.train) == FACTS


def test_whole_numbers_with_a_missing_value_keep_their_names():
    frame = pandas.DataFrame({"s": [1.0, 2.0], "r": ["r", "r"], "o": [2, 3]})
    assert list(Graph.from_triples(frame).entities) == ["1", "2", "3"]
    with pytest.raises(InputError, match="row 2: the subject is empty"):
        Graph.from_triples(pandas.DataFrame({"s": [1.0, None], "r": ["r", "r"], "o": [2, 3]}))


@pytest.mark.parametrize("how", ["key", "attribute", "digraph"])
def test_networkx(how):
    graph = networkx.DiGraph() if how == "digraph" else networkx.MultiDiGraph()
    for subject, relation, object in FACTS:
        if how == "key":
            graph.add_edge(subject, object, key=relation, weight=1)
        else:
            graph.add_edge(subject, object, label=relation, weight=1)
    read = Graph.from_triples(graph)
    assert set(named(read, read.train)) == set(FACTS)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: networkx.Graph([("a", "b")]), "an undirected graph"),
        (lambda: networkx.DiGraph([("a", "b")]), "does not say its relation"),
        (lambda: networkx.MultiDiGraph([("a", "b")]), "does not say its relation"),
        (lambda: networkx.MultiDiGraph([("a", "b", "r", {"label": "q"})]), "which is the relation"),
        (lambda: 5, "expected a data frame, or tuples"),
        (lambda: [{"a", "r", "b"}], "expected three names"),
    ],
)
def test_what_does_not_say_its_facts_is_refused(make, message):
    with pytest.raises(InputError, match=message):
        Graph.from_triples(make())


def test_pykeen():
    import numpy as np
    from pykeen.triples import CoreTriplesFactory, TriplesFactory

    factory = TriplesFactory.from_labeled_triples(np.array(FACTS))
    graph = Graph.from_triples(factory)
    assert set(named(graph, graph.train)) == set(FACTS)
    ids = CoreTriplesFactory(factory.mapped_triples, num_entities=9, num_relations=9)
    with pytest.raises(InputError, match="without labels"):
        Graph.from_triples(ids)
