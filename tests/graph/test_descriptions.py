"""Texts of entities: every format, and a message for whatever is wrong with them."""

import gzip

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import clausal
from clausal.errors import InputError
from clausal.graph.descriptions import LONGEST_TEXT, aligned, read_text_file, read_texts

GRAPH = clausal.Graph.from_triples([("ann", "knows", "bob"), ("bob", "knows", "eve")])


@pytest.fixture
def told():
    return []


def test_the_formats_say_the_same(tmp_path, told):
    expected = {"ann": 'a person, "tall"', "bob": "another, one"}
    (tmp_path / "x.tsv").write_text('ann\ta person, "tall"\n\nbob\tanother, one\n')
    (tmp_path / "x.csv").write_text('name,text\nann,"a person, ""tall"""\nbob,"another, one"\n')
    (tmp_path / "x.tsv.gz").write_bytes(gzip.compress((tmp_path / "x.tsv").read_bytes()))
    pq.write_table(pa.table({"text": list(expected.values()), "name": list(expected)}), tmp_path / "x.parquet")
    for name in ("x.tsv", "x.csv", "x.tsv.gz", "x.parquet"):
        assert read_text_file(tmp_path / name, told.append) == expected, name
    assert told == []


def test_what_is_left_out_and_missing_is_told(tmp_path, told):
    path = tmp_path / "texts.tsv"
    path.write_text("ann\ta person\nann\twho is tall\nbob\t  \nzoe\tunknown\n")
    texts = read_texts(path, GRAPH, told.append)
    assert aligned(texts, GRAPH) == ["a person who is tall", "", ""]
    assert [sentence.removeprefix(f"{path}: ") for sentence in told] == [
        "1 empty text left out, such as that of 'bob'",
        "1 text for a name such as 'zoe' that graph does not have, left out",
        "no text for 2 of 3 entities, such as 'bob'",
    ]


def test_a_text_of_ten_megabytes_is_read_at_its_beginning(tmp_path, told):
    for path in (tmp_path / "long.tsv", tmp_path / "long.csv"):
        separator = "\t" if path.suffix == ".tsv" else ","
        path.write_text(f"ann{separator}{'dog ' * 2_500_000}\n")
        assert len(read_text_file(path, told.append)["ann"]) == LONGEST_TEXT
    assert len(told) == 2
    assert all("1 text is longer than 20,000 characters, such as that of 'ann'" in sentence for sentence in told)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "no texts; write a name, a tab and its text on each line"),
        ("ann\t\n", "no texts"),
        ("ann a person\n", "row 1: expected a name and a text, separated by a tab .*; got 'ann a person'"),
        ("\ta person\n", "row 1: expected a name"),
        ("zoe\tunknown\n", "describes no entity of graph; its names are such as 'zoe', and entities such as 'ann'"),
        (b"ann\t\xff\n", "not UTF-8"),
    ],
)
def test_a_file_that_describes_nothing_is_refused(tmp_path, told, content, message):
    path = tmp_path / "texts.tsv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(InputError, match=message):
        read_texts(path, GRAPH, told.append)


def test_a_missing_file_and_other_columns_are_refused(tmp_path, told):
    with pytest.raises(InputError, match="no such file"):
        read_texts(tmp_path / "none.tsv", GRAPH, told.append)
    pq.write_table(pa.table({"name": ["ann"]}), tmp_path / "one.parquet")
    with pytest.raises(InputError, match="expected two columns"):
        read_text_file(tmp_path / "one.parquet", told.append)
    (tmp_path / "bad.parquet").write_text("no")
    with pytest.raises(InputError, match="cannot be read as Parquet"):
        read_text_file(tmp_path / "bad.parquet", told.append)


def test_labels_and_comments_of_rdf_are_texts(tmp_path, told, monkeypatch):
    monkeypatch.setenv("LC_ALL", "en_GB.UTF-8")
    path = tmp_path / "graph.ttl"
    path.write_text("""\
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix : <http://x.org/> .
:ann :knows :bob . :bob :knows :eve .
:ann rdfs:label "Ann"@en, "Anne"@fr ; rdfs:comment "tall" ; skos:definition "a person"@de .
:bob rdfs:label "Bob" .
""")
    graph = clausal.load_graph(path, valid=0, test=0)
    assert read_texts("literals", graph, told.append) == {
        "http://x.org/ann": "Ann a person tall",
        "http://x.org/bob": "Bob",
    }
    with pytest.raises(InputError, match="has no labels or comments"):
        read_texts("literals", GRAPH, told.append)
