"""Clauses with names that the graph lacks: left out or refused, derived by a closure; variables that are entities."""

from __future__ import annotations

import pytest

from clausal.graph import Graph, Names
from clausal.logic import parse_clauses
from clausal.logic.unknown import fit_clauses, widened
from command_line import clausal, refused
from small_graphs import train_options

ONTOLOGY = """\
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix : <http://e/> .
:feeds owl:inverseOf :fedBy .
:near a owl:SymmetricProperty .
:supplies rdfs:subPropertyOf :near .
:A rdfs:subClassOf :B . :B rdfs:subClassOf :C . :U rdfs:subClassOf :V .
"""
FACTS = """\
<http://e/x> <http://e/feeds> <http://e/y> .
<http://e/y> <http://e/feeds> <http://e/z> .
<http://e/x> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://e/A> .
"""


@pytest.fixture
def building(tmp_path):
    (tmp_path / "o.ttl").write_text(ONTOLOGY)
    (tmp_path / "facts.nt").write_text(FACTS)
    return tmp_path


def test_a_closure_derives_relations_and_classes_that_the_graph_lacks(building):
    result = clausal("closure", building / "facts.nt", "--clauses", building / "o.ttl", "--out", building / "c.tsv")
    assert result.code == 0, result.stderr
    derived = {tuple(line.split("\t")) for line in (building / "c.tsv").read_text().splitlines()}
    assert ("http://e/y", "http://e/fedBy", "http://e/x") in derived
    assert ("http://e/x", "http://www.w3.org/1999/02/22-rdf-syntax-ns#type", "http://e/C") in derived
    assert len(derived) == 3 + 2 + 2
    assert "can derive 1 relation that the graph does not have: fedBy" in result.stderr
    assert "3 of 7 clauses are left out, as the graph does not have 2 relations" in result.stderr
    assert "U" in result.stderr.partition("constant")[2]


def test_a_fact_of_a_new_relation_is_proved(building):
    result = clausal(
        "prove", building / "facts.nt", "http://e/fedBy(http://e/y, http://e/x)", "--clauses", building / "o.ttl"
    )
    assert result.code == 0, result.stderr


def test_strictness_can_be_asked_for(building):
    result = clausal("closure", building / "facts.nt", "--clauses", building / "o.ttl", "--unknown", "error")
    refused(result, "unknown relation 'http://e/near'", "3 clauses of 7: --unknown skip leaves them out")


def test_hand_written_clauses_are_refused_unless_asked_otherwise(graph_folder, tmp_path):
    rules = tmp_path / "rules.txt"
    rules.write_text("mangaes(X, Y) => outranks(X, Y)\nmanages(X, Y) => outranks(X, Y)\n")
    options = train_options(graph_folder)
    options[options.index("--clauses") + 1] = rules
    refused(clausal(*options, "--out", tmp_path / "run"), "did you mean 'manages'?", "1 clause of 2: --unknown skip")
    result = clausal(*options, "--unknown", "skip", "--out", tmp_path / "run")
    assert result.code == 0, result.stderr
    assert "1 of 2 clauses are left out" in result.stderr
    assert (tmp_path / "run" / "clauses.txt").read_text().strip() == "manages(X, Y) => outranks(X, Y)"
    for command in (["certify", tmp_path / "run"], ["evaluate", tmp_path / "run", "--ranking", "entailed"]):
        refused(clausal(*command, "--clauses", rules), "did you mean 'manages'?")
        assert clausal(*command, "--clauses", rules, "--unknown", "skip").code == 0


def test_clauses_of_which_none_fits_are_refused(graph_folder, tmp_path):
    (tmp_path / "o.ttl").write_text(ONTOLOGY)
    options = train_options(graph_folder)
    options[options.index("--clauses") + 1] = tmp_path / "o.ttl"
    refused(clausal(*options, "--out", tmp_path / "run"), "none of its 7 clauses speaks of names that the graph has")


def test_a_new_relation_is_derived_and_a_slip_of_the_pen_refused(graph_folder, tmp_path):
    (tmp_path / "new.txt").write_text("manages(X, Y), manages(Y, Z) => grand_manages(X, Z)\n")
    result = clausal("closure", graph_folder, "--clauses", tmp_path / "new.txt")
    assert result.code == 0, result.stderr
    (tmp_path / "slip.txt").write_text("manages(X, Y) => outrank(X, Y)\n")
    refused(clausal("closure", graph_folder, "--clauses", tmp_path / "slip.txt"), "did you mean 'outranks'?")
    assert clausal("closure", graph_folder, "--clauses", tmp_path / "slip.txt", "--unknown", "skip").code == 0


