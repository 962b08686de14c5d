"""Broken RDF of every syntax is one message: the file, the line where there is one, and what is wrong."""

import pytest
from graph_files import write

from clausal.errors import InputError
from clausal.graph import load_graph

E = "http://e.org/"
GOOD = f"<{E}a> <{E}r> <{E}b> .\n"
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
PREFIX = f"@prefix e: <{E}> .\n"
BOMB = (
    '<!DOCTYPE rdf:RDF [<!ENTITY a "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa">'
    + "".join(f"<!ENTITY {chr(98 + i)} '{f'&{chr(97 + i)};' * 20}'>" for i in range(8))
    + f'] ><rdf:RDF xmlns:rdf="{RDF}" xmlns:e="{E}"><rdf:Description rdf:about="{E}a"><e:r>&i;</e:r>'
    "</rdf:Description></rdf:RDF>"
)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("f.nt", GOOD + f"<{E}a> <{E}b>\n", r"f\.nt:2: not N-Triples: .*; expected '<subject> <relation> <object> \.'"),
        ("f.nt", GOOD + "Ann knows Bob .\n", r"f\.nt:2: not N-Triples: .*; expected '<subject>"),
        ("f.nt", GOOD.encode() + b'<x:a> <x:b> "\xff" .\n', r"f\.nt:2: not N-Triples: not UTF-8 \(byte 0xff\)"),
        ("f.nt", "# nothing\n", r"f\.nt: the file holds no facts"),
        ("f.nt", "", r"f\.nt: the file holds no facts"),
        ("f.nq", GOOD + f'<{E}a> <{E}b> <{E}c> "g" .\n', r"f\.nq:2: not N-Quads: .*expected '.* <graph> \.'"),
        ("f.ttl", PREFIX + "e:a e:b .\n", r"f\.ttl:2: not Turtle: \. is not a valid RDF object"),
        ("f.ttl", PREFIX + "e:a e:b q:c .\n", r"f\.ttl:2: not Turtle: The prefix q: has not been declared"),
        ("f.ttl", PREFIX + "e:a e:b e:c\n", r"f\.ttl:3: not Turtle: Unexpected end"),
        ("f.ttl", PREFIX.encode() + b'e:a e:b "\xff" .', r"f\.ttl:2: not Turtle: Invalid UTF-8"),
        ("f.n3", PREFIX + "{ ?x e:b e:c } => { ?x e:d e:e } .", r"f\.n3: not N3: variables are not allowed"),
        ("f.trig", PREFIX + "e:g { e:a e:b e:c .\n", r"f\.trig:3: not TriG: Unexpected end"),
        (
            "f.rdf",
            f'<rdf:RDF xmlns:rdf="{RDF}">\n<rdf:Description rdf:about="{E}">\n</rdf:RDF>',
            r"f\.rdf:3: not RDF/XML: .*</rdf:Description>",
        ),
        ("f.xml", "<html>\n<p>a</p></html>", r"f\.xml: not RDF/XML: XML namespaces are required"),
        ("f.rdf", BOMB, r"f\.rdf: its entities .* stand for more than 32 times the text of the file; write out"),
        ("f.jsonld", f'{{"@id": "{E}a",\n"{E}r": {{"@id": "{E}b"}}', r"f\.jsonld:2: not JSON-LD: Object values must"),
        ("f.jsonld", "[1, 2]", r"f\.jsonld: the file holds no facts"),
        (
            "f.jsonld",
            f'{{"@context": "http://schema.org/", "@id": "{E}a", "name": "b"}}',
            r"f\.jsonld: its @context is a link, and nothing is fetched; write the context into the file",
        ),
        (
            "f.ttl",
            PREFIX + 'e:a e:b "c" ; e:d [ e:e e:f ] .',
            (
                r"f\.ttl: the file holds no facts: 1 statement with a literal kept aside; --literals keep makes "
                r"facts of them; 2 statements with a blank node left out"
            ),
        ),
    ],
)
def test_broken_rdf_is_explained(tmp_path, name, content, message):
    with pytest.raises(InputError, match=message) as caught:
        load_graph(write(tmp_path / name, content))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("f.owl", PREFIX + "e:a e:r e:b ."),
        (
            "f.ttl",
            (
                f'<?xml version="1.0"?><rdf:RDF xmlns:rdf="{RDF}" xmlns:e="{E}"><rdf:Description rdf:about="{E}a">'
                f'<e:r rdf:resource="{E}b"/></rdf:Description></rdf:RDF>'
            ),
        ),
    ],
)
def test_an_ending_of_the_other_syntax_does_no_harm(tmp_path, name, content):
    graph = load_graph(write(tmp_path / name, content), valid=0, test=0)
    assert list(graph.entities) == [f"{E}a", f"{E}b"]
    assert graph.prefixes["e"] == E
