"""Time grows with the length of a clause, not with its square."""

import time

import pytest

from clausal.graph import Names
from clausal.logic import parse_clause
from clausal.logic.check import find_problems
from clausal.logic.review import find_duplicates, find_tautologies


def chain(atoms):
    return f"{', '.join(f'r{i}(X{i}, X{i + 1})' for i in range(atoms))} => r(X0, X{atoms})"


def star(atoms):
    return f"{', '.join(f'r(X{i}, Y)' for i in range(atoms))} => r(Y, Y)"


def anonymous(atoms):
    return f"{', '.join(['r(_, Y)'] * atoms)} => r(Y, Y)"


def seconds(function, argument):
    """The least of three times."""
    times = []
    for _ in range(3):
        started = time.perf_counter()
        function(argument)
        times.append(time.perf_counter() - started)
    return min(times)


def all_of_it(text):
    clause = parse_clause(text)
    find_problems([clause], Names(["a"], "entity"), Names(["r"], "relation"))
    find_tautologies([clause])
    find_duplicates([clause, clause])
    return str(clause)


@pytest.mark.parametrize("text", [chain, star, anonymous])
def test_four_times_the_atoms_take_no_sixteen_times_as_long(text):
    parse_clause("p(X, Y) => q(X, Y)")  # which loads the grammar
    assert seconds(all_of_it, text(8000)) < 8 * seconds(all_of_it, text(2000))


def test_fresh_names_are_no_part_of_other_names():
    assert str(parse_clause("p(_, Y), q_3(_, _12), s(_, a_20000000000) => r(Y, Y)")) == (
        "p(_4, Y), q_3(_5, _12), s(_6, a_20000000000) => r(Y, Y)"
    )


def test_long_clauses_are_the_same_in_any_order():
    atoms = [f"r{i}(X{i}, X{i + 1})" for i in range(200)]
    same = [", ".join(order) + " => r(X0, X200)" for order in (atoms, atoms[::-1], atoms[50:] + atoms[:50])]
    other = same[0].replace("r3(X3, X4)", "r3(X4, X3)")
    clauses = [parse_clause(text) for text in (*same, other)]
    assert find_duplicates(clauses) == [tuple(clauses[:3])]
