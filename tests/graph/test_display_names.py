"""Display names: short forms and labels tell names apart, and lead back to the full names."""

import random
from dataclasses import replace

import pyarrow as pa
import pytest

from clausal.errors import InputError, count
from clausal.graph import Graph
from clausal.graph.labels import user_language
from clausal.graph.prefixes import COMMON, Prefixes
from clausal.graph.query import parse_query
from clausal.graph.rdf_names import iri_to_name, name_to_iri, rdf_term
from clausal.logic.parser import parse_clauses
from clausal.logic.resolve import resolve_names

BRICK, BUILDING = COMMON["brick"], "http://example.org/bldg#"
LABEL, PREFERRED = "http://www.w3.org/2000/01/rdf-schema#label", "http://www.w3.org/2004/02/skos/core#prefLabel"


def graph_of(*facts, prefixes=None, labels=()):
    columns = list(zip(*labels, strict=True)) or [[]] * 4
    names = ("subject", "property", "value", "language")
    table = pa.table({name: pa.array(column, pa.string()) for name, column in zip(names, columns, strict=True)})
    table = table.append_column("datatype", pa.array([""] * len(table), pa.string()))
    return replace(Graph.from_triples(facts), prefixes=prefixes or {}, literals=table)


@pytest.fixture
def building():
    return graph_of(
        (f"{BUILDING}ahu_A1", f"{BRICK}feeds", f"{BUILDING}vav_1"),
        ("http://other.org/ahu_A1", "http://other.org/feeds", "a plain name"),
        ("http://other.org/zone", "knows", "a plain name"),
        prefixes={"bldg": BUILDING},
        labels=[
            (f"{BUILDING}ahu_A1", LABEL, "Air handler", "en"),
            (f"{BUILDING}ahu_A1", LABEL, "Lüftung", "de"),
            (f"{BUILDING}ahu_A1", PREFERRED, "AHU", "en"),
            (f"{BUILDING}vav_1", LABEL, "Box", ""),
            ("http://other.org/zone", LABEL, "Box", "fr"),
        ],
    )


def test_prefixes_of_the_file_then_common_ones_then_local_names(building):
    shown = building.display
    assert shown.entity(f"{BUILDING}ahu_A1") == "bldg:ahu_A1"
    assert shown.relation(f"{BRICK}feeds") == "brick:feeds"
    assert shown.entity("http://other.org/zone") == "zone"
    assert shown.entity("a plain name") == "a plain name"
    assert shown.entity("http://other.org/ahu_A1") == "http://other.org/ahu_A1"  # two names end so
    assert shown.styled("full").relation(f"{BRICK}feeds") == f"{BRICK}feeds"


def test_labels_are_in_the_users_language_and_told_apart(building, monkeypatch):
    for variable in ("LC_ALL", "LC_MESSAGES", "LANG"):
        monkeypatch.delenv(variable, raising=False)
    assert building.display.styled("label").entity(f"{BUILDING}ahu_A1") == "AHU"  # preferred, in English
    monkeypatch.setenv("LANG", "de_AT.UTF-8")
    german = replace(building).display.styled("label")
    assert german.entity(f"{BUILDING}ahu_A1") == "Lüftung"
    assert german.entity(f"{BUILDING}vav_1") == "Box (bldg:vav_1)"
    assert german.entity("http://other.org/zone") == "Box (zone)"
    assert german.relation(f"{BRICK}feeds") == "brick:feeds"


@pytest.mark.parametrize(
    ("value", "language"), [("C", "en"), ("C.UTF-8", "en"), ("pt_BR.UTF-8", "pt-br"), ("fr", "fr")]
)
def test_the_language_is_that_of_the_environment(value, language, monkeypatch):
    monkeypatch.setenv("LC_ALL", value)
    assert user_language() == language


@pytest.mark.parametrize(
    "query",
    [
        "brick:feeds(bldg:ahu_A1, ?)",
        "brick:feeds(AHU, ?)",
        "brick:feeds('air handler', ?)",
        'brick:feeds("Lüftung", ?)',
        f"brick:feeds(<{BUILDING}ahu_A1>, ?)",
        f"{BRICK}feeds({BUILDING}ahu_A1, ?)",
    ],
)
def test_a_question_takes_any_form_of_a_name(query, building):
    assert parse_query(query, building)[:2] == (f"{BUILDING}ahu_A1", f"{BRICK}feeds")


