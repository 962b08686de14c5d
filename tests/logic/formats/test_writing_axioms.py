"""Clauses as axioms of OWL: what is written reads back as the same clauses, in every syntax."""

from __future__ import annotations

import pytest

from clausal.errors import InputError
from clausal.logic import parse_clauses, read_rules, shape_of, write_rules
from clausal.logic.formats.owl import WRITTEN
from command_line import clausal, refused

TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
AXIOMS = """\
p(X, Y) => q(X, Y)
p(X, Y) => q(Y, X)
s(X, Y) => t(Y, X)
t(X, Y) => s(Y, X)
p(X, Y) => p(Y, X)
p(X, Y), p(Y, Z) => p(X, Z)
p(X, A), q(B, A), s(B, Y) => t(X, Y)
p(X, Y), q(X, Y) => false
p(X, Y), q(Y, X) => false
p(X, Y), p(Y, X) => false
p(X, X) => false
p(X, X)
type(X, a1) => type(X, b1)
type(X, a1), type(X, b1) => type(X, c1)
type(X, a1), type(X, c1) => false
type(X, a1) => false
type(X, a1) => p(X, e1)
p(X, e1) => type(X, a1)
p(e1, X) => q(X, e2)
p(X, Y) => type(X, a1)
p(X, Y) => type(Y, a1)
p(X, Y) => q(X, e1)
type(X, a1) => p(X, X)
"""
OTHERS = ["p(X, Y) => q(X, Y) | s(X, Y)", "p(X, Y), q(X, Y) => s(X, Y)", "p(X, e1), q(Y, X) => s(X, Y)",
          "p(e1, e2) => q(e1, e2)", "type(X, Y) => q(X, Y)", "p(X, Y), q(Y, Z), s(Z, X) => false"]  # fmt: skip


def over_iris(text):
    import re

    text = re.sub(r"\b([pqst])\(", r"http://e/\1(", text)
    return re.sub(r"\b([abce][0-9])\b", r"http://e/\1", text).replace("type(", f"'{TYPE}'(")


def meanings(clauses):
    """What clauses say, whatever their variables are called, and with the atoms of a constraint in any order."""
    return {shape_of(clause) for clause in clauses}


@pytest.mark.parametrize("ending", WRITTEN)
def test_axioms_read_back_in_every_syntax(ending, tmp_path):
    clauses = parse_clauses(over_iris(AXIOMS))
    path = tmp_path / f"axioms{ending}"
    told = []
    write_rules(path, clauses, tell=told.append)
    assert meanings(read_rules(path)) == meanings(clauses)
    assert told == []


@pytest.mark.parametrize("clause", OTHERS)
def test_what_is_no_axiom_is_left_out_and_said(clause, tmp_path):
    clauses = parse_clauses(over_iris(f"p(X, Y) => q(X, Y) <0.5>\n{clause}\n"))
    told = []
    write_rules(tmp_path / "o.nt", clauses, tell=told.append)
    assert meanings(read_rules(tmp_path / "o.nt")) == meanings(clauses[:1])
    assert "1 of 2 clauses are no axioms of OWL" in told[0]
    assert "the weights of 1 of the written clauses" in told[1]


def test_nothing_but_clauses_that_are_no_axioms_is_refused(tmp_path):
    with pytest.raises(InputError, match="none of the clauses is an axiom"):
        write_rules(tmp_path / "o.ttl", parse_clauses("p(X, Y) => q(X, Y)"))  # names that are no IRIs
    assert list(tmp_path.iterdir()) == []


def test_an_impossible_ending_is_refused_before_the_work(tmp_path):
    (tmp_path / "r.txt").write_text(over_iris("p(X, Y) => q(X, Y)\n"))
    refused(clausal("clauses", tmp_path / "r.txt", "--out", tmp_path / "x.parquet"), "are not written as .parquet")
    refused(clausal("mine", "nowhere", "--out", tmp_path / "x.json"), "are not written as .json")
    refused(clausal("clauses", tmp_path / "r.txt", "--to", "kale", "--out", tmp_path / "x.ttl"), ".ttl is RDF")
    refused(clausal("clauses", tmp_path / "r.txt", "--to", "owl", "--out", tmp_path / "x.txt"), "written as RDF")
    assert clausal("clauses", tmp_path / "r.txt", "--out", tmp_path / "x.owl").code == 0
    assert "<rdf:RDF" in (tmp_path / "x.owl").read_text()
