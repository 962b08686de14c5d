"""Ontologies that mean harm, or are larger than anyone meant: they end soon, in little memory and with one message."""

import pytest

from clausal.errors import InputError
from clausal.logic import read_rules
from command_line import refused, run_forked

OWL = "http://www.w3.org/2002/07/owl#"
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
PREFIXES = f"@prefix owl: <{OWL}> .\n@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .\n@prefix : <http://e/> .\n"


def xml(declarations, text="", name="http://e/a"):
    """RDF/XML that declares entities, with a subproperty of ``name`` and a comment."""
    return f"""<?xml version="1.0"?>
<!DOCTYPE rdf:RDF [
{declarations}
]>
<rdf:RDF xmlns:rdf="{RDF}" xmlns:rdfs="http://www.w3.org/2000/01/rdf-schema#">
<rdf:Description rdf:about="{name}"><rdfs:subPropertyOf rdf:resource="http://e/b"/>
<rdfs:comment>{text}</rdfs:comment></rdf:Description></rdf:RDF>
"""


def nested(levels):
    """Entities of which each stands for ten of the one before."""
    deeper = (f'<!ENTITY a{level} "{f"&a{level - 1};" * 10}">' for level in range(1, levels))
    return "\n".join(['<!ENTITY a0 "aaaaaaaaaa">', *deeper])


BOMBS = {
    "nested, never used": xml(nested(8)),
    "nested and used": xml(nested(8), "&a7;"),
    "deep": xml(nested(9000)),
    "many references": xml(f'<!ENTITY a "{"a" * 100_000}">', "&a;" * 10_000),
    "after a redefinition": xml(f'<!ENTITY a "{"a" * 100_000}">\n<!ENTITY a\t"a">', "&a;" * 10_000),
}


@pytest.mark.parametrize("name", BOMBS)
def test_entities_that_stand_for_too_much_are_refused_in_little_memory(name, tmp_path):
    (tmp_path / "bomb.owl").write_text(BOMBS[name])
    result = run_forked("clauses", tmp_path / "bomb.owl", log=tmp_path / "log")
    refused(result, "bomb.owl: its entities (<!ENTITY …>) stand for more than 32 times the text")
    assert result.memory < 50e6


def test_entities_that_shorten_names_are_read(tmp_path):
    declared = '<!ENTITY e "http://example.org/an/ontology/of/some/length#">\n<!ENTITY deep "&e;deep/">'
    (tmp_path / "o.owl").write_text(xml(declared, "&e; " * 5000, name="&deep;capital"))
    clauses = [str(clause) for clause in read_rules(tmp_path / "o.owl")]
    assert clauses == ["'http://example.org/an/ontology/of/some/length#deep/capital'(X, Y) => http://e/b(X, Y)"]


def all_disjoint(members, axioms=1):
    lists = [" ".join(f":p{axiom}_{number}" for number in range(members)) for axiom in range(axioms)]
    return "".join(f"[] a owl:AllDisjointProperties ; owl:members ({names}) .\n" for names in lists)


def test_disjoint_properties_beyond_any_ontology_are_left_out_with_a_note(tmp_path):
    (tmp_path / "o.ttl").write_text(PREFIXES + ":a rdfs:subPropertyOf :b .\n" + all_disjoint(1500) + all_disjoint(3))
    told = []
    clauses = read_rules(tmp_path / "o.ttl", tell=told.append)
    assert len(clauses) == 1 + 3
    (sentence,) = told
    assert "1 owl:AllDisjointProperties with 1,124,250 pairs of properties were left out: 100,000 pairs" in sentence


def test_the_bound_is_one_for_all_axioms_of_a_file(tmp_path):
    (tmp_path / "o.ttl").write_text(PREFIXES + all_disjoint(300, axioms=4))
    told = []
    assert len(read_rules(tmp_path / "o.ttl", tell=told.append)) == 2 * 300 * 299 // 2
    assert "2 owl:AllDisjointProperties with 89,700 pairs" in told[0]


@pytest.mark.parametrize(
    "axiom",
    [
        ":p rdfs:subPropertyOf <<( :a :b :c )>> .",
        ":p owl:inverseOf <<( :a :b :c )>> .",
        ":p owl:propertyDisjointWith <<( :a :b :c )>> .",
        ":p owl:propertyChainAxiom ( :q <<( :a :b :c )>> ) .",
        "[] a owl:AllDisjointProperties ; owl:members ( <<( :a :b :c )>> :q ) .",
        "[ owl:inverseOf <<( :a :b :c )>> ] rdfs:subPropertyOf :p .",
    ],
)
def test_axioms_with_a_triple_in_the_place_of_a_property_are_left_out_and_counted(axiom, tmp_path):
    (tmp_path / "o.ttl").write_text(f"{PREFIXES}{axiom}\n:p a owl:SymmetricProperty, <<( :a :b :c )>> .\n")
    told = []
    clauses = read_rules(tmp_path / "o.ttl", tell=told.append)
    assert [str(clause) for clause in clauses] == ["http://e/p(X, Y) => http://e/p(Y, X)"]
    assert told == [f"{tmp_path}/o.ttl: 1 axiom with a triple in the place of a property (RDF 1.2) left out"]


def test_a_file_of_nothing_but_such_axioms_is_refused(tmp_path):
    (tmp_path / "o.ttl").write_text(f"{PREFIXES}:p rdfs:subPropertyOf <<( :a :b :c )>> .\n")
    with pytest.raises(InputError, match="no clauses in this file"):
        read_rules(tmp_path / "o.ttl")
