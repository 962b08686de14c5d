"""Spark SQL as an engine: the same queries, on a cluster or on this machine.

Tables are files in a folder that the driver and all workers see. What a query finds is written there by the workers, so
that no table passes through the driver, and a worker that dies takes nothing with it: Spark does its part again.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from urllib.request import url2pathname
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from clausal.errors import InputError, RunError
from clausal.files import explained_os_errors
from clausal.logic.engines.cluster import WorkerWatch, own_address, started_in_time, wait_for_workers
from clausal.logic.engines.engine import Within
from clausal.logic.store import Rows, arrow_columns, memory_bytes, slices

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

_LOCAL = "local[*]"
_MASTER = re.compile(r"(local(\[.+\])?|yarn)$|(spark|k8s)://.")
_FEW = 100_000  # rows that the driver keeps by itself
_SLICE = 2_000_000  # rows of a file
_SENT = 500_000  # rows that pass through the driver at once, whose memory is small
_FILES = 8  # of at most a slice each, read back at once


class SparkEngine:
    """Tables of a Spark session beside the active one if there is one, else of one of its own."""

    most_limited: int | None = 10_000_000  # what a LIMIT lets through goes through one worker

    def __init__(
        self, what: str, master: str | None = None, memory: str | None = None, shared: str | None = None
    ) -> None:
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
        address = str(active.sparkContext.master) if active is not None else master or _LOCAL
        self._what = what
        self._folder = _folder(address, shared)
        self._owned = None if active is not None else _start(address, memory)
        # A session beside the other one: views of the same names there stay what they are.
        self._session = (active or self._owned).newSession()  # type: ignore[union-attr]
        self._files: dict[str, str] = {}
        self._written = 0
        self._watch = None if _is_local(address) else WorkerWatch(self._session.sparkContext)
        if self._watch is not None:
            try:
                wait_for_workers(self._session.sparkContext, address)
                self._require_shared(str(shared))
            except BaseException:
                self.close()
                raise

    def load(self, table: str, rows: Rows, columns: Sequence[str]) -> None:
        with self._readable_errors():
            if isinstance(rows, np.ndarray) and len(rows) <= _FEW:
                self._frame(rows, columns).createOrReplaceTempView(table)
                return
            path = self._path(table)
            schema = ", ".join(f"{column} INT" for column in columns)
            if (folder := _here(path)) is not None:
                _write(slices(rows, _SLICE), columns, folder)
            else:
                for some in slices(rows, _SENT):
                    self._frame(some, columns).write.mode("append").parquet(path)
            self._show(table, path, schema)

    def create(self, table: str, query: str) -> None:
        with self._readable_errors():
            found = self._session.sql(query)
            path = self._path(table)
            found.write.option("maxRecordsPerFile", _SLICE).parquet(path)
            before = self._files.get(table)
            self._show(table, path, found.schema)
            if before is not None:
                self._remove(before)

    def define(self, view: str, query: str) -> None:
        with self._readable_errors():
            self._session.sql(query).createOrReplaceTempView(view)

    def drop(self, table: str) -> None:
        with self._readable_errors():
            self._session.catalog.dropTempView(table)
            if table in self._files:
                self._remove(self._files.pop(table))

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        with self._readable_errors():
            return [tuple(row) for row in self._session.sql(query).collect()]

    def fetch(
        self, table: str, columns: Sequence[str], type: type[Any] = np.int32, within: Within | None = None
    ) -> NDArray[Any]:
        if table in self._files and (folder := _here(self._files[table])) is not None:
            return _read(folder, columns, type, within)
        where = "true" if within is None else str(within)
        with self._readable_errors():
            frame = self._session.table(table)
            files = sorted(frame.inputFiles()) if table in self._files else []
            parts = [np.empty((0, len(columns)), type)]
            if not files:
                parts.append(_array(frame.where(where), columns, type))
            for start in range(0, len(files), _FILES):
                some = self._session.read.schema(frame.schema).parquet(*files[start : start + _FILES])
                parts.append(_array(some.where(where), columns, type))
            return np.concatenate(parts)

    def close(self) -> None:
        if self._watch is not None:
            self._watch.stop()
        try:
            with self._readable_errors():
                self._remove(self._folder)
        except RunError:  # a session that is gone cannot tidy up after itself
            pass
        finally:
            if self._owned is not None:
                self._owned.stop()

    def _frame(self, rows: NDArray[np.int32], columns: Sequence[str]) -> DataFrame:
        return self._session.createDataFrame(arrow_columns(rows, columns))

    def _path(self, table: str) -> str:
        self._written += 1
        return f"{self._folder}/{table}-{self._written}"

    def _show(self, table: str, path: str, schema: StructType | str) -> None:
        self._session.read.schema(schema).parquet(path).createOrReplaceTempView(table)
        self._files[table] = path

    def _remove(self, path: str) -> None:
        context: Any = self._session.sparkContext
        folder = context._jvm.org.apache.hadoop.fs.Path(path)
        folder.getFileSystem(context._jsc.hadoopConfiguration()).delete(folder, True)

    def _require_shared(self, shared: str) -> None:
        """Refuse a folder that is another one on each machine: what workers write there would be lost silently."""
        path = self._path("probe")
        rows = 4 * self._session.sparkContext.defaultParallelism  # enough for each worker to write some
        with self._readable_errors():
            self._session.range(0, rows, 1, rows).write.parquet(path)
            found = self._session.read.schema("id LONG").parquet(path).count()
        if found != rows:
            raise InputError(
                f"{shared}: is not the same folder on all machines of the cluster: of {rows} rows that its workers "
                f"wrote there, {found} can be read here; name a folder that all of them share, such as hdfs://…"
            )

    @contextmanager
    def _readable_errors(self) -> Iterator[None]:
        with _readable_errors(self._what):
            try:
                yield
            except Exception:
                if self._watch is not None and self._watch.alone:
                    raise RunError(
                        f"{self._what} ended: the cluster has had no worker left for {self._watch.patience} s; "
                        "start workers, and run it again"
                    ) from None
                raise


def _is_local(master: str) -> bool:
    return master.startswith("local")


def _folder(master: str, shared: str | None) -> str:
    """Return a new folder for tables: in the one that is shared, or for this machine alone a temporary one."""
    name = f"clausal-{uuid4().hex}"
    if shared is None:
        if not _is_local(master):
            raise InputError(
                f"the Spark cluster {master} needs a folder that this machine and all its workers see, for facts and "
                "checkpoints: --shared hdfs://…, or a folder that is mounted everywhere"
            )
        return (Path(tempfile.gettempdir()) / name).as_uri()
    if "://" in shared:
        return f"{shared.rstrip('/')}/{name}"
    if not Path(shared).is_dir():
        raise InputError(f"{shared}: no such folder; expected one that this machine and all workers see")
    return (Path(shared).absolute() / name).as_uri()


def _here(path: str) -> Path | None:
    """Return the folder of a URI that this machine has; what is there need not pass through Spark's driver."""
    return Path(url2pathname(urlsplit(path).path)) if path.startswith("file:") else None


