"""RDF in every syntax: documents made of odd terms, damaged or not, and read with every option."""

from __future__ import annotations

import json
from pathlib import Path

from hypothesis import strategies as st

from clausal.choices import RDF_ENDINGS
from clausal.graph import load_graph
from fuzzing.cases import Case
from fuzzing.damage import changed, changes, compressed, compressions, odd_text, sometimes_damaged
from fuzzing.targets import Target
from fuzzing.targets.tables import named

XML = """<?xml version="1.0"?>
<!DOCTYPE rdf:RDF [<!ENTITY e "http://e/">]>
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="http://e/" xml:base="http://base/">
{}
</rdf:RDF>
"""
_iris = st.sampled_from(
    [
        "<http://e/a>",
        "<http://e/b>",
        "<http://e/p>",
        "<urn:x>",
        "<>",
        "<rel>",
        "<http://e/ü>",
        "<http://e/\\u00fc>",
        "<http://e/a b>",
        "<http://e/%>",
        "<a:\\uD800>",
        "<http://[::1>",
        "a",
        "_:b0",
        "_:",
        "_:a.b.",
        "<<( <a:a> <a:b> <a:c> )>>",
    ]
)
_plain = st.sampled_from(["<http://e/a>", "<http://e/b>", "<http://e/p>", "_:b1"])
_literals = st.tuples(
    odd_text.map(json.dumps), st.sampled_from(["", "@en", "@en--ltr", "@", "^^<http://e/t>", "^^<", "@1"])
).map("".join)
_terms = st.one_of(_plain, _iris, _literals)
_ends = st.sampled_from(
    [" .\n", " .\n", ".\n", " . # end\n", "\n", " .\r\n", " <http://e/g> .\n", ' ; <http://e/q> "x" .\n']
)
_lines = st.lists(
    st.tuples(_terms, st.sampled_from([" ", "\t"]), _plain | _terms, st.just(" "), _terms, _ends).map("".join),
    max_size=6,
).map("".join)
_turtle_beginnings = st.sampled_from(
    ["", "", "@prefix e: <http://e/> .\n", "PREFIX e: <http://e/>\n", "@base <http://base/> .\n", 'VERSION "1.2"\n']
)
_turtle_extras = st.sampled_from(
    [
        "",
        "",
        "e:a a e:b .\n",
        "<a:a> <a:b> [ <a:c> ( 1 2.0 3e4 true 'x' ) ] .\n",
        "<a:g> { <a:a> <a:b> <a:c> }\n",
        "<a:a> <a:b> <a:c> {| <a:d> 1 |} .\n",
        "<< <a:a> <a:b> <a:c> >> <a:d> <a:e> .\n",
        "{ ?x <a:b> ?y } => { ?y <a:c> ?x } .\n",
        '<a:a> <a:b> """long\n"text" """@en .\n',
        "@forAll :x .\n",
        "[] <a:b> [] .\n",
        "e: e:%41 e:\\-x .\n",
    ]
)
_turtle = st.tuples(_turtle_beginnings, _lines, _turtle_extras).map("".join)
_elements = st.lists(
    st.sampled_from(
        ['<rdf:Description rdf:about="&e;a"><e:p rdf:resource="http://e/b"/></rdf:Description>',
         '<e:T rdf:about="rel" e:name="x"><e:p rdf:nodeID="n"/></e:T>',
         '<rdf:Description rdf:ID="1"><e:p rdf:parseType="Collection"><e:T/></e:p></rdf:Description>',
         '<rdf:Description><e:p xml:lang="en">text &amp; &#x1F600;</e:p></rdf:Description>',
         '<rdf:Description rdf:about=""><e:p rdf:parseType="Literal"><b>x</b></e:p></rdf:Description>',
         '<rdf:Bag><rdf:li rdf:resource="http://e/c"/></rdf:Bag>', "<!-- -->", "<?pi x?>",
         "<![CDATA[x]]>", "<e:p>", "&none;"]
    ),
    max_size=4,
).map("\n".join)  # fmt: skip
_xml = st.builds(XML.format, _elements)
_nodes = st.recursive(
    st.one_of(st.sampled_from(["http://e/a", "_:b", "e:x", "@id", 1, True, None, 1e30]), odd_text),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["@id", "@type", "@value", "@language", "@list", "@set", "@graph", "@reverse", "@context", "@included"]
            )
            | st.sampled_from(["http://e/p", "e:p", "p"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=8,
)
_contexts = st.one_of(
    st.just({"e": "http://e/", "p": {"@id": "http://e/p", "@type": "@id"}, "@vocab": "http://e/"}),
    st.just("http://e/context"),
    _nodes,
)
_json_ld = st.one_of(
    st.builds(
        lambda context, nodes: json.dumps({"@context": context, "@graph": nodes}),
        _contexts,
        st.lists(
            st.fixed_dictionaries(
                {"@id": st.just("http://e/a"), "http://e/p": st.just({"@id": "http://e/b"}) | _nodes}
            ),
            max_size=3,
        ),
    ),
    _nodes.map(json.dumps),
)
_documents = {"RDF_XML": _xml, "JSON_LD": _json_ld, "N_TRIPLES": _lines, "N_QUADS": _lines}


@st.composite
def _cases(draw: st.DrawFn) -> Case:
    ending = draw(st.sampled_from(list(RDF_ENDINGS)))
    syntax = draw(st.sampled_from([RDF_ENDINGS[ending]] * 9 + ["RDF_XML", "TURTLE"]))
    document = _documents.get(syntax, _turtle)
    content = draw(sometimes_damaged(document.map(lambda text: text.encode("utf-8", "replace"))))
    compression = draw(compressions)
    content = compressed(content, compression)
    if compression and draw(st.booleans()):
        content = changed(content, draw(changes))
    options = {
        "literals": st.sampled_from(["skip", "keep", "none"]),
        "blank_nodes": st.sampled_from(["skip", "keep", "iri"]),
        "base": st.sampled_from(["http://base/", "", "x", "http://[", "urn:x"]) | odd_text,
    }
    return Case({f"facts{ending}{compression}": content}, draw(st.fixed_dictionaries({}, optional=options)))


def run(case: Case, folder: Path) -> None:
    """Load a graph; lines of triples are Turtle too, and say the same there."""
    (path,) = case.write(folder)
    graph = load_graph(path, valid=0, test=0, **case.options)
    if path.suffix == ".nt":
        turtle = path.rename(path.with_suffix(".ttl"))
        again = load_graph(turtle, valid=0, test=0, **case.options)
        assert set(named(again)) == set(named(graph)), "N-Triples and Turtle are read differently"


TARGET = Target(_cases(), run, slice=600)