def test_names_are_derived_through_chains_of_clauses_and_not_from_nothing():
    graph = Graph.from_triples([("a", "p", "b")])
    clauses = parse_clauses(
        "q(X, Y) => r(X, cc)\np(X, Y) => q(X, Y)\nr(X, cc) => s(X, dd)\nz(X, Y) => y(X, Y)\ny(X, Y) => z(X, Y)"
    )
    wide = widened(graph, clauses)
    assert list(wide.relations) == ["p", "q", "r", "s"]
    assert list(wide.entities)[:2] == list(graph.entities)
    assert set(wide.entities) == {"a", "b", "cc", "dd"}
    fit = fit_clauses(clauses, wide.entities, wide.relations)
    assert (fit.clauses, fit.relations, fit.constants) == (clauses[:3], ["z", "y"], [])
    assert widened(graph, clauses[3:]) is graph


def test_a_variable_that_is_an_entity_is_said_once(tmp_path):
    (tmp_path / "g.tsv").write_text("Victoria\tchild_of\tEdward\nX\tchild_of\tVictoria\n")
    (tmp_path / "r.txt").write_text(
        "child_of(X, Victoria) => royal(X, Victoria)\nchild_of(X, Victoria) => royal(X, X)\n"
    )
    said = clausal("closure", tmp_path / "g.tsv", "--clauses", tmp_path / "r.txt").stderr
    assert said.count("is a variable here, and an entity of the graph; to mean the entity, write 'Victoria'") == 1
    assert "note: X is a variable, and an entity of the graph" in said
    quoted = clausal("clauses", tmp_path / "r.txt", "--graph", tmp_path / "g.tsv", "--test", "0", "--valid", "0").stderr
    assert "write 'Victoria'" in quoted


RELATIONS = Names(["https://b/Brick#feeds", "http://www.w3.org/2000/01/rdf-schema#label", "located_in"], "relation")


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("feeds", "https://b/Brick#feeds"),
        ("brick:feeds", "https://b/Brick#feeds"),
        ("http://other/feeds", "https://b/Brick#feeds"),
        ("https://b/Brick#fedes", "https://b/Brick#feeds"),
        ("http://www.w3.org/2004/02/skos/core#broader", None),
        ("https://b/Brick#hasPart", None),
        ("locatd_in", "located_in"),
    ],
)
def test_a_suggestion_is_near(name, near):
    assert RELATIONS.suggestion(name) == (f"; did you mean '{near}'?" if near else "")


def test_a_file_is_filtered_by_its_own_figures(tmp_path):
    rules = tmp_path / "mined"
    rules.write_text("20\t18\t0.9\tp(X,Y) <= q(X,Y)\n90\t9\t0.1\tp(X,Y) <= q(Y,X)\n4\t3\t0.75\tq(X,Y) <= p(Y,X)\n")
    kept = clausal("clauses", rules, "--min-confidence", 0.3, "--min-support", 10)
    assert kept.stdout == "q(X, Y) => p(X, Y) <0.9>  % confidence 0.9, support 18\n"
    assert "2 of 3 clauses have a confidence of at least 0.3 in the file" in kept.stderr
    (tmp_path / "again").write_text(kept.stdout)
    assert clausal("clauses", tmp_path / "again", "--min-support", 19).stdout == ""
    (tmp_path / "plain").write_text("p(X, Y) => q(X, Y) <0.9>\n")
    refused(clausal("clauses", tmp_path / "plain", "--min-confidence", 0.3), "gives no confidence of its clauses")


def test_the_clauses_are_shown_and_all_on_demand(tmp_path):
    (tmp_path / "rules").write_text("".join(f"p{n}(X, Y) => q(X, Y)\n" for n in range(30)))
    shown = clausal("clauses", tmp_path / "rules").stdout
    assert "p19(X, Y) => q(X, Y)" in shown
    assert "p20(X, Y)" not in shown
    assert "and 10 more: --all shows all clauses" in shown
    assert "p29(X, Y) => q(X, Y)" in clausal("clauses", tmp_path / "rules", "--all").stdout
