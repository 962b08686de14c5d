"""DuckDB as the place where facts are joined: a database in memory, or under a memory limit one on disk."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from clausal.errors import InputError, RunError
from clausal.graph import Facts

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


class NoRoomError(RunError):
    """A query needs more memory than it may have, and more than it can put on disk."""


FACT_COLUMNS = ("subject", "relation", "object")
Rows = NDArray[np.int32] | Iterable[NDArray[np.int32]]
"""Rows of a table [rows, columns]: all of them, or blocks that are made one after the other."""

_MEMORY_PER_THREAD = 200_000_000  # with less, threads fill the memory before they can spill to disk
_CHECKPOINT_PART = 40
_MOST_MEMORY = 10**18  # DuckDB reads amounts as 64-bit integers
_AT_ONCE = 4_000_000  # rows that pass to or from DuckDB
_MEMORY = re.compile(r"(\d+(?:\.\d+)?) ?([KMGT])(i?)B", re.IGNORECASE)


@contextmanager
def open_store(memory: str | None = None, threads: int | None = None) -> Iterator[DuckDBPyConnection]:
    """Open a database that is gone at the end of the ``with``.

    Without a limit it is in memory, takes up to 80% of the machine's, and every core. Tables in memory take room from
    the joins, and DuckDB gives up where both together are too large. So with a limit such as ``"2GB"`` tables are in
    a file of the temporary directory, where joins spill to as well, and there are no more threads than memory for them.
    """
    limit = None if memory is None else memory_bytes(memory)
    if limit is None:
        with _connected(":memory:", Path(tempfile.gettempdir()) / f"clausal-{uuid4().hex}", threads) as connection:
            yield connection
        return
    threads = threads or min(os.cpu_count() or 1, max(1, limit // _MEMORY_PER_THREAD))
    with _own_folder() as folder, _connected(str(folder / "facts.duckdb"), folder / "spilled", threads) as connection:
        connection.execute("SET memory_limit = ?", [f"{limit}B"])
        # Tables of few rows stay in memory until a checkpoint writes them to the file.
        connection.execute("SET checkpoint_threshold = ?", [f"{limit // _CHECKPOINT_PART}B"])
        connection.execute("PRAGMA disable_checkpoint_on_shutdown")  # nobody reads it again
        yield connection


@contextmanager
def _own_folder() -> Iterator[Path]:
    try:
        folder = Path(tempfile.mkdtemp(prefix="clausal-"))
    except OSError as error:
        raise RunError(
            f"{tempfile.gettempdir()}: no folder for facts beyond the memory limit can be made there "
            f"({error.strerror}); name another one by TMPDIR"
        ) from None
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _connected(database: str, spilled: Path, threads: int | None) -> Iterator[DuckDBPyConnection]:
    """Open a database that spills to a folder, which DuckDB makes and removes."""
    import duckdb

    with duckdb.connect(database) as connection:
        connection.execute("SET temp_directory = ?", [str(spilled)])
        connection.execute("SET preserve_insertion_order = false")  # which would hold back what can be streamed
        with suppress(duckdb.InvalidInputException):  # in a notebook without ipywidgets there can be no bar
            connection.execute("SET enable_progress_bar = false")
        if threads is not None:
            connection.execute("SET threads = ?", [threads])
        yield connection


def load_facts(connection: DuckDBPyConnection, facts: Facts, table: str = "fact") -> None:
    """Make a table (subject INTEGER, relation INTEGER, object INTEGER) of facts."""
    load_rows(connection, facts, table, FACT_COLUMNS)


def load_rows(connection: DuckDBPyConnection, rows: Rows, table: str, columns: Sequence[str]) -> None:
    """Make a table of integers."""
    view = f"arrow_{uuid4().hex}"
    for number, some in enumerate(slices(rows, _AT_ONCE)):
        connection.register(view, arrow_columns(some, columns))
        into = f'INSERT INTO "{table}"' if number else f'CREATE OR REPLACE TABLE "{table}" AS'
        try:
            connection.execute(f"{into} SELECT * FROM {view}")
        finally:
            connection.unregister(view)


def slices(rows: Rows, size: int) -> Iterator[NDArray[np.int32]]:
    """Yield rows, so many at a time; where there are none, an array of none."""
    for block in [rows] if isinstance(rows, np.ndarray) else rows:
        for start in range(0, max(len(block), 1), size):
            yield block[start : start + size]


def arrow_columns(rows: NDArray[np.int32], columns: Sequence[str]) -> Any:
    """Return the columns of an array [rows, columns] as a pyarrow table, copied only where they are not contiguous."""
    import pyarrow as pa

    arrays = [pa.array(np.ascontiguousarray(column, dtype=np.int32)) for column in rows.T]
    return pa.Table.from_arrays(arrays, names=list(columns))


def fetch_facts(connection: DuckDBPyConnection, query: str) -> Facts:
    """Return the rows of a query, whose columns are subject, relation and object, as facts."""
    return fetch_columns(connection, query, FACT_COLUMNS)


def fetch_columns(
    connection: DuckDBPyConnection, query: str, columns: Sequence[str], type: type[Any] = np.int32
) -> NDArray[Any]:
    """Return named columns of a query as an array [rows, columns], with little memory beside it."""
    size = connection.execute(f"SELECT count(*) FROM ({query}) AS counted").fetchall()[0][0]
    rows = np.empty((size, len(columns)), dtype=type)
    found = connection.sql(query)
    batches = found.to_arrow_reader if hasattr(found, "to_arrow_reader") else found.fetch_arrow_reader  # in DuckDB 1
    start = 0
    for batch in batches(_AT_ONCE):
        for index, name in enumerate(columns):
            rows[start : start + len(batch), index] = batch.column(name).to_numpy(zero_copy_only=False)
        start += len(batch)
    return rows


@contextmanager
def readable_errors(what: str) -> Iterator[None]:
    """Turn a lack of memory, a full disk or Ctrl-C while DuckDB works on ``what`` into errors of this library."""
    import duckdb

    try:
        yield
    except duckdb.OutOfMemoryException:
        raise NoRoomError(
            f"{what} does not fit into the memory limit, nor its overflow onto the disk; give it more memory, "
            "or look for a clause that joins everything with everything"
        ) from None
    except duckdb.IOException as error:
        raise RunError(f"{what} could not be spilled to disk: {str(error).splitlines()[0]}") from None
    except RuntimeError as error:
        if str(error) == "Query interrupted":  # how DuckDB passes on Ctrl-C
            raise KeyboardInterrupt from None
        raise


def memory_bytes(text: str) -> int:
    """Read an amount of memory, such as ``500MB`` or ``2GiB``."""
    found = _MEMORY.fullmatch(text)
    amount = 0.0
    if found:
        number, unit, binary = found.groups()
        amount = float(number) * (1024 if binary else 1000) ** ("KMGT".index(unit.upper()) + 1)
    if amount < 1:
        raise InputError(f"'{text}' is no amount of memory; expected a number with its unit, such as 500MB or 2GB")
    if amount > _MOST_MEMORY:
        raise InputError(f"'{text}' is more memory than any machine has; expected at most 1000000TB, such as 2GB")
    return int(amount)
