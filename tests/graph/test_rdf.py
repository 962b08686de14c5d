"""RDF of every syntax is the same graph, and what is no fact of it is kept aside, counted and said."""

from __future__ import annotations

import bz2
import gzip
import re

import pyarrow as pa
import pyoxigraph
import pytest
import rdflib
from graph_files import named, write
from hypothesis import given, settings
from hypothesis import strategies as st
from pyoxigraph import RdfFormat

from clausal.errors import InputError
from clausal.graph import load_graph, read_facts
from clausal.observer import Calling

SYNTAXES = {
    "nt": RdfFormat.N_TRIPLES,
    "nq": RdfFormat.N_QUADS,
    "ttl": RdfFormat.TURTLE,
    "n3": RdfFormat.N3,
    "trig": RdfFormat.TRIG,
    "rdf": RdfFormat.RDF_XML,
    "owl": RdfFormat.RDF_XML,
    "xml": RdfFormat.RDF_XML,
    "jsonld": RdfFormat.JSON_LD,
}
E = "http://e.org/"
NTRIPLES = """\
<http://e.org/Ann> <http://e.org/knows> <http://e.org/Bob> .
# a comment

_:someone <http://e.org/knows> <http://e.org/Ann> .
<http://e.org/Ann> <http://e.org/name> "Änne \\"A\\"\\n"@de-CH .
<http://e.org/Ann> <http://e.org/age> "42"^^<http://www.w3.org/2001/XMLSchema#integer> .
<http://e.org/Ann> <http://e.org/page> "http://e.org/Ann" .
_:someone <http://e.org/name> "nobody" .
"""
KEPT = [
    (f"{E}Ann", f"{E}knows", f"{E}Bob"),
    ("_:someone", f"{E}knows", f"{E}Ann"),
    (f"{E}Ann", f"{E}name", '"Änne \\"A\\"\\n"@de-ch'),  # language tags do not tell cases apart
    (f"{E}Ann", f"{E}age", '"42"^^http://www.w3.org/2001/XMLSchema#integer'),
    (f"{E}Ann", f"{E}page", '"http://e.org/Ann"'),
    ("_:someone", f"{E}name", '"nobody"'),
]


def load(path, **options):
    return load_graph(path, valid=0, test=0, **options)


def facts(path, **options):
    graph = load(path, **options)
    return named(graph, graph.train)


def converted(ntriples, ending):
    """The same statements in another syntax, written by pyoxigraph."""
    parsed = pyoxigraph.parse(ntriples.encode(), format=RdfFormat.N_TRIPLES)
    return pyoxigraph.serialize([statement.triple for statement in parsed], format=SYNTAXES[ending], prefixes={"e": E})


@pytest.mark.parametrize("ending", SYNTAXES)
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_every_syntax_gives_the_same_graph(tmp_path, ending, mark):
    path = write(tmp_path / f"facts.{ending}", mark + converted(NTRIPLES, ending))
    graph = load(path)
    assert named(graph, graph.train) == KEPT[:1]
    assert sorted(graph.literals.to_pylist(), key=lambda row: row["property"]) == [
        {"subject": f"{E}Ann", "property": f"{E}age", "value": "42", "language": "",
         "datatype": "http://www.w3.org/2001/XMLSchema#integer"},
        {"subject": f"{E}Ann", "property": f"{E}name", "value": 'Änne "A"\n', "language": "de-ch", "datatype": ""},
        {"subject": f"{E}Ann", "property": f"{E}page", "value": "http://e.org/Ann", "language": "", "datatype": ""},
    ]  # fmt: skip
    assert graph.notes == (
        "3 statements with a literal kept aside; --literals keep makes facts of them",
        "2 statements with a blank node left out; --blank-nodes keep makes facts of them",
    )
    assert set(facts(path, literals="keep", blank_nodes="keep")) == set(KEPT)
    if ending in ("ttl", "n3", "trig", "rdf", "owl", "xml"):
        assert graph.prefixes["e"] == E


