"""DuckDB as the place where facts are joined: an in-memory database that spills to disk under a memory limit."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterator, Sequence
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

_MEMORY_PER_THREAD = 200_000_000  # with less, threads fill the memory before they can spill to disk
_MOST_MEMORY = 10**18  # DuckDB reads amounts as 64-bit integers
_MEMORY = re.compile(r"(\d+(?:\.\d+)?) ?([KMGT])(i?)B", re.IGNORECASE)


def open_store(memory: str | None = None, threads: int | None = None) -> DuckDBPyConnection:
    """Open an in-memory database; beyond ``memory``, such as ``"2GB"``, it spills to the temporary directory.

    Without a limit it takes up to 80% of the machine's memory, and every core; with one, no more cores than it has
    memory for. Close it, or use it in a ``with``.
    """
    import duckdb

    limit = None if memory is None else memory_bytes(memory)
    connection = duckdb.connect(":memory:")
    # DuckDB makes this folder when it first spills, and removes it when the connection is closed.
    folder = Path(tempfile.gettempdir()) / f"clausal-{uuid4().hex}"
    connection.execute("SET temp_directory = ?", [str(folder)])
    connection.execute("SET preserve_insertion_order = false")  # which would hold back what can be streamed
    with suppress(duckdb.InvalidInputException):  # in a notebook without ipywidgets there can be no bar to switch off
        connection.execute("SET enable_progress_bar = false")
    if limit is not None:
        connection.execute("SET memory_limit = ?", [f"{limit}B"])
        threads = threads or min(os.cpu_count() or 1, max(1, limit // _MEMORY_PER_THREAD))
    if threads is not None:
        connection.execute("SET threads = ?", [threads])
    return connection


def load_facts(connection: DuckDBPyConnection, facts: Facts, table: str = "fact") -> None:
    """Make a table (subject INTEGER, relation INTEGER, object INTEGER) of facts."""
    load_rows(connection, facts, table, FACT_COLUMNS)


def load_rows(connection: DuckDBPyConnection, rows: NDArray[np.int32], table: str, columns: Sequence[str]) -> None:
    """Make a table of integers from an array [rows, columns]."""
    view = f"arrow_{uuid4().hex}"
    connection.register(view, arrow_columns(rows, columns))
    try:
        connection.execute(f'CREATE OR REPLACE TABLE "{table}" AS SELECT * FROM {view}')
    finally:
        connection.unregister(view)


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
    """Return named columns of a query as an array [rows, columns]."""
    found = connection.execute(query).fetchnumpy()
    rows = np.empty((len(found[columns[0]]), len(columns)), dtype=type)
    for index, name in enumerate(columns):
        rows[:, index] = found[name]
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
