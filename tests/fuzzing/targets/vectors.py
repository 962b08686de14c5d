"""Files of vectors, pre-trained or describing: NumPy, safetensors, Parquet and word2vec text, damaged or odd."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import torch
from hypothesis import strategies as st
from safetensors.torch import save

from clausal.model.pretrained import read_named_vectors, read_vectors
from fuzzing.cases import Case
from fuzzing.damage import names, sometimes_damaged
from fuzzing.targets import Target
from fuzzing.targets.tables import GRAPH

_TYPES = ["<f4", "<f8", ">f4", "<f2", "<i8", "|b1", "<c8", "<U3", "|S4", "<M8[s]", "|V4"]
_TORCH = [torch.float32, torch.float64, torch.bfloat16, torch.int64, torch.bool, torch.float8_e4m3fn, torch.complex64]
_shapes = st.sampled_from([(3, 2), (3, 2), (2, 3), (3,), (), (0, 2), (3, 0), (3, 2, 1)])


@st.composite
def _npy(draw: st.DrawFn) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, np.zeros(draw(_shapes), np.dtype(draw(st.sampled_from(_TYPES)))), allow_pickle=False)
    return buffer.getvalue()


@st.composite
def _safetensors(draw: st.DrawFn) -> bytes:
    keys = draw(st.lists(st.sampled_from(["entities", "x", "", "relations"]), max_size=2, unique=True))
    return save({key: torch.zeros(draw(_shapes), dtype=draw(st.sampled_from(_TORCH))) for key in keys})


@st.composite
def _parquet(draw: st.DrawFn) -> bytes:
    rows = draw(st.integers(0, 4))
    vectors = draw(
        st.lists(
            st.none() | st.lists(st.none() | st.floats(width=32), min_size=1, max_size=3), min_size=rows, max_size=rows
        )
    )
    kind = draw(
        st.sampled_from([pa.list_(pa.float32()), pa.large_list(pa.float64()), pa.list_(pa.string()), pa.string()])
    )
    keys = draw(st.lists(names | st.none(), min_size=rows, max_size=rows))
    try:
        column = pa.array(vectors, pa.list_(pa.float32())).cast(kind)
    except (pa.ArrowException, NotImplementedError):
        column = pa.nulls(rows, kind)
    keyed = pa.array(keys, pa.string())
    if draw(st.booleans()):
        coded = pa.array([None if key is None else key.encode("latin-1", "replace") for key in keys], pa.binary())
        keyed = pa.Array.from_buffers(pa.string(), rows, coded.buffers())
    header = draw(st.sampled_from([["name", "vector"], ["name", "vector", "kind"], ["a", "b"], ["name"]]))
    columns = [keyed, column, pa.array(["entities"] * rows, pa.string())][: len(header)]
    buffer = io.BytesIO()
    pq.write_table(pa.table(columns, names=header), buffer)
    return buffer.getvalue()


_numbers = st.sampled_from(["0", "1.5", "-1e5", "nan", "1e400", "x", "²", "", "9" * 5000, "1_0", "0x1"])
_lines = st.lists(
    st.tuples(names, st.lists(_numbers, max_size=3)).map(lambda row: " ".join([row[0], *row[1]])), max_size=4
)
_headers = st.sampled_from(["", "3 2\n", "² ²\n", "3 " + "9" * 5000 + "\n", "0 0\n", "3 -1\n", "3 2 1\n"])
_text = st.tuples(_headers, _lines.map("\n".join)).map(lambda parts: "".join(parts).encode())
_CONTENTS = {".npy": _npy(), ".safetensors": _safetensors(), ".parquet": _parquet(), ".txt": _text}


@st.composite
def _cases(draw: st.DrawFn) -> Case:
    ending = draw(st.sampled_from(sorted(_CONTENTS)))
    files = {f"vectors{ending}": draw(sometimes_damaged(_CONTENTS[ending]))}
    if draw(st.booleans()):
        lines = draw(st.one_of(st.just("anna\nbob\ncarl"), st.lists(names, max_size=4).map("\n".join)))
        files["names.txt"] = draw(sometimes_damaged(st.just(lines.encode())))
    return Case(files, {"dim": draw(st.sampled_from([2, 3, 1])), "named": draw(st.booleans())})


def run(case: Case, folder: Path) -> None:
    """Read vectors for the entities of a graph, or whatever names they have."""
    path, *named = case.write(folder)
    if case.options.get("named"):
        read_named_vectors(path, GRAPH.entities, *named)
    else:
        found = read_vectors(path, GRAPH.entities, case.options.get("dim", 2), *named)
        assert found.dtype == torch.float32
        assert found.isfinite().all()


TARGET = Target(_cases(), run, slice=600)