NAME = st.sampled_from(["a", "b", "c", "ü", "d-1", "e_2"])
TERM = st.builds(f"<{E}{{}}>".format, NAME)
TEXTS = st.text(st.characters(exclude_characters='"\\\n\r', exclude_categories=["Cs", "Cc", "Cn"]), max_size=5)
LITERAL = st.builds(
    '"{}"{}'.format, TEXTS, st.sampled_from(["", "@en", "@pt-br", "^^<http://www.w3.org/2001/XMLSchema#date>"])
)
GRAPHS = st.lists(st.builds("{} {} {} .\n".format, TERM, TERM, st.one_of(TERM, LITERAL)), min_size=1, max_size=15)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of rdflib, by rdflib
@settings(max_examples=25, deadline=None)
@given(statements=GRAPHS)
@pytest.mark.parametrize("ending", ["nt", "nq", "ttl", "trig", "rdf", "jsonld"])
def test_rdflib_reads_the_same_statements(tmp_path_factory, statements, ending):
    content = converted("".join(statements), ending)
    path = tmp_path_factory.mktemp("rdf") / f"facts.{ending}"
    path.write_bytes(content)
    formats = {"nt": "nt", "ttl": "turtle", "rdf": "xml"}
    if ending in formats:
        quads = ((*triple, None) for triple in rdflib.Graph().parse(data=content, format=formats[ending]))
    else:
        dataset = rdflib.Dataset()
        dataset.parse(data=content, format={"nq": "nquads", "jsonld": "json-ld"}.get(ending, ending))
        quads = dataset.quads()
    expected_facts, expected_literals = set(), set()
    for subject, relation, object, _ in quads:
        if isinstance(object, rdflib.Literal):
            row = (str(subject), str(relation), str(object), object.language or "", str(object.datatype or ""))
            expected_literals.add(row)
        else:
            expected_facts.add((str(subject), str(relation), str(object)))
    if not expected_facts:
        with pytest.raises(InputError, match=r"the file holds no facts: .* with a literal kept aside"):
            load(path)
        return
    graph = load(path)
    assert set(named(graph, graph.train)) == expected_facts
    found = [] if graph.literals is None else graph.literals.to_pylist()
    assert {tuple(row.values()) for row in found} == expected_literals


def zstd(content):
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as stream:
        stream.write(content)
    return sink.getvalue().to_pybytes()


COMPRESSIONS = {".gz": gzip.compress, ".bz2": bz2.compress, ".zst": zstd}


@pytest.mark.parametrize("compression", COMPRESSIONS)
@pytest.mark.parametrize("ending", ["nt", "ttl", "rdf", "tsv", "csv", "txt"])
def test_compressed_files_are_read(tmp_path, compression, ending):
    separator = {"tsv": "\t", "csv": ",", "txt": " "}.get(ending)
    content = separator.join(KEPT[0]).encode() if separator else converted(NTRIPLES, ending)
    path = tmp_path / f"facts.{ending}{compression}"
    path.write_bytes(COMPRESSIONS[compression](content))
    assert facts(path) == KEPT[:1]
    assert load(path).name == "facts"


@pytest.mark.parametrize(("compression", "name"), [(".gz", "gzip"), (".bz2", "bz2"), (".zst", "zstd")])
@pytest.mark.parametrize("ending", ["nt", "ttl", "rdf", "jsonld", "tsv"])
def test_compressed_files_that_are_cut_or_none_are_explained(tmp_path, compression, name, ending):
    text = "".join(f"<{E}{i * 7919 % 10007}> <{E}r> <{E}{i}> .\n" for i in range(3_000))
    content = text.replace(" ", "\t").encode() if ending == "tsv" else converted(text, ending)
    path = tmp_path / f"facts.{ending}{compression}"
    path.write_bytes(COMPRESSIONS[compression](content)[:-100])
    with pytest.raises(InputError, match=rf"facts\.{ending}{compression}: the {name} file ends too early"):
        load(path)
    path.write_bytes(content)
    with pytest.raises(InputError, match=rf"facts\.{ending}{compression}: not a {name} file, or a damaged one"):
        load(path)


