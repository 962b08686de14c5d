"""Parquet, data frames and Python tuples give the same graph as text."""

import io

import numpy as np
import pandas
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from graph_files import FACTS, named, write

from clausal.errors import InputError, RunError
from clausal.graph import Graph, load_graph


def load_all(path, **options):
    graph = load_graph(path, valid=0, test=0, **options)
    return named(graph, graph.train)


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
    content = parquet_bytes(table(["0", "1", "2"], kind=kind))
    assert load_all(write(tmp_path / name, content)) == FACTS


def test_parquet_columns_are_found_by_name_before_order(tmp_path):
    reordered = table(["head", "relation", "tail"]).select(["tail", "head", "relation"])
    content = parquet_bytes(reordered.append_column("score", pa.array([0.5] * len(FACTS))))
    assert load_all(write(tmp_path / "facts.parquet", content)) == FACTS


def test_parquet_columns_without_names_follow_the_order_asked_for(tmp_path):
    turned = [(o, r, s) for s, r, o in FACTS]
    assert (
        load_all(write(tmp_path / "f.parquet", parquet_bytes(table(["f0", "f1", "f2"], turned))), columns="ors")
        == FACTS
    )


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"not parquet at all", "f.parquet: not a Parquet file, or a damaged one"),
        (parquet_bytes(table(["x", "y", "z"]).slice(0, 0)), "f.parquet: the file holds no facts"),
        (
            parquet_bytes(pa.table({"a": ["x"], "b": ["y"]})),
            "columns a, b; which are subject, relation, object",
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
    """A table with a column that memory is too small for."""

    type = pa.dictionary(pa.int32(), pa.string())
    column_names = ("subject", "relation", "object")
    num_rows = 1

    def __init__(self, error):
        self.error = error

    def column(self, position):
        return self

    def cast(self, kind):
        raise self.error


def test_a_lack_of_memory_is_not_a_wrong_type(tmp_path, monkeypatch):
    read = OutOfMemory(pa.ArrowMemoryError("realloc of size 8 failed"))
    monkeypatch.setattr("clausal.graph.tables._parquet", lambda _: read)
    with pytest.raises(RunError, match=r"f\.parquet: out of memory while reading it"):
        load_graph(write(tmp_path / "f.parquet", parquet_bytes(table(["x", "y", "z"]))))


def test_a_row_group_of_too_much_text_is_not_a_wrong_type(tmp_path, monkeypatch):
    read = OutOfMemory(pa.ArrowInvalid("Take operation overflowed binary array capacity"))
    monkeypatch.setattr("clausal.graph.tables._parquet", lambda _: read)
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
    unnamed = pandas.DataFrame(FACTS)
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
        (pandas.DataFrame({"subject": ["a"], "object": ["b"]}), "train: columns subject, object; which are"),
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
