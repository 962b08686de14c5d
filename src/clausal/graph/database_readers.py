"""Open databases that are only read: DuckDB, SQLite, PostgreSQL."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

from clausal.errors import InputError
from clausal.graph.addresses import waiting_options, without_secrets

_ANSWERS = 30  # seconds in which a server answers, and in which others let go of a table
_BATCH = 100_000
_NO_NAMES = (bytes, memoryview, list, dict, tuple, set)


class Database(Protocol):
    """An open database that is only read."""

    name: str

    def tables(self) -> dict[str, list[str]]:
        """Return the columns of each table and view, by its name as a query has it."""

    def rows(self, query: str) -> Any:
        """Return the rows of a query as a pyarrow table with the names of its columns."""


@contextmanager
def open_duckdb(path: Path, source: str) -> Iterator[Database]:
    """Open a file of DuckDB."""
    import duckdb

    with _explained(duckdb.Error, source):
        connection = duckdb.connect(str(path), read_only=True)
        try:
            yield _DuckDB(connection, path.stem, source)
        finally:
            connection.close()


class _DuckDB:
    def __init__(self, connection: Any, name: str, source: str) -> None:
        self._connection, self.name, self._source = connection, name, source

    def tables(self) -> dict[str, list[str]]:
        found = self._connection.execute(
            "SELECT schema_name, table_name, column_name FROM duckdb_columns() "
            "WHERE NOT internal AND database_name = current_database() ORDER BY ALL"
        ).fetchall()
        return _by_table(found, "main")

    def rows(self, query: str) -> Any:
        import pyarrow as pa

        if len(self._connection.extract_statements(query)) != 1:
            raise InputError(f"{self._source}: expected one query, got several")
        return pa.table(self._connection.sql(query))


@contextmanager
def open_sqlite(path: Path, source: str) -> Iterator[Database]:
    """Open a file of SQLite."""
    import sqlite3

    with _explained((sqlite3.Error, sqlite3.Warning, UnicodeDecodeError), source):
        connection = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)
        try:
            yield _SQLite(connection, path.stem, source)
        finally:
            connection.close()


class _SQLite:
    def __init__(self, connection: Any, name: str, source: str) -> None:
        self._connection, self.name, self._source = connection, name, source

    def tables(self) -> dict[str, list[str]]:
        found = self._connection.execute(
            "SELECT '', m.name, c.name FROM sqlite_master m, pragma_table_info(m.name) c "
            "WHERE m.type IN ('table', 'view') AND m.name NOT LIKE 'sqlite_%' ORDER BY m.name, c.cid"
        ).fetchall()
        return _by_table(found, "")

    def rows(self, query: str) -> Any:
        cursor = self._connection.execute(query)
        return _table_of_rows(cursor, self._source)


@contextmanager
def open_postgresql(address: str, source: str) -> Iterator[Database]:
    """Open a database of PostgreSQL, in a transaction that can only read."""
    try:
        import psycopg
    except ImportError:
        raise InputError(f"{source}: reading PostgreSQL needs psycopg: pip install 'clausal[postgres]'") from None

    options: dict[str, Any] = waiting_options(address, _ANSWERS)
    with (
        _explained(psycopg.Error, source, lambda text: without_secrets(text, address)),
        psycopg.connect(address, **options) as connection,
    ):
        connection.read_only = True
        connection.execute(f"SET lock_timeout = '{_ANSWERS}s'")
        yield _PostgreSQL(connection, source)
        connection.rollback()


class _PostgreSQL:
    def __init__(self, connection: Any, source: str) -> None:
        self._connection, self.name, self._source = connection, connection.info.dbname, source

    def tables(self) -> dict[str, list[str]]:
        found = self._connection.execute(
            "SELECT table_schema, table_name, column_name FROM information_schema.columns "
            "WHERE table_schema NOT IN ('pg_catalog', 'information_schema') ORDER BY 1, 2, ordinal_position"
        ).fetchall()
        return _by_table(found, "public")

    def rows(self, query: str) -> Any:
        with self._connection.cursor(
            name="clausal"
        ) as cursor:  # by its name the server keeps the rows until they are asked for
            cursor.execute(query)
            return _table_of_rows(cursor, self._source)


@contextmanager
def _explained(
    error: type[Exception] | tuple[type[Exception], ...], source: str, cleaned: Callable[[str], str] = str
) -> Iterator[None]:
    """Turn what a database refuses into one line."""
    try:
        yield
    except error as refused:
        reason = " ".join(line.strip() for line in str(refused).splitlines()[:3] if line.strip())
        if isinstance(refused, UnicodeDecodeError):
            reason = f"the database is damaged, or not in UTF-8 (byte 0x{refused.object[refused.start]:02x} in a name)"
        raise InputError(f"{source}: {cleaned(reason)}") from None


def _by_table(found: Iterable[tuple[str, str, str]], usual_schema: str) -> dict[str, list[str]]:
    tables: dict[str, list[str]] = {}
    for schema, table, column in found:
        name = in_quotes(table) if schema == usual_schema else f"{in_quotes(schema)}.{in_quotes(table)}"
        tables.setdefault(name, []).append(column)
    return tables


def in_quotes(name: str) -> str:
    """Return a name as SQL has it, in quotes unless it is a plain word."""
    return name if name.isidentifier() and name.islower() else '"' + name.replace('"', '""') + '"'


def _table_of_rows(cursor: Any, source: str) -> Any:
    """Return the rows of a cursor as a pyarrow table of text."""
    import pyarrow as pa

    names = [column[0] for column in cursor.description or ()]
    schema = pa.schema([(f"{place}", pa.string()) for place in range(len(names))])
    batches, row = [], 0
    while rows := cursor.fetchmany(_BATCH):
        columns = [
            _texts(column, name, source, row) for name, column in zip(names, zip(*rows, strict=True), strict=True)
        ]
        batches.append(pa.record_batch([pa.array(column, pa.string()) for column in columns], schema=schema))
        row += len(rows)
    return pa.Table.from_batches(batches, schema).rename_columns(names)


def _texts(column: Sequence[Any], name: str, source: str, row: int) -> list[str | None]:
    texts: list[str | None] = []
    for number, value in enumerate(column, start=row + 1):
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, (float, *_NO_NAMES)):
            raise InputError(
                f"{source}: row {number}: {name} is {value!r:.40}; expected a name: a text or a whole number"
            )
        texts.append(None if value is None else str(value))
    return texts