def test_blank_nodes_are_the_file_s_own(tmp_path):
    one = write(tmp_path / "one.ttl", f"@prefix e: <{E}> . e:a e:r _:x, [ e:r e:b ] . _:anon1 e:r e:a .")
    two = write(tmp_path / "two.nt", f"_:x <{E}r> <{E}b> .\n")
    alone = {("_:anon1", f"{E}r", f"{E}b"), (f"{E}a", f"{E}r", "_:x"), (f"{E}a", f"{E}r", "_:anon1")}
    assert set(facts(one, blank_nodes="keep")) == alone | {("_:anon1_", f"{E}r", f"{E}a")}
    together = facts([one, two], blank_nodes="keep")
    assert (f"{E}a", f"{E}r", "_:file1-x") in together
    assert ("_:file2-x", f"{E}r", f"{E}b") in together
    skolemised = facts([one, two], blank_nodes="skolemise")
    assert (f"{E}a", f"{E}r", "urn:clausal:blank:one.ttl:x") in skolemised
    assert ("urn:clausal:blank:two.nt:x", f"{E}r", f"{E}b") in skolemised
    assert skolemised == facts([one, two], blank_nodes="skolemise")


def test_splits_of_a_folder_share_blank_nodes_and_keep_literals_together(tmp_path):
    write(tmp_path / "train.nt", f'_:x <{E}r> <{E}b> .\n<{E}b> <{E}l> "b" .\n')
    write(tmp_path / "test.ttl", f"@prefix e: <{E}> . e:b e:r _:x ; e:l 1 .")
    write(tmp_path / "test-I.ttl", f"@prefix e: <{E}> . e:b e:r _:x ; e:l 1 .")
    graph = load_graph(tmp_path, blank_nodes="keep")
    assert named(graph, graph.test) == named(graph, graph.parts["test-I"]) == [(f"{E}b", f"{E}r", "_:x")]
    assert graph.literals.column("value").to_pylist() == ["1", "b"]
    assert graph.prefixes == {"e": E}


def test_a_folder_of_rdf_files_is_one_graph(tmp_path):
    write(tmp_path / "a.ttl", f"@prefix e: <{E}> . e:a e:r e:b .")
    write(tmp_path / "b.nt.gz", f"<{E}b> <{E}r> <{E}c> .\n")
    write(tmp_path / "README.md", "nothing")
    graph = load(tmp_path)
    assert named(graph, graph.train) == [(f"{E}a", f"{E}r", f"{E}b"), (f"{E}b", f"{E}r", f"{E}c")]
    assert graph.notes == ("2 files are one graph: a.ttl, b.nt.gz",)
    assert graph.name == tmp_path.name
    assert load_graph(tmp_path, valid=0.5, test=0).drawn is not None


def test_a_list_of_files_may_hold_tables(tmp_path):
    rdf = write(tmp_path / "a.ttl", f"@prefix e: <{E}> . e:a e:r e:b .")
    table = write(tmp_path / "b.tsv", "r\tx\ty\n")
    assert facts([rdf, table], columns="rso") == [(f"{E}a", f"{E}r", f"{E}b"), ("x", "r", "y")]
    with pytest.raises(InputError, match="an empty list of files"):
        load([])
    with pytest.raises(InputError, match=r"none\.ttl: no such file"):
        load([rdf, tmp_path / "none.ttl"])


@pytest.mark.parametrize("ending", ["nq", "trig"])
def test_named_graphs_are_taken_together(tmp_path, ending):
    fact = f"<{E}a> <{E}r> <{E}b>"
    text = (
        f"{fact} <{E}g> .\n{fact} <{E}h> .\n{fact} .\n<{E}b> <{E}r> <{E}a> <{E}g> .\n"
        if ending == "nq"
        else f"<{E}g> {{ {fact} . <{E}b> <{E}r> <{E}a> }} <{E}h> {{ {fact} }} {fact} ."
    )
    graph = load(write(tmp_path / f"f.{ending}", text))
    assert sorted(named(graph, graph.train)) == [(f"{E}a", f"{E}r", f"{E}b"), (f"{E}b", f"{E}r", f"{E}a")]
    assert graph.duplicates == {"train": 2}
    assert graph.notes == ("the facts of 2 named graphs are taken together, without the graphs' names",)


