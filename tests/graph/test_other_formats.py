"""N-Triples, Parquet, data frames and Python tuples give the same graph as text."""

import io

import numpy as np
import pandas
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from graph_files import FACTS, named, write

from clausal.errors import InputError, RunError
from clausal.graph import Graph, load_graph

NTRIPLES = """\
<http://a.org/Ann> <http://a.org/knows> <http://a.org/Bob> .
# a comment

_:someone <http://a.org/knows> <http://a.org/Ann> .
<http://a.org/Ann> <http://a.org/name> "Änne \\"A\\"\\n"@de-CH .
<http://a.org/Ann> <http://a.org/age> "42"^^<http://www.w3.org/2001/XMLSchema#integer> .
<http://a.org/Ann> <http://a.org/page> "http://a.org/Ann" .
"""


def load_all(path, **options):
    graph = load_graph(path, valid=0, test=0, **options)
    return named(graph, graph.train)


@pytest.mark.parametrize("name", ["facts.nt", "facts.nt.gz"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_ntriples_terms_become_readable_names(tmp_path, name, mark):
    assert load_all(write(tmp_path / name, mark + NTRIPLES.encode())) == [
        ("http://a.org/Ann", "http://a.org/knows", "http://a.org/Bob"),
        ("_:someone", "http://a.org/knows", "http://a.org/Ann"),
        (
            "http://a.org/Ann",
            "http://a.org/name",
            '"Änne \\"A\\"\\n"@de-ch',
        ),  # language tags do not tell cases apart
        ("http://a.org/Ann", "http://a.org/age", '"42"^^http://www.w3.org/2001/XMLSchema#integer'),
        ("http://a.org/Ann", "http://a.org/page", '"http://a.org/Ann"'),
    ]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (NTRIPLES + "<http://a> <http://b>\n", r"facts.nt:8: the fact is not complete"),
        (
            NTRIPLES + "Ann knows Bob .\n",
            r"facts.nt:8: not N-Triples: .*; expected '<subject> <relation> <object> .'",
        ),
        (NTRIPLES.encode() + b'<http://a> <http://b> "\xff" .\n', r"facts.nt:8: not N-Triples: .*UTF-8"),
        ("# nothing\n", r"facts.nt: the file holds no facts"),
        (
            "<http://a> <http://b> <<( <http://a> <http://b> <http://c> )>> .\n",
            r"facts.nt: the quoted triple",
        ),
    ],
)
def test_bad_ntriples_are_named_by_line(tmp_path, content, message):
    with pytest.raises(InputError, match=message):
        load_graph(write(tmp_path / "facts.nt", content))


def parquet_bytes(table):
    buffer = io.BytesIO()
    pq.write_table(table, buffer)
    return buffer.getvalue()


def table(names, facts=FACTS, kind=None):
    columns = [pa.array(column, kind or pa.string()) for column in zip(*facts, strict=True)]
    return pa.table(columns, names=names)


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.dictionary(pa.int32(), pa.string())])
@pytest.mark.parametrize("name", ["facts.parquet", "facts.parquet.gz"])
def test_parquet_columns_of_any_text_type_are_read(tmp_path, name, kind):
    content = parquet_bytes(table(["x", "y", "z"], kind=kind))
    assert load_all(write(tmp_path / name, content)) == FACTS


def test_parquet_columns_are_found_by_name_before_order(tmp_path):
    reordered = table(["head", "relation", "tail"]).select(["tail", "head", "relation"])
    content = parquet_bytes(reordered.append_column("score", pa.array([0.5] * len(FACTS))))
    assert load_all(write(tmp_path / "facts.parquet", content)) == FACTS


def test_parquet_columns_without_names_follow_the_order_asked_for(tmp_path):
    turned = [(o, r, s) for s, r, o in FACTS]
    assert (
        load_all(write(tmp_path / "f.parquet", parquet_bytes(table(["x", "y", "z"], turned))), columns="ors") == FACTS
    )


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"not parquet at all", "f.parquet: not a Parquet file, or a damaged one"),
        (parquet_bytes(table(["x", "y", "z"]).slice(0, 0)), "f.parquet: the file holds no facts"),
        (
            parquet_bytes(pa.table({"a": ["x"], "b": ["y"]})),
            "columns a, b; expected subject, relation, object, or 3",
        ),
        (
            parquet_bytes(pa.table({"s": ["a", None], "r": ["r", "r"], "o": ["b", "c"]})),
            "row 2: the subject is empty",
        ),
        (parquet_bytes(pa.table({"s": ["a"], "r": [""], "o": ["b"]})), "row 1: the relation is empty"),
        (parquet_bytes(pa.table({"s": ["a"], "r": ["r"], "o": [["b"]]})), "column object is of type list"),
    ],
)
def test_bad_parquet_files_are_explained(tmp_path, content, message):
    with pytest.raises(InputError, match=message):
        load_graph(write(tmp_path / "f.parquet", content))


@pytest.mark.parametrize(("text", "bytes_"), [(pa.string(), pa.binary()), (pa.large_string(), pa.large_binary())])
def test_the_row_of_parquet_text_that_is_not_utf8_is_named(tmp_path, text, bytes_):
    latin = pa.array([b"a", b"b", "café".encode("latin-1")], bytes_)
    objects = pa.Array.from_buffers(text, 3, latin.buffers())  # called UTF-8, as some writers do
    content = parquet_bytes(pa.table({"s": ["a", "b", "c"], "r": ["r"] * 3, "o": objects}))
    with pytest.raises(InputError, match=r"f\.parquet: row 3: the object is not UTF-8 \(byte 0xe9\)"):
        load_graph(write(tmp_path / "f.parquet", content))


