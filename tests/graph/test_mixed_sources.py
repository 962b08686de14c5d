"""Tables and RDF together: lists of files, compressed tables of all formats, batches by the names of columns."""

import bz2
import gzip
import json

import pyarrow as pa
import pytest

from clausal.errors import InputError
from clausal.graph import Graph, load_graph, write_facts
from clausal.graph.batches import read_batches
from clausal.graph.columns import parse_columns

CSV = "to,weight,from,type\nb,1,a,likes\nc,2,b,likes\n"
FACTS = {("a", "likes", "b"), ("b", "likes", "c")}


def compressed(name, text):
    if name.endswith((".zst", ".lz4")):
        sink = pa.BufferOutputStream()
        with pa.CompressedOutputStream(sink, {".zst": "zstd", ".lz4": "lz4"}[name[-4:]]) as stream:
            stream.write(text.encode())
        return sink.getvalue().to_pybytes()
    return {".gz": gzip.compress, "bz2": bz2.compress}[name[-3:]](text.encode())


def by_name(graph):
    return {(graph.entities[s], graph.relations[r], graph.entities[o]) for s, r, o in graph.known.tolist()}


@pytest.mark.parametrize("ending", [".gz", ".bz2", ".zst", ".lz4"])
@pytest.mark.parametrize("kind", [".csv", ".jsonl", ".txt"])
def test_tables_of_all_formats_may_be_compressed(tmp_path, kind, ending):
    lines = "".join(json.dumps({"head": s, "relation": r, "tail": o}) + "\n" for s, r, o in sorted(FACTS))
    path = tmp_path / f"f{kind}{ending}"
    path.write_bytes(compressed(path.name, CSV if kind == ".csv" else lines))
    assert by_name(load_graph(path)) == FACTS
    rows = [row for table in read_batches(path, parse_columns("sro")) for row in table.to_pylist()]
    assert {(row["subject"], row["relation"], row["object"]) for row in rows} == FACTS


def test_a_list_of_files_is_one_graph_with_the_notes_of_all(tmp_path):
    (tmp_path / "f.csv").write_text(CSV)
    (tmp_path / "g.ttl").write_text('<http://e.org/x> <http://e.org/r> <http://e.org/y>; <http://e.org/n> "X".\n')
    graph = load_graph([str(tmp_path / "f.csv"), tmp_path / "g.ttl"], valid=0, test=0)
    assert by_name(graph) == {*FACTS, ("http://e.org/x", "http://e.org/r", "http://e.org/y")}
    assert graph.notes[:3] == (
        "2 files are one graph: f.csv, g.ttl",
        "f.csv: not used: column weight",
        "1 statement with a literal kept aside; --literals keep makes facts of them",
    )
    assert graph.source == {"address": f"{tmp_path / 'f.csv'}, {tmp_path / 'g.ttl'}"}
    assert by_name(load_graph(sorted(FACTS))) == FACTS


@pytest.mark.parametrize("header", ["auto", "no"])
def test_batches_find_columns_and_pass_over_comments_as_the_whole_file(tmp_path, header):
    path = tmp_path / "f.csv"
    path.write_text("# made by hand\n" * (header == "auto") + "x,a,likes,b\n \nx,b,likes,c\n")
    rows = [row for table in read_batches(path, parse_columns("2,3,4", header)) for row in table.to_pylist()]
    assert [tuple(row.values()) for row in rows] == sorted(FACTS)


def test_facts_are_written_by_gzip_or_not_compressed(tmp_path):
    graph = Graph.from_triples(sorted(FACTS))
    with pytest.raises(InputError, match=r"or with \.gz behind it, not '\.bz2'"):
        write_facts(tmp_path / "f.tsv.bz2", graph.train, graph.entities, graph.relations)
