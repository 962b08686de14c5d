"""Closures: DuckDB against every assignment tried in Python, against nemo on larger graphs, and against Spark."""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec

import numpy as np
from hypothesis import strategies as st

from clausal.graph import Graph
from clausal.logic import Clause, parse_clauses
from clausal.logic.closure import close
from differential.comparisons import Comparison
from programs import closure_by_nemo, facts, first_rounds, graph_of, programs, random_rule, rounds_of

Program = tuple[Graph, list[Clause]]
_small = st.tuples(facts.map(graph_of), programs)
_threads = st.sampled_from([1, 2])


def by_brute_force(case: tuple[Program, int]) -> None:
    """Compare facts and rounds."""
    (graph, clauses), threads = case
    assert rounds_of(close(graph, clauses, threads=threads)) == first_rounds(graph, clauses)


def _larger(number: int) -> Program:
    draw = random.Random(number)
    size, relations = draw.randint(5, 80), draw.randint(1, 6)
    rows = {
        (draw.randrange(size), draw.randrange(relations), draw.randrange(size)) for _ in range(draw.randint(1, 250))
    }
    names = [f"entity{n}" for n in range(max(size, 60))], [f"r{n}" for n in range(6)]
    return graph_of(rows, *names), parse_clauses("\n".join(random_rule(draw) for _ in range(draw.randint(1, 8))))


def by_nemo(number: int) -> None:
    """Compare facts."""
    graph, clauses = _larger(number)
    closure = close(graph, clauses, threads=1, limit=200_000)
    assert set(map(tuple, closure.facts.tolist())) == closure_by_nemo(graph, clauses)


def by_spark(case: Program) -> None:
    """Compare facts and rounds, and their order."""
    graph, clauses = case
    duck, spark = (close(graph, clauses, engine=engine) for engine in ("duckdb", "spark"))
    assert np.array_equal(duck.facts, spark.facts)
    assert np.array_equal(duck.round_of, spark.round_of)


@contextmanager
def spark_session() -> Iterator[None]:
    """One local session for all cases: to start one takes seconds."""
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.sql.shuffle.partitions", "1").config("spark.ui.showConsoleProgress", "false")
    session = builder.config("spark.driver.host", "127.0.0.1").getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    try:
        yield
    finally:
        session.stop()


def _no_nemo() -> str | None:
    return None if find_spec("nmo_python") else "nemo-python is not installed"


def _no_spark() -> str | None:
    return None if find_spec("pyspark") and shutil.which("java") else "pyspark or Java is not installed"


COMPARISONS = {
    "closure": Comparison(st.tuples(_small, _threads), by_brute_force, slice=40),
    "closure of larger graphs": Comparison(st.integers(0, 2**32), by_nemo, slice=15, missing=_no_nemo),
    "closure by Spark": Comparison(_small, by_spark, slice=0, around=spark_session, missing=_no_spark),
}
