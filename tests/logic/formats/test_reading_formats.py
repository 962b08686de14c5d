"""Rule files in the syntax their programs publish: found out by detection, read with confidence and support."""

from __future__ import annotations

import bz2
import gzip
from pathlib import Path

import pyarrow as pa
import pytest

from clausal.logic import FORMATS, read_clauses, read_rules
from clausal.logic.formats import detect_format

FILES = Path(__file__).with_name("files")
E = "http://example.org/"

# The file, its format, and of each clause: what it says, its confidence, its support.
PUBLISHED = {
    "fb122_rule": (
        "kale",
        [
            ("/location/country/capital(x, y) => /location/location/contains(x, y)", None, None),
            ("/location/location/contains(x, y) => /location/location/containedby(y, x)", None, None),
            (
                "/people/person/born(x, y), /location/location/containedby(y, z) => /people/person/nationality(x, z)",
                None,
                None,
            ),
        ],
    ),
    "rules.pl": (
        "prolog",
        [
            ("located_in(X, Y), located_in(Y, Z) => located_in(X, Z)", None, None),
            ("capital_of(X, Y) => located_in(X, Y)", None, None),
            ("born:in(X, Y) => 'Lives In'(X, Y) <0.9>", None, None),
            ("lives_in(X, Y), /ns/place.type(Y, Z) => speaks(X, 'Esperanto')", None, None),
        ],
    ),
    "anyburl-rules": (
        "anyburl",
        [
            ("lives_in(X, A), language_of(A, Y) => speaks(X, Y) <0.6992551210428305>", 0.6992551210428305, 1502),
            ("lives_in(X, dd) => speaks(X, X) <0.9>", 0.9, 18),
            ("married(X, cc) <0.7142857142857143>", 0.7142857142857143, 5),
            ("lives_in(X, dd) => knows(X, X) <0.25>", 0.25, 3),
            (
                "near('Y_Z', X), lived(X, 'Paris_(Texas)'), at(A, X) => born(X, 'Washington,_D.C.') <0.75>",
                0.75,
                30,
            ),
            ("/e/f(Y, X) => /a/b./c/d(X, Y)", 1.0, 6),
        ],
    ),
    "amie3.tsv": (
        "amie",
        [
            ("'<hasChild>'(?a, ?b) => '<hasParent>'(?b, ?a) <0.6>", 0.6, 12),
            ("'<bornIn>'(?e, ?a), '<capitalOf>'(?e, ?b) => '<in>'(?a, ?b) <0.5>", 0.5, 4),
            ("'<siblingOf>'(?a, ?c), '<siblingOf>'(?c, ?b) => '<siblingOf>'(?a, ?b) <0.4>", 0.4, 2),
            ("'<livesIn>'(?a, 'New York') => '<citizenOf>'(?a, 'USA') <0.25>", 0.25, 1),
        ],
    ),
    "amie_plus.txt": ("amie", [("isMarriedTo(?b, ?a) => isMarriedTo(?a, ?b) <0.5>", 0.5, 10)]),
    "FB15K_rule": (
        "ruge",
        [
            ("/film/producer/film(?b, ?a) => /film/film/produced_by(?a, ?b) <0.901482127>", 0.901482127, None),
            ("/people/person/born(?a, ?c), /location/in(?c, ?b) => /people/person/nationality(?a, ?b)", 1.0, None),
        ],
    ),
    "_cons.txt": (
        "aer",
        [
            ("doctoralAdvisor(Y, X) => doctoralStudent(X, Y) <0.956989247>", 0.956989247, None),
            ("officialLanguage(X, Y) => language(X, Y) <0.933014354>", 0.933014354, None),
            ("partner(Y, X) => partner(X, Y)", 1.0, None),
        ],
    ),
    "axiom_symmetric.txt": ("itere", [("_also_see(X, Y) => _also_see(Y, X)", None, None)]),
    "axiom_inverse.txt": ("itere", [("_hypernym(X, Y) => _hyponym(Y, X)", None, None)]),
    "axiom_inferenceChain1.txt": ("itere", [("_brother(Z, X), _child(Z, Y) => _uncle(X, Y)", None, None)]),
    "rnnlogic/mined_rules.txt": (
        "rnnlogic",
        [
            ("parent(X, Z1), sibling(Z1, Y) => grandparent(X, Y)", None, None),
            ("parent(Y, X) => grandparent(X, Y)", None, None),
            ("sibling(Z1, X), parent(Z1, Z2), grandparent(Y, Z2) => sibling(X, Y)", None, None),
            ("parent(X, X)", None, None),
        ],
    ),
    "rules.json": (
        "rdfrules",
        [
            ("http://dbpedia.org/ontology/artist(?c, ?a) => created(?a, ?c) <0.97>", 0.97, 845),
            (
                "participatedIn(?a, 'Turbot_War'), imports(?a, ?b) => dealsWith(?a, ?b) <0.6363636363636364>",
                0.6363636363636364,
                14,
            ),
        ],
    ),
    "axioms.ttl": (
        "owl",
        [
            (text, None, None)
            for text in (
                f"{E}capitalOf(X, Y) => {E}locatedIn(X, Y)",
                f"{E}spouse(X, Y) => {E}marriedTo(X, Y)",
                f"{E}marriedTo(X, Y) => {E}spouse(X, Y)",
                f"{E}spouse(X, Y) => {E}spouse(Y, X)",
                f"{E}parentOf(X, Y) => {E}childOf(Y, X)",
                f"{E}childOf(X, Y) => {E}parentOf(Y, X)",
                f"{E}parentOf(X, Y), {E}parentOf(Y, X) => false",
                f"{E}locatedIn(X, Y), {E}locatedIn(Y, Z) => {E}locatedIn(X, Z)",
                f"{E}brotherOf(X, Z1), {E}parentOf(Z1, Y) => {E}uncleOf(X, Y)",
                f"{E}parentOf(Z1, X), {E}siblingOf(Z1, Y) => {E}nephewOf(X, Y)",
                f"{E}parentOf(X, Y), {E}siblingOf(X, Y) => false",
            )
        ],
    ),
    "axioms.owl": ("owl", [(f"{E}capitalOf(X, Y) => {E}locatedIn(X, Y)", None, None)]),
    "axioms.nt": ("owl", [(f"{E}capitalOf(X, Y) => {E}locatedIn(X, Y)", None, None)]),
}
every_file = pytest.mark.parametrize("name", PUBLISHED)