RELATIVE = {
    "f.nt": "<#a> <r> <b> .\n",
    "f.nq": "<#a> <r> <b> .\n",
    "f.ttl": "<#a> <r> <b> .\n",
    "f.rdf": f'<rdf:RDF xmlns:rdf="{pyoxigraph.NamedNode("http://www.w3.org/1999/02/22-rdf-syntax-ns#").value}" '
    f'xmlns:e="{E}"><rdf:Description rdf:about="#a"><e:r rdf:resource="b"/></rdf:Description></rdf:RDF>',
    "f.jsonld": f'{{"@id": "#a", "{E}r": {{"@id": "b"}}}}',
}


@pytest.mark.parametrize("name", RELATIVE)
def test_relative_iris_stand_as_they_are_or_get_the_base(tmp_path, name):
    path = write(tmp_path / name, RELATIVE[name])
    relation = "r" if name in ("f.nt", "f.nq", "f.ttl") else f"{E}r"
    graph = load(path)
    assert named(graph, graph.train) == [("#a", relation, "b")]
    assert re.fullmatch(
        r"[23] relative IRIs, such as #a, are names as they stand; --base IRI makes whole IRIs of them", graph.notes[0]
    )
    whole = "http://x.org/d/r" if relation == "r" else relation
    assert facts(path, base="http://x.org/d/f") == [("http://x.org/d/f#a", whole, "http://x.org/d/b")]


def test_the_document_s_own_base_comes_first(tmp_path):
    path = write(tmp_path / "f.ttl", "@base <http://own.org/> . <a> <r> <> .")
    expected = [("http://own.org/a", "http://own.org/r", "http://own.org/")]
    assert facts(path, base="http://x.org/") == facts(path) == expected


def test_the_document_itself_has_a_name_without_a_base(tmp_path):
    assert facts(write(tmp_path / "f.ttl", f"<> <{E}r> <{E}b> .")) == [("<>", f"{E}r", f"{E}b")]


@pytest.mark.parametrize("ending", ["nt", "ttl"])
def test_statements_about_statements_are_left_out(tmp_path, ending):
    quoted = f"<{E}a> <{E}says> <<( <{E}a> <{E}r> <{E}b> )>> .\n<{E}a> <{E}r> <{E}b> .\n"
    graph = load(write(tmp_path / f"f.{ending}", quoted))
    assert named(graph, graph.train) == [(f"{E}a", f"{E}r", f"{E}b")]
    assert graph.notes == ("1 statement about other statements (RDF-star, RDF 1.2) left out",)


def test_formulas_of_n3_are_no_facts(tmp_path):
    assert facts(write(tmp_path / "f.n3", f"@prefix e: <{E}> . {{ e:a e:r e:b }} e:r e:c . e:a e:r e:c .")) == [
        (f"{E}a", f"{E}r", f"{E}c")
    ]


def test_facts_over_a_known_vocabulary_leave_out_what_the_graph_left_out(tmp_path):
    path = write(tmp_path / "f.nt", NTRIPLES)
    graph = load(path)
    assert named(graph, read_facts(path, graph.entities, graph.relations)) == KEPT[:1]
    kept = load(path, literals="keep", blank_nodes="keep")
    assert len(read_facts(path, kept.entities, kept.relations)) == len(KEPT)


def test_progress_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr("clausal.graph.rdf.reading._MEGABYTE", 1)
    told = []
    observer = Calling(advanced=lambda *event: told.append(event))
    for name in ("f.nt.gz", "f.ttl"):
        path = write(tmp_path / name, NTRIPLES)
        load(path, observer=observer)
        size = path.stat().st_size
        assert told.pop() == (f"reading {name}", size, size, "MB")


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ({"literals": "maybe"}, "literals 'maybe' is not one of skip, keep"),
        ({"blank_nodes": "drop"}, "blank_nodes 'drop' is not one of skip, keep, skolemise"),
        ({"base": "not an IRI"}, "base 'not an IRI' is not an IRI; expected one such as http://example.org/"),
    ],
)
def test_options_are_checked(tmp_path, option, message):
    with pytest.raises(InputError, match=message):
        load(write(tmp_path / "f.nt", NTRIPLES), **option)