def _write(blocks: Iterable[NDArray[np.int32]], columns: Sequence[str], folder: Path) -> None:
    from pyarrow import parquet

    with explained_os_errors(folder):
        folder.mkdir(parents=True)
        for number, rows in enumerate(blocks):
            parquet.write_table(arrow_columns(rows, columns), folder / f"part-{number:05}.parquet")


def _read(folder: Path, columns: Sequence[str], type: type[Any], within: Within | None) -> NDArray[Any]:
    from pyarrow import dataset

    found = dataset.dataset(folder, format="parquet")
    wanted = None
    if within is not None:
        column = dataset.field(within.column)
        wanted = (column >= within.first) & (column < within.end)
    with explained_os_errors(folder):
        return _stacked(found.to_table(list(columns), filter=wanted), columns, type)


def _array(frame: DataFrame, columns: Sequence[str], type: type[Any]) -> NDArray[Any]:
    return _stacked(frame.select(*columns).toArrow(), columns, type)


def _stacked(table: Any, columns: Sequence[str], type: type[Any]) -> NDArray[Any]:
    return np.stack([table.column(name).to_numpy() for name in columns], axis=1).astype(type, copy=False)


def _start(master: str, memory: str | None) -> SparkSession:
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.appName("clausal").config("spark.ui.showConsoleProgress", "false")
    builder = builder.config("spark.ui.enabled", "false")
    # A driver without memory would go on without the thread that met its end, and wait for ever.
    builder = builder.config("spark.driver.extraJavaOptions", "-XX:+ExitOnOutOfMemoryError")
    if _is_local(master):
        # Two hundred partitions, the default, are for clusters: here each would be a task of next to nothing.
        builder = builder.config("spark.sql.shuffle.partitions", str(os.cpu_count() or 1))
        builder = builder.config("spark.driver.bindAddress", "127.0.0.1").config("spark.driver.host", "127.0.0.1")
    else:
        address = own_address(master)
        if address is not None and "SPARK_LOCAL_IP" not in os.environ:
            builder = builder.config("spark.driver.host", address)
    if memory is not None:
        # On this machine the driver is the one that works.
        role = "driver" if _is_local(master) else "executor"
        builder = builder.config(f"spark.{role}.memory", f"{max(memory_bytes(memory) >> 20, 1)}m")
    with _readable_errors("Spark"):
        session = started_in_time(builder.master(master).getOrCreate, master)
    session.sparkContext.setLogLevel("OFF")
    return session


@contextmanager
def _readable_errors(what: str) -> Iterator[None]:
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        yield
    except (PySparkException, Py4JError) as error:
        if "JAVA_GATEWAY_EXITED" in str(error):
            raise RunError(
                "Spark could not start: it needs Java 17 or later (see JAVA_HOME) and the master's URL right"
            ) from None
        raise RunError(f"{what}: Spark failed: {_reason(str(error))}") from None
    except ConnectionError:
        raise RunError(f"{what}: Spark failed: its driver is gone") from None


def _reason(text: str) -> str:
    """Return the line of a Java error that says what happened, rather than where."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    causes = [line.removeprefix("Caused by:").strip() for line in lines if line.startswith("Caused by:")]
    return (causes or lines or ["no reason given"])[-1 if causes else 0]
