"""Test facts that are deducible have proofs from train, and the others have none: on graphs with both parts."""

import time

from smallest_sizes import check_proof, given_facts

from clausal.demo import world
from clausal.graph import dataset_clauses, load_graph
from clausal.graph.query import name_fact
from clausal.logic import read_clauses
from clausal.logic.closure import close
from clausal.logic.proofs import Prover


def assert_deducible_parts_have_proofs(graph, clauses, every):
    prover = Prover(graph, clauses, close(graph, clauses, threads=1))
    given = given_facts(graph)
    for row in graph.parts["test-II"][::every]:
        proof = prover.prove(name_fact(graph, row))
        assert check_proof(proof, given) == proof.size > 0
    for row in graph.parts["test-I"][::every]:
        assert prover.prove(name_fact(graph, row)) is None
    return prover


def test_the_demos_graph():
    assert_deducible_parts_have_proofs(*world(), every=4)


def test_fb122(clausal_data):
    graph, clauses = load_graph("fb122"), read_clauses(dataset_clauses("fb122"))
    prover = assert_deducible_parts_have_proofs(graph, clauses, every=40)
    asked = [name_fact(graph, row) for row in graph.parts["test-II"][::30]]
    started = time.perf_counter()
    for fact in asked:
        prover.prove(fact)
    assert (time.perf_counter() - started) / len(asked) < 0.05
