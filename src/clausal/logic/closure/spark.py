"""The closure on Spark SQL: the same rules and the same queries, on a cluster or on this machine."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np

from clausal.errors import InputError, RunError
from clausal.graph import Facts
from clausal.logic.closure.engine import rule_rows
from clausal.logic.rules import RuleGroup
from clausal.logic.sql import rule_table
from clausal.logic.store import FACT_COLUMNS, arrow_columns, memory_bytes

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_LOCAL = "local[*]"
_MASTER = re.compile(r"(local(\[.+\])?|yarn)$|(spark|k8s)://.")


class SparkEngine:
    """Tables as temporary views of a Spark session: the active one if there is one, else one of its own."""

    def __init__(self, master: str | None = None, memory: str | None = None) -> None:
        try:
            from pyspark.sql import SparkSession
        except ImportError:
            raise InputError("the Spark engine needs pyspark and Java: pip install 'clausal[spark]'") from None
        if master is not None and not _MASTER.match(master):
            raise InputError(
                f"'{master}' is no master of Spark; expected local, local[4], spark://host:7077, k8s://… or yarn"
            )
        active = SparkSession.getActiveSession()
        if active is not None and (master is not None or memory is not None):
            raise InputError("a Spark session is active already, and its master and memory cannot be changed")
        self._owned = None if active is not None else _start(master or _LOCAL, memory)
        # A session beside the other one: views of the same names there stay what they are.
        self._session = (active or self._owned).newSession()  # type: ignore[union-attr]
        self._known: DataFrame | None = None

    def load(self, facts: Facts, groups: Sequence[RuleGroup]) -> None:
        with _readable_errors():
            self._known = self._table(facts, list(FACT_COLUMNS)).localCheckpoint()
            self._known.createOrReplaceTempView("known")
            for number, group in enumerate(groups):
                self._table(*rule_rows(group)).createOrReplaceTempView(rule_table(number))

    def derive(self, query: str) -> Facts:
        assert self._known is not None
        with _readable_errors():
            # A checkpoint ends the history of a table, which would otherwise be computed anew in each round.
            delta = self._session.sql(query).localCheckpoint()
            delta.createOrReplaceTempView("delta")
            self._known = self._known.union(delta)
            self._known.createOrReplaceTempView("known")
            table = delta.toArrow()
        return np.stack([table.column(name).to_numpy() for name in FACT_COLUMNS], axis=1).astype(np.int32, copy=False)

    def close(self) -> None:
        if self._owned is not None:
            self._owned.stop()

    def _table(self, rows: Facts, names: list[str]) -> DataFrame:
        return self._session.createDataFrame(arrow_columns(rows, names))


def _start(master: str, memory: str | None) -> SparkSession:
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.appName("clausal").config("spark.ui.showConsoleProgress", "false")
    if master.startswith("local"):
        # Two hundred partitions, the default, are for clusters: here each would be a task of next to nothing.
        builder = builder.config("spark.sql.shuffle.partitions", str(os.cpu_count() or 1))
        builder = builder.config("spark.ui.enabled", "false").config("spark.driver.bindAddress", "127.0.0.1")
        builder = builder.config("spark.driver.host", "127.0.0.1")
    if memory is not None:
        # On this machine the driver is the one that works.
        role = "driver" if master.startswith("local") else "executor"
        builder = builder.config(f"spark.{role}.memory", f"{max(memory_bytes(memory) >> 20, 1)}m")
    with _readable_errors():
        session = builder.master(master).getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    return session


@contextmanager
def _readable_errors() -> Iterator[None]:
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        yield
    except (PySparkException, Py4JError) as error:
        if "JAVA_GATEWAY_EXITED" in str(error):
            raise RunError(
                "Spark could not start: it needs Java 17 or later (see JAVA_HOME) and the master's URL right"
            ) from None
        raise RunError(f"Spark failed: {(str(error).strip() or 'no reason given').splitlines()[0]}") from None
