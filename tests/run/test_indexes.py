"""Runs with an index: answers as without, files that fit and those that do not, and the commands."""

from __future__ import annotations

import numpy as np
import pytest
from question_runs import random_run

import clausal
from clausal.errors import InputError
from clausal.graph import Graph

pytest.importorskip("usearch", reason="an index: pip install 'clausal[index]'")


@pytest.fixture(scope="module")
def graph():
    rng = np.random.default_rng(0)
    pairs = rng.integers(400, size=(1500, 2)).tolist()
    return Graph.from_triples([(f"e {a:03}", f"r{a % 3}", f"e {b:03}") for a, b in pairs])


@pytest.fixture(scope="module")
def run(graph):
    return random_run("complex", graph, dim=8)


@pytest.mark.parametrize("reciprocal", [False, True])
@pytest.mark.parametrize("scorer", ["complex", "distmult", "rescal"])
def test_answers_are_those_without(graph, scorer, reciprocal):
    run = random_run(scorer, graph, dim=8, reciprocal=reciprocal)
    indexed = run.with_index(run.build_index())
    asked = [(name, "r1", None) for name in list(graph.entities)[:20]]
    asked += [(None, "r2", name) for name in list(graph.entities)[:20]]
    for new in (False, True):
        exact, found = run.predict(asked, 5, new=new), indexed.predict(asked, 5, new=new)
        same = [
            one == other
            for some, others in zip(exact, found, strict=True)
            for one, other in zip(some, others, strict=True)
        ]
        assert np.mean(same) > 0.97


@pytest.mark.parametrize("metric", ["cosine", "dot", "euclidean"])
def test_neighbours_are_those_without(run, metric):
    indexed = run.with_index(run.build_index(metric=metric))
    names = list(run.graph.entities)[:20]
    same = [run.nearest(name, 5, metric=metric) == indexed.nearest(name, 5, metric=metric) for name in names]
    assert np.mean(same) > 0.95
    other = "dot" if metric == "cosine" else "cosine"  # it is of no use there, and does no harm
    assert run.nearest(names[0], 5, metric=other) == indexed.nearest(names[0], 5, metric=other)


def test_an_index_is_kept_in_a_file(run, tmp_path):
    run.build_index(out=tmp_path / "one.index")
    indexed = run.with_index(tmp_path / "one.index")
    question = (run.graph.entities[0], "r1", None)
    assert indexed.predict(question, 5) == run.with_index(run.build_index()).predict(question, 5)


def test_an_index_of_other_vectors_is_refused(run, graph, tmp_path):
    other = random_run("complex", graph, dim=8)
    other.predictor.encoder.weight.data[7, 3] += 1e-3
    other.build_index(out=tmp_path / "other.index")
    with pytest.raises(InputError, match="of other vectors than this run's"):
        run.with_index(tmp_path / "other.index")
    assert run.with_index(run.build_index()).update([("new", "r1", graph.entities[0])], refine=0).index is None


def test_files_that_are_no_index(run, tmp_path):
    with pytest.raises(InputError, match="no such index"):
        run.with_index(tmp_path / "missing")
    (tmp_path / "text").write_text("no index")
    with pytest.raises(InputError, match="damaged"):
        run.with_index(tmp_path / "text")
    run.build_index(out=tmp_path / "one.index")
    data = bytearray((tmp_path / "one.index").read_bytes())
    data[-100] ^= 1
    (tmp_path / "flipped").write_bytes(data)
    with pytest.raises(InputError, match="damaged"):
        run.with_index(tmp_path / "flipped")
    with pytest.raises(InputError, match="unknown metric 'cosinus'; did you mean 'cosine'"):
        run.build_index(metric="cosinus")


def test_it_is_in_the_public_names():
    assert {"build_index", "with_index"} <= set(dir(clausal.Run))
