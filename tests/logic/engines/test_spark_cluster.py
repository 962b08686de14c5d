"""A real standalone cluster gives what DuckDB gives, also when a worker dies; and says what is wrong with it."""

import shutil
import socket
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from clausal.errors import InputError, RunError
from clausal.logic import parse_clauses
from clausal.logic.closure import close
from clausal.logic.engines import cluster as clusters
from clausal.observer import Observer
from programs import graph_of

sys.path.append(str(Path(__file__).parents[3] / "benchmarks"))
CLAUSES = parse_clauses("p(X, Y), p(Y, Z) => p(X, Z)\np(X, Y) => q(Y, X)")


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    pytest.importorskip("pyspark.sql", reason="pyspark is not installed: pip install 'clausal[spark]'")
    if shutil.which("java") is None:
        pytest.skip("Spark needs Java, and there is none on the PATH: apt-get install default-jre-headless")
    from common.spark_cluster import Standalone

    folder = tmp_path_factory.mktemp("cluster")
    (folder / "spark-defaults.conf").write_text("spark.sql.shuffle.partitions 2\n")
    running = Standalone(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SPARK_CONF_DIR", str(folder))
        yield running
    running.stop()


@pytest.fixture(scope="module")
def graph():
    """Chains of eight, so that there are several rounds of several facts."""
    rows = {(8 * chain + place, 0, 8 * chain + place + 1) for chain in range(20) for place in range(7)}
    return graph_of(rows, [f"e{n}" for n in range(160)], ["p", "q"])


class Killing(Observer):
    """Kills a worker a moment after the first round, which is in the middle of the second."""

    def __init__(self, cluster):
        self.cluster = cluster
        self.totals = []

    def derived(self, number, new, total, seconds):
        self.totals.append(total)
        if number == 1:
            threading.Timer(0.2, self.cluster.kill, [0]).start()


def test_a_worker_that_dies_in_a_round_does_not_change_the_closure(cluster, graph, tmp_path):
    observer = Killing(cluster)
    duck = close(graph, CLAUSES)
    found = close(graph, CLAUSES, engine="spark", master=cluster.master, shared=str(tmp_path), observer=observer)
    assert cluster.workers[0][0].wait(5) < 0
    assert len(found.rounds) >= 3
    assert np.array_equal(found.facts, duck.facts)
    assert np.array_equal(found.round_of, duck.round_of)
    assert observer.totals[-1] == len(duck.facts)
    assert not list(tmp_path.iterdir())


def test_a_master_that_does_not_answer_is_said_soon(graph, tmp_path):
    pytest.importorskip("pyspark.sql", reason="pyspark is not installed: pip install 'clausal[spark]'")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        master = f"spark://127.0.0.1:{free.getsockname()[1]}"
    started = time.monotonic()
    with pytest.raises(RunError, match=r"the Spark master spark://127.0.0.1:\d+ cannot be reached: Connection refused"):
        close(graph, CLAUSES, engine="spark", master=master, shared=str(tmp_path))
    assert time.monotonic() - started < 15


@pytest.mark.parametrize(
    ("shared", "message"),
    [(None, "needs a folder that this machine and all its workers see"), ("nowhere", "nowhere: no such folder")],
)
def test_a_cluster_needs_a_shared_folder(graph, shared, message):
    pytest.importorskip("pyspark.sql", reason="pyspark is not installed: pip install 'clausal[spark]'")
    with pytest.raises(InputError, match=message):
        close(graph, CLAUSES, engine="spark", master="spark://127.0.0.1:7077", shared=shared)


def test_a_start_without_end_is_given_up(monkeypatch):
    monkeypatch.setattr(clusters, "_STARTS", 0.2)
    assert clusters.started_in_time(lambda: "session", "local") == "session"
    with pytest.raises(ValueError, match="from the start"):
        clusters.started_in_time(lambda: int("from the start"), "local")
    never = threading.Event()
    with pytest.raises(RunError, match=r"Spark \(yarn\) has not started within 0\.2 s: does `java -version` answer"):
        clusters.started_in_time(lambda: never.wait(60), "yarn")
    never.set()