def what(clauses):
    return [(str(clause).replace("?", ""), clause.confidence, clause.support) for clause in clauses]


def expected(name):
    return [(text.replace("?", ""), confidence, support) for text, confidence, support in PUBLISHED[name][1]]


def test_every_format_has_a_file():
    assert {format for format, _ in PUBLISHED.values()} | {"clausal"} == set(FORMATS)


@every_file
def test_a_published_file_is_recognised_and_read(name):
    assert detect_format(FILES / name) == PUBLISHED[name][0]
    assert what(read_clauses(FILES / name)) == expected(name)


@every_file
def test_reading_by_name_is_reading_by_detection(name):
    assert what(read_rules(FILES / name, PUBLISHED[name][0])) == expected(name)


@every_file
def test_weight_is_confidence(name):
    for clause in read_rules(FILES / name):
        assert clause.confidence is None or clause.weight == clause.confidence


@every_file
def test_windows_line_ends_a_byte_order_mark_and_gzip_change_nothing(name, tmp_path):
    content = b"\xef\xbb\xbf" + (FILES / name).read_bytes().replace(b"\n", b"\r\n")
    copy = tmp_path / f"{Path(name).name}.gz"
    copy.write_bytes(gzip.compress(content))
    (tmp_path / "relations.dict").write_bytes((FILES / "rnnlogic" / "relations.dict").read_bytes())
    assert what(read_rules(copy)) == expected(name)


def test_other_compressions_change_nothing(tmp_path):
    content = (FILES / "axioms.ttl").read_bytes()
    (tmp_path / "axioms.ttl.bz2").write_bytes(bz2.compress(content))
    (tmp_path / "axioms.ttl.zst").write_bytes(pa.compress(content, "zstd", asbytes=True))
    for copy in tmp_path.iterdir():
        assert what(read_rules(copy)) == expected("axioms.ttl")


@every_file
def test_clauses_know_their_file_and_lines_count_on(name):
    clauses = read_rules(FILES / name)
    assert {clause.source for clause in clauses} == {str(FILES / name)}
    lines = [clause.line for clause in clauses]
    if PUBLISHED[name][0] != "owl":
        text = (FILES / name).read_text().split("\n")
        assert lines == sorted(set(lines))
        assert all(text[line - 1].strip() for line in lines)


def test_what_a_clause_cannot_say_is_told():
    told = []
    read_rules(FILES / "amie3.tsv", tell=told.append)
    read_rules(FILES / "axioms.ttl", tell=told.append)
    assert "1 rule had a condition such as ?a!=?b" in told[0]
    assert "1 functional" in told[1]


