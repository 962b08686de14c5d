"""Class axioms of OWL and RDFS: what clauses can say is a clause, and the rest is counted by kind."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from clausal.logic import read_rules

PREFIXES = """\
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
@prefix : <http://e/> .
"""
TYPE = "'http://www.w3.org/1999/02/22-rdf-syntax-ns#type'"


def read(text, tmp_path):
    (tmp_path / "o.ttl").write_text(f"{PREFIXES}{text}\n:k a owl:SymmetricProperty .\n")
    told = []
    clauses = [str(clause) for clause in read_rules(tmp_path / "o.ttl", tell=told.append)]
    assert clauses.pop() == "http://e/k(X, Y) => http://e/k(Y, X)"
    short = [clause.replace(TYPE, "type").replace("http://e/", "") for clause in clauses]
    return short, "\n".join(told).replace(f"{tmp_path}/o.ttl: ", "")


@pytest.mark.parametrize(
    ("axiom", "clauses"),
    [
        (":A rdfs:subClassOf :B .", ["type(X, A) => type(X, B)"]),
        (":r rdfs:domain :A ; rdfs:range :B .", ["r(X, Y) => type(X, A)", "r(X, Y) => type(Y, B)"]),
        (":A owl:equivalentClass :B .", ["type(X, A) => type(X, B)", "type(X, B) => type(X, A)"]),
        (":A owl:disjointWith :B . :B owl:disjointWith :A .", ["type(X, A), type(X, B) => false"]),
        (
            "[] a owl:AllDisjointClasses ; owl:members (:A :B :C) .",
            [f"type(X, {one}), type(X, {two}) => false" for one, two in ("AB", "AC", "BC")],
        ),
        (":A rdfs:subClassOf [ owl:onProperty :r ; owl:hasValue :c ] .", ["type(X, A) => r(X, c)"]),
        ("[ owl:onProperty :r ; owl:hasValue :c ] rdfs:subClassOf :A .", ["r(X, c) => type(X, A)"]),
        (
            ":A owl:equivalentClass [ owl:intersectionOf (:B :C) ] .",
            ["type(X, A) => type(X, B)", "type(X, A) => type(X, C)", "type(X, B), type(X, C) => type(X, A)"],
        ),
        (
            ":A owl:unionOf (:B :C) .",
            ["type(X, A) => type(X, B) | type(X, C)", "type(X, B) => type(X, A)", "type(X, C) => type(X, A)"],
        ),
        (
            ":A rdfs:subClassOf [ owl:onProperty :r ; owl:allValuesFrom :B ] .",
            ["type(X, A), r(X, Z1) => type(Z1, B)"],
        ),
        (
            "[ owl:onProperty [ owl:inverseOf :r ] ; owl:someValuesFrom :B ] rdfs:subClassOf :A .",
            ["r(Z1, X), type(Z1, B) => type(X, A)"],
        ),
        (":A rdfs:subClassOf [ owl:complementOf :B ] .", ["type(X, A), type(X, B) => false"]),
        (":A rdfs:subClassOf [ owl:onProperty :r ; owl:maxCardinality 0 ] .", ["type(X, A), r(X, Z1) => false"]),
        (":A rdfs:subClassOf [ owl:onProperty :r ; owl:hasSelf true ] .", ["type(X, A) => r(X, X)"]),
        (
            "[owl:onProperty :r; owl:someValuesFrom :B] rdfs:subClassOf [owl:onProperty :s; owl:allValuesFrom :C] .",
            ["r(X, Z1), type(Z1, B), s(X, Z2) => type(Z2, C)"],
        ),
        (":A rdfs:subClassOf owl:Nothing .", ["type(X, A) => false"]),
        (
            ":A owl:disjointUnionOf (:B :C) .",
            ["type(X, A) => type(X, B) | type(X, C)", "type(X, B) => type(X, A)", "type(X, C) => type(X, A)",
             "type(X, B), type(X, C) => false"],
        ),
    ],
)  # fmt: skip
def test_what_clauses_can_say_is_said(axiom, clauses, tmp_path):
    found, told = read(axiom, tmp_path)
    assert found == clauses
    assert "left out" not in told


@pytest.mark.parametrize(
    ("axiom", "kind"),
    [
        (":A rdfs:subClassOf [ owl:onProperty :r ; owl:someValuesFrom :B ] .", "1 owl:someValuesFrom"),
        ("[ owl:onProperty :r ; owl:allValuesFrom :B ] rdfs:subClassOf :A .", "1 owl:allValuesFrom"),
        (":A rdfs:subClassOf [ owl:onProperty :r ; owl:maxCardinality 1 ] .", "1 owl:maxCardinality"),
        (":A rdfs:subClassOf [ owl:onProperty :r ; owl:hasValue 3 ] .", "1 owl:hasValue with a literal"),
        (":A rdfs:subClassOf [ owl:oneOf (:a :b) ] .", "1 owl:oneOf"),
        ("[ owl:complementOf :B ] rdfs:subClassOf :A .", "1 owl:complementOf"),
        (":r rdfs:range xsd:integer .", "1 about datatypes"),
        (":r rdfs:range [ a rdfs:Datatype ; owl:onDatatype xsd:integer ] .", "1 about datatypes"),
        (":A owl:hasKey (:r) .", "1 owl:hasKey"),
        (":a owl:sameAs :b .", "1 owl:sameAs"),
        (":A rdfs:subClassOf [ :odd :thing ] .", "1 unnamed classes of other kinds"),
        (":A rdfs:subClassOf owl:Thing .", "1 axiom about owl:Thing, which says nothing, left out"),
        ("_:x owl:complementOf _:x . :A rdfs:subClassOf _:x .", "owl:complementOf"),
        ("_:x owl:intersectionOf (_:x) . :A rdfs:subClassOf _:x .", "1 classes nested too deeply"),
    ],
)
def test_what_clauses_cannot_say_is_counted_by_kind(axiom, kind, tmp_path):
    found, told = read(axiom, tmp_path)
    assert found == []
    assert kind in told


def test_an_inverse_on_both_sides_is_two_clauses_and_one_count(tmp_path):
    found, told = read(":p owl:inverseOf :q . :q owl:inverseOf :p .", tmp_path)
    assert found == ["p(X, Y) => q(Y, X)", "q(X, Y) => p(Y, X)"]
    assert told == "2 clauses are said again, such as by an inverse on both sides, and read once"


def test_classes_beyond_any_list_of_disjoint_ones_are_left_out(tmp_path):
    names = " ".join(f":c{number}" for number in range(1000))
    found, told = read(f"[] a owl:AllDisjointClasses ; owl:members ({names}) .", tmp_path)
    assert found == []
    assert "1 owl:AllDisjointClasses with 499,500 pairs of classes were left out" in told


def test_unions_in_bodies_multiply_only_so_far(tmp_path):
    union = "[ owl:unionOf (:a :b :c :d :e) ]"
    found, told = read(f"[ owl:intersectionOf ({union * 6}) ] rdfs:subClassOf :A .", tmp_path)
    assert found == []
    assert "1 unions of too many classes" in told


def brick():
    """The path of the Brick ontology, which comes inside the package brickschema; None where that is not installed."""
    package = importlib.util.find_spec("brickschema")  # not imported: only its file is needed
    folder = None if package is None else Path(package.origin).parent / "ontologies"
    return None if folder is None else max(folder.glob("*/Brick.ttl"), default=None)


@pytest.mark.skipif(brick() is None, reason="needs the package brickschema")
def test_each_subclass_of_brick_is_a_clause_or_counted():
    from pyoxigraph import parse

    told = []
    atoms = [clause.atoms for clause in read_rules(brick(), tell=told.append)]
    said = {(body.object.name, head.object.name) for body, head in (pair for pair in atoms if len(pair) == 2)}
    stated = {
        (triple.subject.value, triple.object.value)
        for triple in parse(path=str(brick()))
        if triple.predicate.value.endswith("#subClassOf")
    }
    counted = {pair for pair in stated if pair[1].endswith(("owl#Thing", "rdf-schema#Resource"))}
    assert len(stated) > 2000
    assert stated - said == counted
    assert f": {len(counted)} axioms about owl:Thing, which says nothing" in "".join(told)
