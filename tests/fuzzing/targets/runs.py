"""Run directories of strangers: files damaged, removed, of other runs, or changed where their structure allows it."""

from __future__ import annotations

import json
import struct
import tempfile
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import strategies as st

import clausal
from fuzzing.base_runs import run_files
from fuzzing.cases import Case
from fuzzing.damage import changed, changes, odd_text
from fuzzing.targets import Target

KINDS = ("finished", "described", "unfinished")
_ODD = [None, True, -1, 0, 10**30, 1e300, "", "x", [], {}, [1], {"a": 1}, "nan", -0.5, [[]], float("nan"), float("inf")]
_odd = st.sampled_from(_ODD) | odd_text
_ACTIONS = {
    "finished": ["predict", "evaluate", "certify", "explain", "fused", "update", "resume", "score", "decide"],
    "described": ["predict", "evaluate", "describe", "resume"],
    "unfinished": ["resume", "resume", "predict"],
}


@st.composite
def _json(draw: st.DrawFn, content: bytes) -> bytes:
    """Change one value somewhere in a JSON document, or in one line of several."""
    lines = content.decode().splitlines() if b"\n{" in content.strip() else [content.decode()]
    line = draw(st.integers(0, max(len(lines) - 1, 0)))
    value = json.loads(lines[line]) if lines else {}
    lines[line : line + 1] = [json.dumps(_with_one_changed(draw, value))]
    return "\n".join(lines).encode()


def _with_one_changed(draw: st.DrawFn, value: Any) -> Any:
    if isinstance(value, dict) and value:
        key = draw(st.sampled_from(sorted(value)))
        if draw(st.integers(0, 5)) == 0:
            return {name: one for name, one in value.items() if name != key} | {draw(odd_text): draw(_odd)}
        return value | {key: _with_one_changed(draw, value[key])}
    if isinstance(value, list) and value and draw(st.booleans()):
        place = draw(st.integers(0, len(value) - 1))
        return [*value[:place], _with_one_changed(draw, value[place]), *value[place + 1 :]]
    return draw(_odd)


@st.composite
def _safetensors(draw: st.DrawFn, content: bytes) -> bytes:
    """Change one value in the header, or in what the header holds as JSON itself."""
    (length,) = struct.unpack("<Q", content[:8])
    header = json.loads(content[8 : 8 + length])
    metadata = header.get("__metadata__", {})
    inner = [key for key, text in metadata.items() if text[:1] in "{["]
    if inner and draw(st.booleans()):
        key = draw(st.sampled_from(inner))
        metadata[key] = json.dumps(_with_one_changed(draw, json.loads(metadata[key])))
    else:
        header = _with_one_changed(draw, header)
    written = json.dumps(header).encode()
    return struct.pack("<Q", len(written)) + written + content[8 + length :]


@st.composite
def _parquet(draw: st.DrawFn, content: bytes) -> bytes:
    """Change a cell, drop a row or a column, or make a column another type."""
    table = pq.read_table(pa.BufferReader(content))
    names = table.column_names
    column = draw(st.integers(0, len(names) - 1))
    match draw(st.sampled_from(["cell", "row", "column", "type", "name"])):
        case "cell" if len(table):
            values = table.column(column).to_pylist()
            values[draw(st.integers(0, len(values) - 1))] = draw(st.sampled_from([None, values[0], values[-1]]))
            table = table.set_column(column, names[column], pa.array(values, table.schema.types[column]))
        case "row" if len(table):
            row = draw(st.integers(0, len(table) - 1))
            table = pa.concat_tables([table.slice(0, row), table.slice(row + 1)])
        case "column":
            table = table.drop_columns([names[column]])
        case "type":
            type = draw(
                st.sampled_from([pa.large_string(), pa.binary(), pa.int64(), pa.int8(), pa.float32(), pa.null()])
            )
            try:
                table = table.set_column(column, names[column], table.column(column).cast(type))
            except pa.ArrowException:
                table = table.set_column(column, names[column], pa.nulls(len(table), type))
        case "name":
            table = table.rename_columns([draw(odd_text) if name == names[column] else name for name in names])
    buffer = pa.BufferOutputStream()
    pq.write_table(table, buffer)
    return buffer.getvalue().to_pybytes()


@st.composite
def _text(draw: st.DrawFn, content: bytes) -> bytes:
    """Change one value of settings, or one line."""
    lines = content.decode().splitlines()
    line = draw(st.integers(0, max(len(lines) - 1, 0)))
    key, equals, _ = (lines[line] if lines else "").partition(" = ")
    lines[line : line + 1] = [f"{key} = {json.dumps(draw(_odd))}" if equals else draw(odd_text)]
    return "\n".join(lines).encode("utf-8", "replace")


_STRUCTURED = {".json": _json, ".jsonl": _json, ".safetensors": _safetensors, ".parquet": _parquet}


@st.composite
def _cases(draw: st.DrawFn) -> Case:
    kind = draw(st.sampled_from(KINDS))
    files = run_files(kind)
    new: dict[str, bytes | None] = {}
    for name in draw(st.lists(st.sampled_from(sorted(files)), min_size=1, max_size=2, unique=True)):
        content = files[name]
        match draw(st.sampled_from(["structure", "structure", "structure", "bytes", "remove", "swap", "other"])):
            case "structure":
                new[name] = draw(_STRUCTURED.get(Path(name).suffix, _text)(content))
            case "bytes":
                new[name] = changed(content, draw(changes))
            case "remove":
                new[name] = None
            case "swap":
                new[name] = run_files(draw(st.sampled_from(KINDS))).get(name)
            case "other":
                new[name] = files[draw(st.sampled_from(sorted(files)))]
    return Case(new, {"run": kind, "action": draw(st.sampled_from(_ACTIONS[kind]))})


def run(case: Case, folder: Path) -> None:
    """Do with a damaged run what a user does with a good one."""
    kind = case.options["run"]
    path = folder / "run"
    Case({**run_files(kind), **case.files}).write(path)
    if case.options["action"] == "resume":
        clausal.resume(path)
        return
    run = clausal.load(path, device="cpu")
    question = (run.graph.entities[0], run.graph.relations[0], None)
    match case.options["action"]:
        case "predict":
            run.predict(question, 3)
        case "evaluate":
            run.evaluate("valid")
        case "certify":
            run.certify()
        case "explain":
            run.explain(run.predict(question, 2))
        case "fused":
            run.predict(question, 3, ranking="fused")
        case "update":
            run.update([("someone new", run.graph.relations[0], run.graph.entities[0])], out=folder / "new")
            clausal.load(folder / "new")
        case "score":
            run.score([(run.graph.entities[0], run.graph.relations[0], run.graph.entities[1])])
        case "describe":
            run.describe({"my city": "a city by a river"}).predict(("my city", run.graph.relations[0], None), 3)
        case "decide":
            run.decisions()


def prepare() -> None:
    """Train the runs, and warm up what they do."""
    for kind in KINDS:
        for action in dict.fromkeys(_ACTIONS[kind]):
            with tempfile.TemporaryDirectory() as folder:
                try:
                    run(Case({}, {"run": kind, "action": action}), Path(folder))
                except clausal.ClausalError:
                    assert kind == "unfinished" or action == "decide", "a good run is refused"


TARGET = Target(_cases(), run, slice=150, prepare=prepare)