def test_an_ambiguous_name_lists_what_it_can_mean(building):
    with pytest.raises(InputError, match=r"'feeds' can mean 2 names.*\n(.*\n)?  brick:feeds"):
        parse_query("feeds(zone, ?)", building)
    with pytest.raises(InputError, match="'Box' can mean 2 names"):
        parse_query("knows(Box, ?)", building)
    assert parse_query("knows(Box (zone), ?)", building).subject == "http://other.org/zone"
    with pytest.raises(InputError, match="did you mean 'brick:feeds'"):
        parse_query("brick:feds(zone, ?)", building)


def test_every_shown_name_leads_back_and_no_two_look_alike():
    random.seed(0)
    starts = [
        "http://a.org/",
        "http://a.org/x#",
        BRICK,
        "urn:x:",
        "http://a.org/x/",
        "",
        "brick:",
        "p:",
        "http://p.org/",
    ]
    ends = ["a", "b", "feeds", "x#a", "a (b)", "", "?", "ünï", "a/b", "x:a", "1"]
    names = [start + end for start in starts for end in ends if start + end]
    labels = [(name, LABEL, random.choice(["a", "b", "Thing", "zone", " "]), "") for name in names[::2]]
    facts = [(one, random.choice(names), other) for one, other in zip(names, reversed(names), strict=True)]
    graph = graph_of(*facts, prefixes={"p": "http://p.org/", "": "http://a.org/x/"}, labels=labels)
    for style in ("short", "label", "full"):
        shown = [graph.display.styled(style).entity(name) for name in graph.entities]
        assert len(set(shown)) == len(shown)
        for name, text in zip(graph.entities, shown, strict=True):
            assert graph.display.find(text, graph.entities) == [name], (style, text)


def test_a_file_may_give_a_common_prefix_another_meaning():
    prefixes = Prefixes({"brick": "http://mine.org/"})
    assert prefixes.expand("brick:x") == "http://mine.org/x"
    assert prefixes.shorten(f"{BRICK}x") is None


def test_clauses_may_have_short_names(building):
    clauses = parse_clauses("brick:feeds(X, Y) => knows(Y, X)\nbrick:feeds(X, bldg:vav_1) => lacks(X, X)\n")
    first, second = resolve_names(clauses, building)
    assert [atom.relation for atom in first.atoms] == [f"{BRICK}feeds", "knows"]
    assert second.atoms[0].object.name == f"{BUILDING}vav_1"
    assert second.atoms[1].relation == "lacks"  # left for the check
    with pytest.raises(InputError, match=r"line 1.*'feeds' can mean 2|'feeds' can mean 2"):
        resolve_names(parse_clauses("feeds(X, Y) => knows(Y, X)"), building)


@pytest.mark.parametrize(
    "name", ["a b", "http://x.org/a b", "urn:clausal:name:x", "%41", "ä/ö", "http://x.org/a", "<>"]
)
def test_a_name_can_be_read_back_from_its_iri(name):
    assert iri_to_name(name_to_iri(name)) == name


def test_literals_and_blank_nodes_are_terms_where_rdf_allows_them():
    assert rdf_term('"Paris"@fr') == '"Paris"@fr'
    assert rdf_term('"1"^^http://www.w3.org/2001/XMLSchema#int') == '"1"^^<http://www.w3.org/2001/XMLSchema#int>'
    assert rdf_term('"Paris"@fr', place="subject").startswith("<urn:clausal:name:%22Paris")
    assert rdf_term("_:b0") == "_:b0"
    assert rdf_term("_:b0", place="relation").startswith("<urn")


def test_one_thing_is_not_several():
    assert [count(1, "clause"), count(2000, "clause"), count(0, "entity", "entities")] == [
        "1 clause",
        "2,000 clauses",
        "0 entities",
    ]
