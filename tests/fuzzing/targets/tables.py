"""Facts in tables: text, JSON, Parquet and Arrow, compressed or not, read as each command reads them."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
from hypothesis import strategies as st

from clausal.graph import Graph, load_graph, read_facts, read_labelled, write_facts
from clausal.graph.descriptions import read_texts
from fuzzing.cases import Case
from fuzzing.damage import changed, changes, compressed, compressions, names, odd_text, sometimes_damaged
from fuzzing.targets import Target

GRAPH = Graph.from_triples([("anna", "knows", "bob"), ("bob", "likes", "carl"), ("carl", "knows", "anna")])
HEADERS = ["subject", "relation", "object", "source", "target", "type", "label", ":START_ID", ":END_ID", "", "x", "1"]
TEXT = [".txt", ".tsv", ".csv", ".tab", ""]
JSON = [".json", ".jsonl", ".ndjson"]
ARROW = [".parquet", ".arrow", ".feather", ".ipc"]
TYPES = [
    pa.string(), pa.large_string(), pa.string_view(), pa.binary(), pa.dictionary(pa.int8(), pa.string()), pa.int64(),
    pa.uint8(), pa.float64(), pa.float16(), pa.bool_(), pa.null(), pa.date32(), pa.timestamp("ns", "UTC"),
    pa.duration("s"), pa.time64("us"), pa.decimal128(30, 4), pa.list_(pa.string()), pa.struct([("a", pa.int8())]),
    pa.map_(pa.string(), pa.int8()), pa.binary(3),
]  # fmt: skip

_rows = st.lists(st.lists(names, min_size=2, max_size=4), max_size=6)
_facts = st.lists(st.lists(names, min_size=3, max_size=3), min_size=1, max_size=8)
_header = st.none() | st.lists(st.sampled_from(HEADERS), min_size=2, max_size=4)


@st.composite
def _text(draw: st.DrawFn) -> bytes:
    rows = draw(st.one_of(_facts, _rows))
    header = draw(_header)
    quoting = draw(st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONE]))
    separator, end = draw(st.sampled_from("\t\t,,;| ")), draw(st.sampled_from(["\n", "\r\n", "\r", "\n\n"]))
    buffer = io.StringIO()
    if quoting == csv.QUOTE_NONE:
        buffer.write(end.join(separator.join(row) for row in [*([header] if header else []), *rows]))
    else:
        csv.writer(buffer, delimiter=separator, quoting=quoting, lineterminator=end).writerows(
            [*([header] if header else []), *rows]
        )
    return buffer.getvalue().encode(draw(st.sampled_from(["utf-8", "utf-8", "utf-8-sig", "utf-16", "utf-32"])))


_scalars = st.one_of(names, st.none(), st.booleans(), st.integers(-(10**20), 10**20), st.floats())
_values = st.recursive(
    _scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(odd_text, inner, max_size=3), max_leaves=6
)
_records = st.one_of(
    st.lists(
        st.fixed_dictionaries(
            {"subject": names, "relation": names, "object": names}, optional={"x": _values, "label": _values}
        ),
        max_size=6,
    ),
    st.lists(st.dictionaries(st.sampled_from(HEADERS), _values, max_size=4), max_size=4),
    st.lists(st.lists(_values, max_size=4), max_size=4),
    _values,
)


@st.composite
def _json(draw: st.DrawFn, lines: bool) -> bytes:
    records = draw(_records)
    if lines and isinstance(records, list):
        return "\n".join(json.dumps(record) for record in records).encode()
    return json.dumps(records, indent=draw(st.none() | st.just(1))).encode()


@st.composite
def _arrow_table(draw: st.DrawFn) -> pa.Table:
    rows = draw(st.integers(0, 4))
    header = draw(st.one_of(st.just(["subject", "relation", "object"]), st.lists(st.sampled_from(HEADERS), max_size=5)))
    columns = []
    for _ in header:
        type = draw(st.sampled_from([pa.string(), *TYPES]))
        values = draw(st.lists(names | st.none(), min_size=rows, max_size=rows))
        columns.append(_column(values, type))
    return pa.table(columns, names=header) if header else pa.table({})


def _column(values: list[str | None], type: pa.DataType) -> pa.Array:
    """Return values of a type that are as like these names as it allows."""
    if pa.types.is_binary(type):
        return pa.array([None if value is None else value.encode("utf-16") for value in values], type)
    try:
        return pa.array(values, pa.string()).cast(type)
    except (pa.ArrowException, NotImplementedError):
        return pa.nulls(len(values), type)


def _bad_text(table: pa.Table, _: object) -> pa.Table:
    """Call the bytes of binary columns text, which they need not be."""
    columns = []
    for column in table.columns:
        if pa.types.is_binary(column.type):
            (chunk,) = column.chunks or [pa.array([], pa.binary())]
            column = pa.Array.from_buffers(pa.string(), len(chunk), chunk.buffers(), offset=chunk.offset)
        columns.append(column)
    return pa.table(columns, names=table.column_names)


@st.composite
def _arrow(draw: st.DrawFn, ending: str) -> bytes:
    table = draw(_arrow_table())
    if draw(st.booleans()):
        table = _bad_text(table, None)
    buffer = io.BytesIO()
    try:
        if ending == ".parquet":
            pq.write_table(table, buffer, compression=draw(st.sampled_from(["none", "snappy", "zstd"])))
        else:
            feather.write_feather(table, buffer, compression=draw(st.sampled_from(["uncompressed", "lz4"])))
    except (pa.ArrowException, ValueError):
        return b"PAR1"
    return buffer.getvalue()


def _contents(ending: str) -> st.SearchStrategy[bytes]:
    if ending in ARROW:
        return _arrow(ending)
    return _json(ending != ".json") if ending in JSON else _text()


_columns = st.sampled_from(
    ["sro", "sro", "sor", "ors", "subject,relation,object", "1,2,3", "3,2,1", "0,1,9" + "9" * 40]
)
_options = st.fixed_dictionaries(
    {},
    optional={
        "columns": _columns | odd_text,
        "header": st.sampled_from(["auto", "no", "yes"]),
        "reader": st.sampled_from(["facts", "labelled", "texts"]),
    },
)


@st.composite
def _cases(draw: st.DrawFn) -> Case:
    ending = draw(st.sampled_from([*TEXT, *JSON, *ARROW]))
    compression = draw(compressions)
    content = compressed(draw(sometimes_damaged(_contents(ending))), compression)
    if compression and draw(st.booleans()):
        content = changed(content, draw(changes))
    return Case({f"facts{ending}{compression}": content}, draw(_options))


def run(case: Case, folder: Path) -> None:
    """Read a table in the way that the case asks for; what was read reads back after it is written."""
    (path,) = case.write(folder)
    options = dict(case.options)
    match options.pop("reader", "graph"):
        case "facts":
            read_facts(path, GRAPH.entities, GRAPH.relations, **options)
        case "labelled":
            read_labelled(path, GRAPH, **options)
        case "texts":
            read_texts(path, GRAPH, lambda _: None)
        case _:
            graph = load_graph(path, valid=0, test=0, **options)
            write_facts(folder / "again.parquet", graph.train, graph.entities, graph.relations)
            again = load_graph(folder / "again.parquet", valid=0, test=0)
            assert named(again) == named(graph)


def named(graph: Graph) -> list[tuple[str, str, str]]:
    """Return the train facts of a graph in names."""
    return [(graph.entities[s], graph.relations[r], graph.entities[o]) for s, r, o in graph.train.tolist()]


TARGET = Target(_cases(), run, slice=650)
