"""Duplicates, conflicts with constraints, and cycles, on clause sets where the answer is known."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from clausal.logic import Atom, Clause, Implies, Variable, parse_clauses
from clausal.logic.review import find_conflicts, find_cycles, find_duplicates

X, Y = Variable("X"), Variable("Y")


def conflicts(text):
    """Return, for each conflict, the line of the constraint and the lines of the clauses."""
    return [
        (found.constraint.line, [clause.line for clause in found.clauses])
        for found in find_conflicts(parse_clauses(text))
    ]


def test_a_head_that_a_constraint_forbids_with_the_body_is_a_conflict():
    assert conflicts("p(X, Y) => q(X, Y)\np(A, B), q(A, B) => false") == [(2, [1])]
    assert conflicts("p(X, Y) => q(Y, X)\np(A, B), q(A, B) => false") == []


def test_a_symmetric_relation_breaks_asymmetry():
    assert conflicts("p(X, Y), p(Y, X) => false\np(X, Y) => p(Y, X)") == [(1, [2])]


def test_conflicts_are_followed_through_other_clauses():
    text = "p(X, Y) => q(X, Y)\nq(X, Y) => r(Y, X)\np(X, Y), r(Y, X) => false\ns(X, Y) => q(X, Y)"
    assert conflicts(text) == [(3, [1, 2])]


def test_constants_conflict_only_with_themselves():
    assert conflicts("p(X, a1) => q(X, b1)\np(X, Y), q(X, b1) => false") == [(2, [1])]
    assert conflicts("p(X, a1) => q(X, b1)\np(X, Y), q(X, c1) => false") == []


def test_a_body_that_is_forbidden_anyway_is_not_the_fault_of_its_head():
    assert conflicts("p(X, Y), q(X, Y) => r(X, Y)\np(X, Y), q(X, Y) => false") == []
    assert conflicts("p(X, Y), q(X, Y) => p(Y, X)\np(X, Y), q(X, Y) => false") == []


def test_clauses_without_constraints_have_no_conflicts():
    assert conflicts("p(X, Y) => q(X, Y)\nq(X, Y) => p(X, Y)") == []


def test_duplicates_are_found_under_other_names_and_orders():
    clauses = parse_clauses(
        "p(X, Y), q(Y, Z) => r(X, Z) <0.5>\nq(B, C), p(A, B) => r(A, C)\np(X, Y), q(Z, Y) => r(X, Z)\n"
        "p(X, paris) => q(X, paris)\np(X, rome) => q(X, rome)\n~p(X, Y)\n~p(A, B)"
    )
    assert [[clause.line for clause in group] for group in find_duplicates(clauses)] == [[1, 2], [6, 7]]


def test_cycles_name_the_relations_that_imply_one_another():
    clauses = parse_clauses(
        "a(X, Y) => b(X, Y)\nb(X, Y), z(Y, Z) => c(X, Z)\nc(X, Y) => a(Y, X)\nc(X, Y) => d(X, Y)\n"
        "t(X, Y), t(Y, Z) => t(X, Z)\nu(X, Y) <=> v(X, Y)\nd(X, Y) => false"
    )
    assert find_cycles(clauses) == [("a", "b", "c"), ("t",), ("u", "v")]


def test_a_long_chain_of_relations_is_no_trouble():
    clauses = [Clause(Implies(Atom(f"r{n}", X, Y), Atom(f"r{n + 1}", X, Y))) for n in range(5000)]
    assert find_cycles(clauses) == []
    clauses.append(Clause(Implies(Atom("r5000", X, Y), Atom("r0", X, Y))))
    assert [len(cycle) for cycle in find_cycles(clauses)] == [5001]


@settings(deadline=None)
@given(st.sets(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=20))
def test_cycles_are_what_mutual_reachability_says(edges):
    clauses = [Clause(Implies(Atom(f"r{a}", X, Y), Atom(f"r{b}", X, Y))) for a, b in sorted(edges)]
    reach = set(edges)
    for k in range(7):
        reach |= {(a, b) for a in range(7) for b in range(7) if (a, k) in reach and (k, b) in reach}
    groups = {
        tuple(f"r{b}" for b in range(7) if (a, b) in reach and (b, a) in reach) for a in range(7) if (a, a) in reach
    }
    assert find_cycles(clauses) == sorted(groups)
