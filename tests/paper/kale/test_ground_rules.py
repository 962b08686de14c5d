"""Ground rules are what trying every entity for every variable finds."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from clausal import load_graph, read_clauses
from clausal.errors import InputError
from clausal.graph import Graph, Names
from clausal.graph.datasets import dataset_clauses
from clausal.logic import horn_parts, parse_clauses
from clausal.logic.syntax import Variable
from clausal_paper.kale import ground_rules

CLAUSES = parse_clauses("""
a(X, Y) => b(X, Y)
b(X, Y) => c(Y, X)
a(X, Y), b(Y, Z) => c(X, Z)
c(X, Y), c(X, Z) => d(Y, Z)
a(X, X), b(X, Y) => d(Y, X)
b(X, "e1") => a(X, X)
""")


def random_graph(seed=0, entities=7, relations="abcde"):
    generator = np.random.default_rng(seed)
    facts = generator.integers((entities, len(relations), entities), size=(90, 3)).astype(np.int32)
    names = Names([f"e{number}" for number in range(entities)], "entity")
    return Graph(names, Names(list(relations), "relation"), np.unique(facts, axis=0))


def by_trying(graph, clauses, accept):
    """Put every entity for every variable, and keep what ``accept`` says of which atoms are facts."""
    facts = set(map(tuple, graph.train.tolist()))
    found = set()
    for clause in clauses:
        body, head = horn_parts(clause)
        atoms = (*body, head)
        variables = list({term for atom in atoms for term in atom.terms if isinstance(term, Variable)})
        for values in product(range(len(graph.entities)), repeat=len(variables)):
            entity = dict(zip(variables, values, strict=True))
            ids = [[entity[t] if t in entity else graph.entities.id(t.name) for t in atom.terms] for atom in atoms]
            triples = tuple((s, graph.relations.id(a.relation), o) for a, (s, o) in zip(atoms, ids, strict=True))
            if accept([triple in facts for triple in triples]):
                found.add(triples)
    return found


def as_tuples(rules):
    return [tuple(map(tuple, atoms)) for some in rules for atoms in some.atoms.tolist()]


def premises(observed):
    return all(observed[:-1])


def all_but_one(observed):
    return sum(observed) >= len(observed) - 1


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("observed", "accept"), [("premises", premises), ("all-but-one", all_but_one)])
def test_ground_rules_are_found_once_each_by_trying_all_entities(observed, accept, seed):
    graph = random_graph(seed)
    found = as_tuples(ground_rules(graph, CLAUSES, observed))
    expected = by_trying(graph, CLAUSES, accept)
    assert len(found) == len(set(found))
    assert set(found) == expected
    assert len(expected) > 100


def test_variables_of_unobserved_atoms_alone_are_not_guessed():
    graph, clauses = random_graph(), parse_clauses("a(X, Y) => d(X, X)")  # a fact d(X, X) does not say who Y is
    assert set(as_tuples(ground_rules(graph, clauses, "all-but-one"))) == by_trying(graph, clauses, premises)


def test_other_relations_are_those_that_are_not_in_the_rule():
    graph = random_graph()
    for some in ground_rules(graph, CLAUSES):
        for atoms, rule in zip(some.atoms, some.rule, strict=True):
            others = set(some.others[rule, : some.other_count[rule]].tolist())
            assert others == set(range(5)) - set(atoms[:, 1].tolist())


def test_a_clause_over_all_relations_is_refused():
    with pytest.raises(InputError, match="a relation that is not in the rule"):
        ground_rules(random_graph(relations="ab"), parse_clauses("a(X, Y) => b(X, Y)"))


def test_fb122_has_the_ground_rules_of_the_authors_program(clausal_data):
    graph = load_graph("fb122")
    rules = ground_rules(graph, read_clauses(dataset_clauses("fb122")))
    assert [some.atoms.shape[1] - 1 for some in rules] == [1, 2]
    assert sum(map(len, rules)) == 67_251


@pytest.mark.parametrize("observed", ["premises", "all-but-one"])
def test_a_rule_whose_first_premise_has_no_facts_has_no_ground_rules(observed):
    graph = Graph.from_triples([("x", "a", "y"), ("y", "z", "x")])
    relations = Names(["a", "z", "none", "too"], "relation")
    graph = Graph(graph.entities, relations, graph.train)
    (found,) = ground_rules(graph, parse_clauses("none(X, Y), too(Y, Z) => a(X, Z)"), observed)
    assert found.atoms.shape == (0, 3, 3)
