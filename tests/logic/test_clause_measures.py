"""Support and confidence of clauses, against a count that tries every entity for every variable."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clausal.graph import Graph, Names
from clausal.logic import Atom, Clause, Constant, Falsum, Variable, parse_clause, parse_clauses
from clausal.logic.measures import Measures, measure_clauses
from clausal.logic.shape import implication
from recording import Recorder

ENTITIES, RELATIONS = list("abcd"), ["p", "q", "r"]


def make_graph(facts):
    rows = np.array(sorted(facts), dtype=np.int32).reshape(-1, 3)
    return Graph(Names([f"e{name}" for name in ENTITIES], "entity"), Names(RELATIONS, "relation"), rows)


def naive(clause, graph):
    """AMIE's definitions, word by word."""
    facts = {tuple(map(int, fact)) for fact in graph.train}
    head = clause.formula.head if hasattr(clause.formula, "head") else clause.formula
    body = [atom for atom in clause.atoms if atom is not head]
    variables = sorted({term for atom in clause.atoms for term in atom.terms if isinstance(term, Variable)}, key=str)
    predicted = set()
    for values in product(range(len(graph.entities)), repeat=len(variables)):
        where = dict(zip(variables, values, strict=True))

        def fact(atom, where=where):
            subject, object = (where[t] if t in where else graph.entities.id(t.name) for t in atom.terms)
            return subject, graph.relations.id(atom.relation), object

        if all(fact(atom) in facts for atom in body):
            predicted.add(values if isinstance(head, Falsum) else fact(head))
    if isinstance(head, Falsum):
        return Measures(0, len(predicted), 0)
    relation = graph.relations.id(head.relation)
    subjects = {s for s, r, _ in facts if r == relation}
    objects = {o for _, r, o in facts if r == relation}
    by_subject = len(subjects) >= len(objects)
    kinds = [isinstance(term, Variable) for term in head.terms]
    if kinds[0] != kinds[1]:
        by_subject = kinds[0]
    pca = sum((s in subjects) if by_subject else (o in objects) for s, _, o in predicted)
    return Measures(len(predicted & facts), len(predicted), pca)


terms = st.sampled_from([Variable(name) for name in "XYZW"]) | st.sampled_from([Constant(f"e{n}") for n in ENTITIES])
atoms = st.builds(Atom, st.sampled_from(RELATIONS), terms, terms)
bodies = st.lists(atoms, max_size=4)


@st.composite
def horn_clauses(draw):
    body = draw(bodies)
    bound = [term for atom in body for term in atom.terms] + [Constant("ea")]
    if body and draw(st.integers(0, 5)) == 0:
        return Clause(implication(body, Falsum()))
    choice = st.sampled_from(bound) if body else terms
    head = draw(st.builds(Atom, st.sampled_from(RELATIONS), choice, choice))
    return Clause(implication(body, head))


facts_of_small_graphs = st.sets(st.tuples(st.integers(0, 3), st.integers(0, 2), st.integers(0, 3)), max_size=30)


@settings(deadline=None, max_examples=60)
@given(facts_of_small_graphs, st.lists(horn_clauses(), min_size=1, max_size=12))
def test_counts_are_those_of_trying_every_entity(facts, clauses):
    graph = make_graph(facts)
    for clause, measures in zip(clauses, measure_clauses(clauses, graph), strict=True):
        everything = isinstance(clause.formula, Atom) and len(set(clause.formula.terms)) == 2
        if everything and all(isinstance(term, Variable) for term in clause.formula.terms):
            assert measures is None
        else:
            assert measures == naive(clause, graph), str(clause)


def test_measures_of_a_composition_by_hand():
    train = [("ann", "born", "ulm"), ("bob", "born", "ulm"), ("cid", "born", "bern"), ("ulm", "in", "de")]
    train += [("bern", "in", "ch"), ("ann", "from", "de"), ("bob", "from", "ch"), ("dan", "from", "de")]
    clause = parse_clause("born(X, Y), in(Y, Z) => from(X, Z)")
    (measures,) = measure_clauses([clause], Graph.from_triples(train))
    # ann and bob would be from de, cid from ch; ann is, bob is known to be from elsewhere, of cid nothing is known
    assert measures == Measures(support=1, body=3, pca_body=2)
    assert (measures.confidence, measures.pca_confidence, measures.holds) == (1 / 3, 1 / 2, False)


def test_many_clauses_of_few_shapes_give_what_each_gives_alone():
    rng = np.random.default_rng(0)
    graph = make_graph({tuple(row) for row in rng.integers(0, [4, 3, 4], (25, 3)).tolist()})
    texts = [f"{a}(X, Y), {b}(Y, Z) => {c}(X, Z)" for a, b, c in product(RELATIONS, repeat=3)]
    texts += [
        f"{a}(X, e{n}) => {b}(X, e{m})" for a, b in product(RELATIONS, repeat=2) for n, m in product("abcd", "abcd")
    ]
    clauses = parse_clauses("\n".join(texts))
    assert measure_clauses(clauses, graph) == [naive(clause, graph) for clause in clauses]


@pytest.mark.parametrize(
    "text", ["p(X, Y) => q(X, Y) | r(X, Y)", "s(X, Y) => p(X, Y)", "p(X, zz) => q(X, zz)", "p(X, Y) => q(X, Z)"]
)
def test_what_cannot_be_counted_has_no_measures(text):
    assert measure_clauses([parse_clause(text)], make_graph({(0, 0, 1)})) == [None]


def test_an_empty_body_has_no_confidence():
    (measures,) = measure_clauses([parse_clause("p(X, Y) => q(X, Y)")], make_graph({(0, 1, 1)}))
    assert (measures.confidence, measures.pca_confidence, measures.holds) == (None, None, True)


def test_progress_ends_with_the_clauses_that_are_counted():
    seen = Recorder()
    clauses = parse_clauses("p(X, Y) => q(X, Y)\np(X, Y) => q(Y, X)\np(X, Y) => q(X, Y) | r(X, Y)")
    measure_clauses(clauses, make_graph({(0, 0, 1)}), observer=seen)
    assert seen.of("advanced")[-1] == ("counting", 2, 2, "clauses")
