"""Proofs are proofs, and none is shorter: against trying every instance of every clause."""

import random
import sys
import time

import numpy as np
import pytest
from hypothesis import given, settings
from smallest_sizes import check_proof, given_facts, smallest_sizes

from clausal.errors import InputError
from clausal.graph import Graph, Names
from clausal.graph.query import Fact, name_fact
from clausal.logic import parse_clauses
from clausal.logic.closure import Closure, close
from clausal.logic.proofs import Prover, print_proof, proof_to_json
from programs import facts, graph_of, programs

TRANSITIVE = parse_clauses("p(X, Y), p(Y, Z) => p(X, Z)")


def prover_of(graph, clauses):
    return Prover(graph, clauses, close(graph, clauses, threads=1))


def every_fact(graph):
    return [Fact(s, r, o) for s in graph.entities for r in graph.relations for o in graph.entities]


def assert_shortest(graph, clauses):
    """Compare the proof, or its absence, of every possible fact."""
    prover, sizes = prover_of(graph, clauses), smallest_sizes(graph, clauses)
    given = given_facts(graph)
    for fact in every_fact(graph):
        proof = prover.prove(fact)
        assert (proof is None) == (fact not in sizes)
        if proof is not None:
            assert proof.fact == fact
            assert check_proof(proof, given) == proof.size == sizes[fact]
    return sizes


@settings(max_examples=50, deadline=None)
@given(facts=facts, clauses=programs)
def test_proofs_are_the_shortest_of_all(facts, clauses):
    assert_shortest(graph_of(facts), clauses)


CYCLES = """
p(X, Y) => p(Y, X)
p(X, Y) => q(Y, X)
q(X, Y) => p(Y, X)
q(X, Y), q(Y, X) => r(X, X)
r(X, X), p(X, Y) => r(X, Y)
q(X, anna) => r(bob, X)
"""


@pytest.mark.parametrize("rows", [{(0, 0, 1)}, {(0, 1, 1), (1, 0, 2)}, {(2, 2, 2), (0, 1, 0)}, {(1, 1, 0), (2, 0, 2)}])
def test_symmetric_and_inverse_clauses_that_cycle(rows):
    assert_shortest(graph_of(rows), parse_clauses(CYCLES))


def test_a_low_proof_need_not_be_the_smallest():
    """In two rounds by a body of five derived facts, size 6; in three by a chain of clauses, size 3."""
    clauses = parse_clauses(
        "p(X, Y) => q(X, Y)\n"
        "q(A, B), q(B, C), q(C, D), q(D, B), q(B, D) => r(A, A)\n"
        "p(X, Y) => s(X, Y)\n"
        "s(X, Y) => t(X, Y)\n"
        "t(X, Y) => r(X, X)"
    )
    graph = graph_of({(0, 0, 1), (1, 0, 2), (2, 0, 3), (3, 0, 1), (1, 0, 3)}, relations=list("pqrst"))
    closure = close(graph, clauses, threads=1)
    rounds = {tuple(row): number for row, number in zip(closure.facts.tolist(), closure.round_of.tolist(), strict=True)}
    assert rounds[0, 2, 0] == 2
    proof = Prover(graph, clauses, closure).prove(Fact("anna", "r", "anna"))
    assert (proof.size, proof.depth) == (3, 3)


@pytest.mark.parametrize("seed", range(6))
def test_larger_random_graphs(seed):
    draw = random.Random(seed)
    rows = {(draw.randrange(9), draw.randrange(3), draw.randrange(9)) for _ in range(14)}
    clauses = parse_clauses(
        "p(X, Y), p(Y, Z) => p(X, Z)\nq(X, Y), p(X, Z) => r(Y, Z)\nr(X, Y) => q(Y, X)\nr(X, Y), q(Y, Z) => p(X, Z)"
    )
    graph = graph_of(rows, [f"e{n}" for n in range(9)])
    assert max(assert_shortest(graph, clauses).values()) > 2


def test_what_was_asked_before_does_not_change_a_proof():
    draw = random.Random(1)
    graph = graph_of({(draw.randrange(12), 0, draw.randrange(12)) for _ in range(24)}, [f"e{n}" for n in range(12)])
    clauses = parse_clauses("p(X, Y), p(Y, Z) => p(X, Z)\np(X, Y) => q(Y, X)\nq(X, Y) => p(X, Y)")
    closure = close(graph, clauses, threads=1)
    asked = [name_fact(graph, row) for row in closure.derived.tolist()]
    one = Prover(graph, clauses, closure)
    other = Prover(graph, clauses, closure)
    backwards = {fact: print_proof(other.prove(fact)) for fact in reversed(asked)}
    assert {fact: print_proof(one.prove(fact)) for fact in asked} == backwards