class OutOfMemory:
    """A column that memory is too small for."""

    type = "dictionary"

    def __init__(self, error):
        self.error = error

    def cast(self, kind):
        raise self.error


def test_a_lack_of_memory_is_not_a_wrong_type(tmp_path, monkeypatch):
    column = OutOfMemory(pa.ArrowMemoryError("realloc of size 8 failed"))
    monkeypatch.setattr("clausal.graph.tables._pick", lambda *_: {"subject": column})
    with pytest.raises(RunError, match=r"f\.parquet: out of memory while reading it"):
        load_graph(write(tmp_path / "f.parquet", parquet_bytes(table(["x", "y", "z"]))))


def test_a_row_group_of_too_much_text_is_not_a_wrong_type(tmp_path, monkeypatch):
    column = OutOfMemory(pa.ArrowInvalid("Take operation overflowed binary array capacity"))
    monkeypatch.setattr("clausal.graph.tables._pick", lambda *_: {"subject": column})
    with pytest.raises(InputError, match="column subject holds more than 2 GB of text in a row group"):
        load_graph(write(tmp_path / "f.parquet", parquet_bytes(table(["x", "y", "z"]))))


def test_names_of_parquet_columns_that_are_not_utf8_are_refused(tmp_path):
    content = parquet_bytes(table(["subjectX", "relation", "object"]))
    assert b"subjectX" in content
    with pytest.raises(InputError, match=r"f\.parquet: a column's name is not UTF-8"):
        load_graph(write(tmp_path / "f.parquet", content.replace(b"subjectX", b"subject\xe9")))


def test_a_truncated_parquet_file_is_explained(tmp_path):
    content = parquet_bytes(table(["x", "y", "z"]))
    with pytest.raises(InputError, match="not a Parquet file, or a damaged one"):
        load_graph(write(tmp_path / "f.parquet", content[:-20]))


def test_python_triples_make_a_graph():
    graph = Graph.from_triples(iter(FACTS), valid=[("anna", "knows", "carla")], test=[["bob", "knows", "anna"]])
    assert named(graph, graph.train) == FACTS
    assert named(graph, graph.valid) == [("anna", "knows", "carla")]
    assert named(graph, graph.test) == [("bob", "knows", "anna")]
    assert list(graph.entities) == sorted({name for s, _, o in FACTS for name in (s, o)})


def test_data_frames_make_a_graph_by_name_or_by_order():
    frame = pandas.DataFrame(FACTS, columns=["subject", "relation", "object"])
    shuffled = frame[["object", "subject", "relation"]].assign(weight=1.0)
    turned = pandas.DataFrame([row[::-1] for row in FACTS], columns=["tail", "predicate", "head"])
    turned.insert(1, "weight", 1.0)
    unnamed = pandas.DataFrame(FACTS).assign(weight=1.0)
    for given in (frame, shuffled, turned, unnamed, frame.astype("category"), np.array(FACTS)):
        graph = Graph.from_triples(given)
        assert named(graph, graph.train) == FACTS


def test_numbers_in_a_data_frame_are_names():
    graph = Graph.from_triples(pandas.DataFrame({"subject": [1, 2], "relation": ["r", "r"], "object": [2, 10]}))
    assert list(graph.entities) == ["1", "10", "2"]


@pytest.mark.parametrize(
    ("triples", "message"),
    [
        ([("a", "r", "b"), ("a", "r")], r"train: fact 2 is \('a', 'r'\); expected three names"),
        ([("a", "r", None)], r"train: fact 1 is .*; expected three names"),
        ([("a", "", "b")], r"train: fact 1"),
        (["abc"], r"train: fact 1 is 'abc'"),
        ([("a", "r", "\ud800")], r"train: .* not valid Unicode"),
        ([], r"train holds no facts"),
        (
            pandas.DataFrame({"subject": ["a", None], "relation": ["r"] * 2, "object": ["b"] * 2}),
            "train: row 2: the sub",
        ),
        (pandas.DataFrame({"subject": ["a"], "object": ["b"]}), "train: columns subject, object; expected"),
        (
            pandas.DataFrame({"subject": [["a"]], "relation": ["r"], "object": ["b"]}),
            "train: column subject is of",
        ),
        (
            pandas.DataFrame({"subject": [object()], "relation": ["r"], "object": ["b"]}),
            "does not hold names",
        ),
        (pandas.DataFrame(columns=["subject", "relation", "object"]), "train holds no facts"),
    ],
)
def test_bad_python_triples_are_explained(triples, message):
    with pytest.raises(InputError, match=message):
        Graph.from_triples(triples)


def test_ntriples_of_several_batches_are_read_in_order(tmp_path):
    text = "".join(f"<http://e/{i % 977}> <http://r/{i % 5}> <http://e/{i}> .\n" for i in range(120_000))
    facts = load_all(write(tmp_path / "facts.nt", text))
    assert facts == [(f"http://e/{i % 977}", f"http://r/{i % 5}", f"http://e/{i}") for i in range(120_000)]
