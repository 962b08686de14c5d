"""Proofs as text and as JSON."""

from clausal.graph.query import Fact
from clausal.logic import parse_clauses
from clausal.logic.closure import close
from clausal.logic.proofs import Prover, print_near, print_proof, proof_to_json
from programs import graph_of

CLAUSES = parse_clauses("p(X, Y) => q(Y, X)\n\nq(X, Y), q(Y, Z) => r(X, Z)", "rules.txt")


def prover_of(rows, clauses=CLAUSES):
    graph = graph_of(rows)
    return Prover(graph, clauses, close(graph, clauses, threads=1))


def test_text_is_an_indented_tree():
    proof = prover_of({(0, 0, 1), (2, 1, 1)}).prove(Fact("cleo", "r", "anna"))
    assert print_proof(proof) == (
        "r(cleo, anna)  by q(X, Y), q(Y, Z) => r(X, Z)  [rules.txt:3]\n"
        "├─ q(cleo, bob)  given\n"
        "└─ q(bob, anna)  by p(X, Y) => q(Y, X)  [rules.txt:1]\n"
        "   └─ p(anna, bob)  given"
    )


def test_branches_reach_down_to_the_next_premise():
    proof = prover_of({(0, 0, 1), (1, 0, 2)}).prove(Fact("cleo", "r", "anna"))
    assert print_proof(proof).splitlines()[1:] == [
        "├─ q(cleo, bob)  by p(X, Y) => q(Y, X)  [rules.txt:1]",
        "│  └─ p(bob, cleo)  given",
        "└─ q(bob, anna)  by p(X, Y) => q(Y, X)  [rules.txt:1]",
        "   └─ p(anna, bob)  given",
    ]


def test_a_derived_fact_that_is_needed_twice_is_shown_once():
    proof = prover_of({(0, 0, 0)}).prove(Fact("anna", "r", "anna"))
    assert print_proof(proof).splitlines()[1:] == [
        "├─ q(anna, anna)  by p(X, Y) => q(Y, X)  [rules.txt:1]",
        "│  └─ p(anna, anna)  given",
        "└─ q(anna, anna)  shown above",
    ]
    assert proof.size == 3
    assert proof.facts() == [Fact("anna", "p", "anna")]


def test_a_tree_of_exponential_size_is_written_by_its_facts():
    clauses = parse_clauses("\n".join(f"r{n}(X, Y), r{n}(X, Y) => r{n + 1}(X, Y)" for n in range(40)))
    graph = graph_of({(0, 0, 1)}, relations=[f"r{n}" for n in range(41)])
    proof = Prover(graph, clauses, close(graph, clauses, threads=1)).prove(Fact("anna", "r40", "bob"))
    assert proof.size == 2**40 - 1
    assert len(print_proof(proof).splitlines()) == 81
    assert len(proof_to_json(proof)["steps"]) == 41


def test_json_lists_each_fact_once_with_the_places_of_its_premises():
    proof = prover_of({(0, 0, 1), (2, 1, 1)}).prove(Fact("cleo", "r", "anna"))
    assert proof_to_json(proof) == {
        "size": 2,
        "depth": 2,
        "steps": [
            {
                "subject": "cleo",
                "relation": "r",
                "object": "anna",
                "clause": "q(X, Y), q(Y, Z) => r(X, Z)",
                "place": "rules.txt:3",
                "premises": [1, 2],
            },
            {"subject": "cleo", "relation": "q", "object": "bob", "clause": None, "place": None, "premises": []},
            {
                "subject": "bob",
                "relation": "q",
                "object": "anna",
                "clause": "p(X, Y) => q(Y, X)",
                "place": "rules.txt:1",
                "premises": [3],
            },
            {"subject": "anna", "relation": "p", "object": "bob", "clause": None, "place": None, "premises": []},
        ],
    }


def test_clauses_without_a_file_have_no_place():
    proof = prover_of({(0, 0, 1)}, parse_clauses("p(X, Y) => q(Y, X)")).prove(Fact("bob", "q", "anna"))
    assert print_proof(proof).splitlines()[0] == "q(bob, anna)  by p(X, Y) => q(Y, X)  [line 1]"


def test_near_supports_say_what_holds_and_what_is_missing():
    (near,) = prover_of({(2, 1, 1)}).near(Fact("cleo", "r", "anna"))
    assert print_near(near, [", score 1"]) == (
        "by q(X, Y), q(Y, Z) => r(X, Z)  [rules.txt:3]\n├─ q(cleo, bob)  holds\n└─ q(bob, anna)  missing, score 1"
    )
