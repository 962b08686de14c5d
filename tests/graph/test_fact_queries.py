"""Facts and questions by name, read without a model."""

import pytest

from clausal.errors import InputError
from clausal.graph import Graph
from clausal.graph.query import Fact, Query, fact_ids, name_fact, parse_fact, parse_query, query_ids

GRAPH = Graph.from_triples([("Paris", "capital_of", "France"), ("Washington, D.C.", "capital_of", "USA")])


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("capital_of(Paris, France)", Fact("Paris", "capital_of", "France")),
        (" capital_of( 'Paris' , \"France\" ). ", Fact("Paris", "capital_of", "France")),
        ("capital_of(Washington, D.C., USA)", Fact("Washington, D.C.", "capital_of", "USA")),
    ],
)
def test_a_fact_is_read_by_its_names(text, fact):
    assert parse_fact(text, GRAPH) == fact
    assert name_fact(GRAPH, fact_ids(fact, GRAPH)) == fact
    assert parse_fact(str(fact), GRAPH) == fact


@pytest.mark.parametrize("question", ["capital_of(?, France)", "capital_of(Paris, ?X)", "?(Paris, France)"])
def test_a_question_is_no_fact(question):
    assert query_ids(parse_query(question, GRAPH), GRAPH).count(None) == 1
    with pytest.raises(InputError, match="write a whole fact"):
        parse_fact(question, GRAPH)


def test_a_question_is_written_as_it_is_asked():
    assert str(Query(None, "capital_of", "France")) == "capital_of(?, France)"


def test_unknown_names_come_with_the_nearest_known_one():
    with pytest.raises(InputError, match="unknown relation 'capital_off'; did you mean 'capital_of'"):
        parse_fact("capital_off(Paris, France)", GRAPH)
