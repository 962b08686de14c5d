"""The groundings of a rule are what trying every entity for every variable finds."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clausal.logic import FactIndex, encode_rule, ground, parse_clause
from programs import graph_of

ENTITIES = 4
RULES = [
    "p(X, Y) => q(X, Y)",
    "p(X, Y), q(Y, Z) => r(X, Z)",
    "p(X, X), q(Y, X) => r(Y, X)",
    "p(X, anna), q(X, Y), r(Y, bob) => p(Y, Y)",
    "p(X, Y), q(Z, W) => r(X, W)",
]

facts = st.lists(st.tuples(*(st.integers(0, n - 1) for n in (ENTITIES, 3, ENTITIES))), min_size=1, max_size=25)


def encoded(text, graph):
    return encode_rule(parse_clause(text), graph.entities, graph.relations)


def by_trying(rule, positions, known):
    """Return the ground atoms at these positions for each choice of entities that makes all of them facts."""
    atoms = [rule.shape.atoms[position] for position in positions]
    variables = sorted({slot for atom in atoms for slot in atom.slots if slot.kind == "variable"}, key=str)
    found = []
    for values in product(range(ENTITIES), repeat=len(variables)):
        entity = dict(zip(variables, values, strict=True)) | rule.constant_binding
        triples = [(entity[a.subject], rule.relations[a.index], entity[a.object]) for a in atoms]
        if all(triple in known for triple in triples):
            found.append(tuple(triples))
    return sorted(found)


@settings(max_examples=60, deadline=None)
@given(facts, st.sampled_from(RULES), st.data())
def test_all_groundings_of_chosen_atoms_are_found_once_each(known, text, data):
    graph = graph_of(set(known))
    rule = encoded(text, graph)
    every = range(len(rule.shape.atoms))
    positions = data.draw(st.lists(st.sampled_from(every), min_size=1, unique=True))
    found = ground(FactIndex(graph.train, len(graph.entities), len(graph.relations)), rule, positions)
    rows = [tuple(tuple(graph.train[found.rows[p][n]].tolist()) for p in positions) for n in range(found.count)]
    assert sorted(rows) == by_trying(rule, positions, set(known))
    assert not found.cut
    for position in positions:
        atom = rule.shape.atoms[position]
        assert np.array_equal(found.entities[atom.subject], graph.train[found.rows[position], 0])
        assert np.array_equal(found.entities[atom.object], graph.train[found.rows[position], 2])


def test_the_whole_body_is_grounded_unless_positions_are_given():
    graph = graph_of({(0, 0, 1), (1, 1, 2), (0, 2, 2)})
    index = FactIndex(graph.train, len(graph.entities), len(graph.relations))
    found = ground(index, encoded("p(X, Y), q(Y, Z) => r(X, Z)", graph))
    assert found.count == 1
    assert sorted(found.rows) == [0, 1]


@pytest.mark.parametrize("most", [1, 3])
def test_beyond_the_most_the_rest_is_cut_off(most):
    graph = graph_of({(0, 0, n) for n in range(4)})
    index = FactIndex(graph.train, len(graph.entities), len(graph.relations))
    found = ground(index, encoded("p(X, Y) => q(X, Y)", graph), most=most)
    assert (found.count, found.cut) == (most, True)
    assert not ground(index, encoded("p(X, Y) => q(X, Y)", graph), most=4).cut
