"""The names that the room offers are there, and clauses alone need no library for facts."""

import subprocess
import sys

import pytest

import clausal.logic


@pytest.mark.parametrize("name", clausal.logic.__all__)
def test_every_public_name_can_be_imported_and_says_what_it_is(name):
    found = getattr(clausal.logic, name)
    assert found.__doc__ or name in ("Formula", "Skeleton", "Term")


def test_an_unknown_name_is_no_attribute():
    with pytest.raises(AttributeError, match="no attribute 'prove_everything'"):
        clausal.logic.prove_everything  # noqa: B018


def test_clauses_are_written_and_shaped_without_a_library_for_facts():
    program = """
import sys
from clausal.logic import Atom, Clause, Implies, Variable, print_clause, shape_of
X, Y = Variable("X"), Variable("Y")
clause = Clause(Implies(Atom("p", X, Y), Atom("q", Y, X)))
assert shape_of(clause) and print_clause(clause) == "p(X, Y) => q(Y, X)"
sys.exit(", ".join({"numpy", "duckdb", "lark", "torch"} & sys.modules.keys()) or None)
"""
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
