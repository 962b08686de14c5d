"""Facts over an existing vocabulary, with and without labels; an unknown name is an error with its line."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from graph_files import FACTS, lines, named, write

from clausal.errors import InputError
from clausal.graph import Graph, read_facts, read_labelled


@pytest.fixture
def graph():
    return Graph.from_triples(FACTS)


def test_facts_keep_the_ids_of_the_vocabulary(tmp_path, graph):
    chosen = [FACTS[2], FACTS[0], ("bob", "lives in", "Köln")]
    facts = read_facts(write(tmp_path / "f.tsv", lines(chosen)), graph.entities, graph.relations)
    assert named(graph, facts) == chosen
    assert facts[:2].tolist() == graph.train[[2, 0]].tolist()


def test_repeated_facts_are_read_once(tmp_path, graph):
    path = write(tmp_path / "f.tsv", lines([FACTS[1], FACTS[0], FACTS[1]]))
    assert named(graph, read_facts(path, graph.entities, graph.relations)) == [FACTS[1], FACTS[0]]


@pytest.mark.parametrize(
    ("fact", "message"),
    [
        (("annna", "knows", "bob"), r"f.tsv:4: unknown entity 'annna'; did you mean 'anna'\?"),
        (("anna", "Knows", "bob"), r"f.tsv:4: unknown relation 'Knows'; did you mean 'knows'\?"),
        (("anna", "knows", "zzzzzz"), r"f.tsv:4: unknown entity 'zzzzzz'$"),
    ],
)
def test_an_unknown_name_is_named_with_its_line_and_the_nearest_known_one(tmp_path, graph, fact, message):
    path = write(tmp_path / "f.tsv", lines(FACTS[:2]) + "\n" + lines([fact]))
    with pytest.raises(InputError, match=message):
        read_facts(path, graph.entities, graph.relations)


def test_an_unknown_name_is_found_behind_a_header_and_quoted_newlines(tmp_path):
    graph = Graph.from_triples([("two\nlines", "r", "b")])
    text = 'object,relation,subject\nb,r,"two\nlines"\n\nb,r,c\n'
    with pytest.raises(InputError, match=r"f.csv:5: unknown entity 'c'"):
        read_facts(write(tmp_path / "f.csv", text), graph.entities, graph.relations)


def test_an_unknown_name_in_other_formats_is_named_with_its_place(tmp_path, graph):
    pq.write_table(pa.table({"s": ["anna", "x"], "r": ["knows"] * 2, "o": ["bob"] * 2}), tmp_path / "f.parquet")
    with pytest.raises(InputError, match=r"f.parquet: row 2: unknown entity 'x'"):
        read_facts(tmp_path / "f.parquet", graph.entities, graph.relations)
    rdf = Graph.from_triples([("http://a", "http://r", "http://b")])
    path = write(
        tmp_path / "f.nt",
        "# facts\n\n<http://a> <http://r> <http://b> .\n<http://a> <http://r> <http://x> .\n",
    )
    with pytest.raises(InputError, match=r"f.nt:4: unknown entity 'http://x'"):
        read_facts(path, rdf.entities, rdf.relations)


def test_a_missing_file_is_an_error(tmp_path, graph):
    with pytest.raises(InputError, match=r"nowhere.tsv: no such file"):
        read_facts(tmp_path / "nowhere.tsv", graph.entities, graph.relations)
    with pytest.raises(InputError, match="a folder; expected a file"):
        read_facts(tmp_path, graph.entities, graph.relations)


@pytest.mark.parametrize("words", [("1", "0"), ("1", "-1"), ("true", "False"), ("+1", "-1")])
@pytest.mark.parametrize(("name", "delimiter"), [("f.tsv", "\t"), ("f.csv", ","), ("f", "\t")])
def test_labels_are_read_from_the_fourth_column(tmp_path, graph, words, name, delimiter):
    truth = [True, False, False, True]
    rows = [(*fact, words[0] if true else words[1]) for fact, true in zip(FACTS, truth, strict=True)]
    facts, labels = read_labelled(write(tmp_path / name, lines(rows, delimiter)), graph)
    assert named(graph, facts) == FACTS
    assert labels.tolist() == truth


def test_labels_are_read_from_parquet(tmp_path, graph):
    pq.write_table(
        pa.table(
            {
                "label": [True, False],
                "subject": ["anna"] * 2,
                "relation": ["knows"] * 2,
                "object": ["bob", "anna"],
            }
        ),
        tmp_path / "f.parquet",
    )
    facts, labels = read_labelled(tmp_path / "f.parquet", graph)
    assert named(graph, facts) == [("anna", "knows", "bob"), ("anna", "knows", "anna")]
    assert labels.tolist() == [True, False]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("anna\tknows\tbob\tmaybe", r"f.tsv:2: label 'maybe'; expected 1 or true"),
        ("anna\tknows\tbob", r"f.tsv:2: 3 columns, expected 4 \(subject, relation, object, label\)"),
        ("anna\tknows\tbobb\t1", r"f.tsv:2: unknown entity 'bobb'; did you mean 'bob'"),
    ],
)
def test_bad_labelled_lines_are_named(tmp_path, graph, row, message):
    path = write(tmp_path / "f.tsv", f"anna\tknows\tbob\t1\n{row}\n")
    with pytest.raises(InputError, match=message):
        read_labelled(path, graph)


def test_rdf_cannot_hold_labels(tmp_path, graph):
    path = write(tmp_path / "f.nt", "<http://a> <http://r> <http://b> .\n")
    with pytest.raises(InputError, match="RDF holds no labels of facts"):
        read_labelled(path, graph)
