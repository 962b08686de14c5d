"""DuckDB as an engine: embedded, on every core, and on disk beyond its memory limit."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clausal.logic.engines.engine import Within
from clausal.logic.store import Rows, fetch_columns, load_rows, open_store, readable_errors


class DuckEngine:
    """A database of one's own."""

    most_limited: int | None = None

    def __init__(self, what: str, memory: str | None = None, threads: int | None = None) -> None:
        self._what = what
        self._opened = ExitStack()
        self._connection = self._opened.enter_context(open_store(memory, threads))

    def load(self, table: str, rows: Rows, columns: Sequence[str]) -> None:
        with readable_errors(self._what):
            load_rows(self._connection, rows, table, columns)

    def create(self, table: str, query: str) -> None:
        with readable_errors(self._what):
            self._connection.execute(f"CREATE OR REPLACE TABLE {table} AS {query}")

    def define(self, view: str, query: str) -> None:
        with readable_errors(self._what):
            self._connection.execute(f"CREATE OR REPLACE VIEW {view} AS {query}")

    def drop(self, table: str) -> None:
        with readable_errors(self._what):
            self._connection.execute(f"DROP TABLE {table}")

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        with readable_errors(self._what):
            found: list[tuple[Any, ...]] = self._connection.execute(query).fetchall()
            return found

    def fetch(
        self, table: str, columns: Sequence[str], type: type[Any] = np.int32, within: Within | None = None
    ) -> NDArray[Any]:
        query = f"SELECT {', '.join(columns)} FROM {table}{'' if within is None else f' WHERE {within}'}"
        with readable_errors(self._what):
            return fetch_columns(self._connection, query, columns, type)

    def close(self) -> None:
        self._opened.close()