@pytest.mark.parametrize(
    ("kind", "line", "clause"),
    [
        ("reflexive", "r", "r(X, Y) => r(X, X)"),
        ("transitive", "r", "r(X, Y), r(Y, Z) => r(X, Z)"),
        ("equivalent", "r\ts", "r(X, Y) => s(X, Y)"),
        ("subProperty", "r\ts\t0.8", "r(X, Y) => s(X, Y) <0.8>"),
        ("inferenceChain2", "r\ts\tt", "s(Z, X), t(Y, Z) => r(X, Y)"),
        ("inferenceChain3", "r\ts\tt", "s(X, Z), t(Z, Y) => r(X, Y)"),
        ("inferenceChain4", "r\ts\tt", "s(X, Z), t(Y, Z) => r(X, Y)"),
    ],
)
def test_each_kind_of_axiom_of_itere(kind, line, clause, tmp_path):
    path = tmp_path / f"axiom_{kind}.txt"
    path.write_text(f"{line}\n")
    assert [str(read) for read in read_rules(path)] == [clause]


@pytest.mark.parametrize(
    ("rule", "clause"),
    [
        ("h(me_myself_i,Y) <= b(Y,cc)", "b(Y, cc) => h(Y, Y)"),
        ("h(X,me_myself_i) <= b(X,A)", "b(X, A) => h(X, X)"),
        ("h(X,cc) <= b(me_myself_i,X), d(A,me_myself_i)", "b(X, X), d(A, A) => h(X, cc)"),
        ("h(X,me_myself_it) <= b(X,me)", "b(X, me) => h(X, me_myself_it)"),
    ],
)
def test_the_equality_token_of_anyburl_is_the_other_argument(rule, clause, tmp_path):
    (tmp_path / "rules").write_text(f"5\t4\t0.8\t{rule}\n")
    assert [str(read) for read in read_rules(tmp_path / "rules")] == [f"{clause} <0.8>"]


def test_the_log_of_amie_may_have_arrows(tmp_path):
    log = "Mining => done in 3 s\nUsing HeadCoverage => 0.01\n"
    rules = "?a  p  ?b   => ?b  q  ?a\t0.1\t0.5\t0.6\t7\n"
    (tmp_path / "rules").write_text(
        f"{log}Rule\tHead Coverage\tStd Confidence\tPCA Confidence\tPositive Examples\n{rules}{log}"
    )
    (clause,) = read_rules(tmp_path / "rules")
    assert (str(clause), clause.support) == ("p(a, b) => q(b, a) <0.5>", 7)


@pytest.mark.parametrize(
    ("header", "cells", "confidence", "support"),
    [
        ("Rule\tSupport\tConfidence\tPCA Confidence", "3.01%\t53.5%\t91.8%", 0.535, None),
        ("Rule\tSupport\tStd. Confidence\tPositive Examples", "3.01%\t53.5%\t12", 0.535, 12),
        ("Rule\tSupport\tPCA Confidence", "12\t0,25", 0.25, 12),
    ],
)
def test_the_oldest_tables_of_amie_have_percentages(header, cells, confidence, support, tmp_path):
    (tmp_path / "rules").write_text(f"{header}\n?a  p  ?b   => ?b  q  ?a\t{cells}\n")
    assert detect_format(tmp_path / "rules") == "amie"
    (clause,) = read_rules(tmp_path / "rules")
    assert (clause.confidence, clause.support) == (pytest.approx(confidence), support)


def test_ids_are_numbered_by_a_dictionary_beside_or_by_names_that_are_given(tmp_path):
    rules = tmp_path / "rules.txt"
    rules.write_text("0 1\n1 2\n")
    assert [str(clause) for clause in read_rules(rules, names=["p", "q"])] == [
        "q(X, Y) => p(X, Y)",
        "p(Y, X) => q(X, Y)",
    ]
    (tmp_path / "relation2id.txt").write_text("2\np\t0\nq\t1\n")
    assert read_rules(rules) == read_rules(rules, names=["p", "q"])
    # RNNLogic's own dictionaries can list the inverse relations too
    assert read_rules(rules, names=["p", "q", "!p", "!q"]) == read_rules(rules, names=["p", "q"])


@pytest.mark.parametrize(
    "text",
    [
        "p(?a, ?b) => q(?a, ?b)",
        "p(?a , b) => q(?a , ?b)\t% tab",
        "h(X, Y) <= b(X, A), c(A, Y)",
        "0.9::p(X, Y) => q(X, Y)",
        "'a,b'(X, Y) => q(X, Y)",
        "3(X, Y) => 4(X, Y)",
        "% 1 2 3\np(X, Y) => q(X, Y)",
    ],
)
def test_the_clause_language_is_not_taken_for_another_format(text, tmp_path):
    (tmp_path / "rules.txt").write_text(text)
    assert detect_format(tmp_path / "rules.txt") == "clausal"
    assert len(read_clauses(tmp_path / "rules.txt")) == 1