def chain(length):
    """Return a chain of ``next`` facts, and the closure of reaching each of its entities from the first."""
    names = [f"e{number}" for number in range(length + 1)]
    steps = np.arange(length, dtype=np.int32)
    given = np.stack([steps, np.zeros_like(steps), steps + 1], 1)
    start = np.array([[0, 1, 0]], dtype=np.int32)
    reached = np.stack([np.zeros_like(steps), np.ones_like(steps), steps + 1], 1)
    graph = Graph(Names(names, "entity"), Names(["next", "reaches"], "relation"), np.concatenate([given, start]))
    rounds = np.concatenate([np.zeros(length + 1, dtype=np.int32), steps + 1])
    return graph, Closure(np.concatenate([given, start, reached]), rounds, (), complete=True)


REACHES = parse_clauses("reaches(X, Y), next(Y, Z) => reaches(X, Z)")


def test_the_closure_of_a_chain_is_that_of_close():
    graph, closure = chain(7)
    found = close(graph, REACHES, threads=1)
    assert found.facts.tolist() == closure.facts.tolist()
    assert found.round_of.tolist() == closure.round_of.tolist()


def test_a_proof_deeper_than_pythons_stack():
    length = 5_000
    assert length > sys.getrecursionlimit()
    graph, closure = chain(length)
    proof = Prover(graph, REACHES, closure).prove(Fact("e0", "reaches", f"e{length}"))
    assert proof.size == proof.depth == check_proof(proof, given_facts(graph)) == length
    assert len(proof.facts()) == length + 1
    assert print_proof(proof).count("given") == length + 1
    assert len(proof_to_json(proof)["steps"]) == 2 * length + 1


def test_facts_with_many_thousand_derivations_are_proved_at_once():
    entities = 120
    draw = np.random.default_rng(0)
    rows = {(int(s), 0, int(o)) for s, o in draw.integers(entities, size=(5 * entities, 2))}
    graph = graph_of(rows, [f"e{n}" for n in range(entities)])
    closure = close(graph, TRANSITIVE, threads=1)
    prover = Prover(graph, TRANSITIVE, closure)
    ways = smallest_paths(rows, entities)
    started = time.perf_counter()
    asked = closure.derived[:: len(closure.derived) // 100]
    for row in asked.tolist():
        proof = prover.prove(name_fact(graph, row))
        assert proof.size == ways[row[0], row[2]] - 1
    assert (time.perf_counter() - started) / len(asked) < 0.5


def smallest_paths(rows, entities):
    """Return the lengths of shortest paths of at least one edge: a proof by transitivity joins the edges of one."""
    lengths = np.full((entities, entities), np.inf)
    for subject, _, object in rows:
        lengths[subject, object] = 1
    for middle in range(entities):
        lengths = np.minimum(lengths, lengths[:, middle, None] + lengths[None, middle])
    return lengths


def test_a_given_fact_proves_itself_even_where_it_could_be_derived():
    graph = graph_of({(0, 0, 1), (1, 0, 2), (0, 0, 2)})
    proof = prover_of(graph, TRANSITIVE).prove(Fact("anna", "p", "cleo"))
    assert proof.given
    assert (proof.size, proof.depth, proof.premises) == (0, 0, ())


def test_facts_given_twice_count_once():
    graph = graph_of({(0, 0, 1), (1, 0, 2)})
    twice = np.concatenate([graph.train, graph.train])
    prover = Prover(graph, TRANSITIVE, close(graph, TRANSITIVE, facts=twice, threads=1))
    assert prover.prove(Fact("anna", "p", "cleo")).size == 1


def test_of_equal_clauses_the_first_is_named():
    graph = graph_of({(0, 0, 1)})
    clauses = parse_clauses("p(X, Y) => q(X, Y)\np(A, B) => q(A, B)", "rules.txt")
    assert prover_of(graph, clauses).prove(Fact("anna", "q", "bob")).clause.line == 1


def test_a_closure_that_was_stopped_early_is_refused():
    graph = graph_of({(0, 0, 1), (1, 0, 2), (2, 0, 3)})
    closure = close(graph, TRANSITIVE, rounds=1, threads=1)
    with pytest.raises(InputError, match="stopped early"):
        Prover(graph, TRANSITIVE, closure)


def test_clauses_of_another_closure_are_refused():
    graph = graph_of({(0, 0, 1), (1, 0, 2)})
    with pytest.raises(InputError, match="not made with these clauses"):
        Prover(graph, parse_clauses("p(X, X) => p(X, X)"), close(graph, TRANSITIVE)).prove(Fact("anna", "p", "cleo"))


def test_unknown_names_are_refused():
    prover = prover_of(graph_of({(0, 0, 1)}), TRANSITIVE)
    with pytest.raises(InputError, match="unknown entity 'ana'; did you mean 'anna'"):
        prover.prove(Fact("ana", "p", "bob"))
