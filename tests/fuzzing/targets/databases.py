"""Databases: files of SQLite with odd tables, damaged or not, and queries that nobody would write.

Files of DuckDB have checksums, and are half a megabyte each: they are asked odd queries, and not damaged.
"""

from __future__ import annotations

import sqlite3
from functools import cache
from pathlib import Path

import duckdb
from hypothesis import strategies as st

from clausal import load_graph
from fuzzing.base_runs import scratch
from fuzzing.cases import Case
from fuzzing.damage import changed, changes, names, odd_text
from fuzzing.targets import Target
from fuzzing.targets.tables import HEADERS

ROWS = [("anna", "knows", "bob"), ("bob", "likes", "carl"), ("carl", "knows", "anna")]
_PARTS = [
    "SELECT",
    "*",
    "subject, relation, object",
    "FROM",
    "facts",
    "WHERE",
    "1",
    "=",
    "'x",
    "(",
    ")",
    ";",
    "--",
    "/*",
]
_PARTS += [
    "UNION ALL",
    "ORDER BY 1",
    "LIMIT 2",
    "NULL",
    "x'ff'",
    "1e999",
    "DROP TABLE facts",
    "PRAGMA",
    "ATTACH 'x'",
    "\x00",
]
_queries = st.one_of(
    st.sampled_from(
        ["SELECT * FROM facts", "SELECT subject, relation, object FROM facts", "SELECT 1, 2, 3", "SELECT 1"]
    ),
    st.lists(st.sampled_from(_PARTS), max_size=6).map(" ".join),
    odd_text,
)
_cells = st.one_of(names, st.none(), st.integers(-(2**63), 2**63 - 1), st.floats(), st.binary(max_size=4))


def _written(header: list[str], rows: list[list[object]], table: str) -> bytes:
    connection = sqlite3.connect(":memory:")
    quoted = ", ".join('"' + name.replace('"', '""') + '"' for name in header)
    connection.execute(f'CREATE TABLE "{table}" ({quoted})')
    connection.executemany(f'INSERT INTO "{table}" VALUES ({", ".join("?" * len(header))})', rows)
    connection.commit()
    return connection.serialize()


@st.composite
def _sqlite(draw: st.DrawFn) -> bytes:
    usual = draw(st.booleans())
    header = (
        HEADERS[:3] if usual else draw(st.lists(st.sampled_from(["a", "b", *HEADERS[:9]]), min_size=1, unique=True))
    )
    rows = draw(st.lists(st.lists(_cells, min_size=len(header), max_size=len(header)), max_size=4))
    content = _written(
        header, rows or ([list(row) for row in ROWS] if usual else []), draw(st.sampled_from(["facts", "t t"]))
    )
    return changed(content, draw(changes)) if draw(st.booleans()) else content


@st.composite
def _cases(draw: st.DrawFn) -> Case:
    options = draw(
        st.fixed_dictionaries({}, optional={"query": _queries, "columns": st.sampled_from(["sro", "1,2,3", "9,9,9"])})
    )
    if draw(st.integers(0, 5)) == 0:
        return Case({}, {"query": draw(_queries)})
    return Case({"facts.db": draw(_sqlite())}, options)


@cache
def _duckdb() -> Path:
    path = scratch() / "facts.db"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE facts (subject TEXT, relation TEXT, object TEXT)")
        connection.executemany("INSERT INTO facts VALUES (?, ?, ?)", ROWS)
    return path


def run(case: Case, folder: Path) -> None:
    """Load a graph from a database, which stays as it is."""
    paths = case.write(folder)
    path = paths[0] if paths else _duckdb()
    before = path.read_bytes()
    try:
        load_graph(f"{'sqlite' if paths else 'duckdb'}:{path}", valid=0, test=0, **case.options)
    finally:
        assert path.read_bytes() == before, "reading changed the database"


TARGET = Target(_cases(), run, slice=250, prepare=_duckdb)
