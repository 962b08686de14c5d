"""What joins tables of ids: the closure, the counting of rules and mining ask any engine the same queries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from clausal.errors import InputError
from clausal.logic.store import Rows

EngineName = Literal["duckdb", "spark"]


class Within(NamedTuple):
    """The values of a column from the first on, before the end."""

    column: str
    first: int
    end: int

    def __str__(self) -> str:
        return f"{self.column} >= {self.first} AND {self.column} < {self.end}"


class Engine(Protocol):
    """Holds tables of integers, in memory or beyond it, and answers queries in the SQL that all engines share."""

    most_limited: int | None
    """The largest ``LIMIT`` that still saves work inside a query; None where every one does."""

    def load(self, table: str, rows: Rows, columns: Sequence[str]) -> None:
        """Make a table of rows."""

    def create(self, table: str, query: str) -> None:
        """Make a table of what a query finds, in place of one of that name."""

    def define(self, view: str, query: str) -> None:
        """Let a name stand for a query."""

    def drop(self, table: str) -> None:
        """Remove a table."""

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """Return the rows of a query that finds few."""

    def fetch(
        self, table: str, columns: Sequence[str], type: type[Any] = np.int32, within: Within | None = None
    ) -> NDArray[Any]:
        """Return columns of a table, or of its rows ``within`` some values; counts need a wider type."""

    def close(self) -> None:
        """Let go of everything."""


def open_engine(
    engine: str,
    what: str,
    *,
    memory: str | None = None,
    threads: int | None = None,
    master: str | None = None,
    shared: str | None = None,
) -> Engine:
    """Open an engine by name; ``what`` it works on is named in errors.

    ``memory`` and ``threads`` bound it. ``master`` is the URL of a Spark cluster, and ``shared`` a folder that all its
    machines see.
    """
    if engine == "duckdb":
        if master is not None or shared is not None:
            name = "master" if master is not None else "shared folder"
            raise InputError(f"a {name} is for the Spark engine; DuckDB runs on this machine alone")
        from clausal.logic.engines.duck import DuckEngine

        return DuckEngine(what, memory, threads)
    if engine == "spark":
        from clausal.logic.engines.spark import SparkEngine

        return SparkEngine(what, master, memory, shared)
    raise InputError(f"unknown engine '{engine}'; expected duckdb or spark")
