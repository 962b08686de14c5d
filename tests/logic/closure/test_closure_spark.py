"""Spark gives the closure that DuckDB gives, in a real local Spark."""

import shutil
import sys

import numpy as np
import pytest

from clausal.errors import InputError
from clausal.logic import measure_clauses, mine, parse_clauses
from clausal.logic.closure import close
from programs import ENTITIES, graph_of

CLAUSES = """
p(X, Y), p(Y, Z) => p(X, Z)
p(X, Y), q(Z, Y), r(Z, U) => q(X, U)
q(X, X) => r(X, anna)
r(X, bob), p(X, Y) => q(Y, Y)
r(cleo, dora)
"""


@pytest.fixture(scope="module")
def spark():
    """One session for all tests: to start one takes seconds."""
    sql = pytest.importorskip("pyspark.sql", reason="pyspark is not installed: pip install 'clausal[spark]'")
    if shutil.which("java") is None:
        pytest.skip("Spark needs Java, and there is none on the PATH: apt-get install default-jre-headless")
    builder = sql.SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.sql.shuffle.partitions", "1").config("spark.ui.showConsoleProgress", "false")
    session = builder.config("spark.driver.host", "127.0.0.1").getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()


@pytest.fixture(scope="module")
def graph():
    draw = np.random.default_rng(3)
    rows = draw.integers(30, size=(60, 3), dtype=np.int32)
    rows[:, 1] %= 3
    return graph_of({tuple(row) for row in rows.tolist()}, [*ENTITIES, *(f"e{n}" for n in range(26))], ["p", "q", "r"])


def test_engines_agree_on_facts_and_rounds(spark, graph):
    clauses = parse_clauses(CLAUSES)
    duck, sparks = (close(graph, clauses, engine=engine) for engine in ("duckdb", "spark"))
    assert len(duck.derived) >= 20
    assert len(duck.rounds) >= 3
    assert np.array_equal(duck.facts, sparks.facts)
    assert np.array_equal(duck.round_of, sparks.round_of)


def test_rules_are_counted_and_mined_as_elsewhere(spark, graph):
    clauses = parse_clauses("p(X, Y), q(Y, Z) => r(X, Z)\np(X, bob) => q(X, anna)\nq(X, Y) => r(Y, X)\nr(X, anna)")
    assert measure_clauses(clauses, graph, engine="spark") == measure_clauses(clauses, graph)
    options = {"min_support": 1, "min_head_coverage": 0, "min_confidence": 0.2}
    assert mine(graph, engine="spark", **options) == mine(graph, **options) != []


def test_an_active_session_is_used_and_left_as_it_is(spark, graph):
    spark.range(3).createOrReplaceTempView("known")
    close(graph, parse_clauses("p(X, Y) => q(Y, X)"), engine="spark")
    assert spark.sql("SELECT count(*) AS n FROM known").collect()[0].n == 3
    with pytest.raises(InputError, match="a Spark session is active already"):
        close(graph, [], engine="spark", master="local[2]")


def test_without_pyspark_the_message_says_what_to_install(monkeypatch, graph):
    monkeypatch.setitem(sys.modules, "pyspark.sql", None)
    with pytest.raises(InputError, match=r"pip install 'clausal\[spark\]'"):
        close(graph, [], engine="spark")


@pytest.mark.parametrize("master", ["nonsense://x", "localhost", "host:7077", "spark://"])
def test_a_master_that_spark_does_not_know_is_refused_before_it_starts(master, graph):
    pytest.importorskip("pyspark.sql")
    with pytest.raises(InputError, match="is no master of Spark; expected local"):
        close(graph, [], engine="spark", master=master)
