"""Rows beyond the paper: one preset for each benchmark, what tells rows apart, and what their records hold."""

import json
from dataclasses import replace

import numpy as np
import pytest

from clausal.config import Settings
from clausal.demo import world
from clausal.errors import InputError
from clausal.evaluation import evaluate
from clausal.graph import DATASETS
from clausal.logic import measure_clauses, mine
from clausal.logic.closure import close
from clausal.presets import preset_names
from clausal_paper.tables.clauses import MINED, closure_under, deduction_ceiling, mined_clauses, weighed_clauses
from clausal_paper.tables.reproduction import beyond_plan
from clausal_paper.tables.rows import BEYOND_TABLES, BeyondRow, beyond_rows, data_set, limit
from clausal_paper.tables.run import run_row
from clausal_paper.tables.training import settings_of, train_row

SMALL = ("model.dim=8", "train.epochs=1", "evaluate.every=1", "facts.batch_size=400")
ALL_ROWS = [row for rows in BEYOND_TABLES.values() for row in rows]


@pytest.fixture(scope="module")
def data():
    return world()


@pytest.fixture(scope="module")
def closure(data):
    return close(*data, threads=1).facts


@pytest.mark.parametrize("row", ALL_ROWS, ids=str)
def test_rows_of_a_benchmark_differ_from_its_preset_in_clauses_alone(row):
    best = Settings.load(preset=f"{row.table}-best")
    settings = settings_of(row)
    assert settings.model_copy(update={"clauses": best.clauses}) == best
    assert (settings.clauses.adversary == "none") == (row.uses == "none")
    assert settings.clauses.weight > 0
    assert (settings.clauses == best.clauses) == (not row.changes)


def test_every_benchmark_has_a_preset_and_a_data_set():
    assert {f"{table}-best" for table in BEYOND_TABLES} <= set(preset_names())
    assert {data_set(table) for table in BEYOND_TABLES} == set(DATASETS)


@pytest.mark.parametrize("name", ["fb122", "wn18rr"])
def test_presets_for_two_cores_are_smaller_models_of_the_same_kind(name):
    small, best = (Settings.load(preset=f"{name}-{kind}") for kind in ("best-cpu", "best"))
    assert small.model.dim < best.model.dim
    assert small.model.model_copy(update={"dim": best.model.dim}) == best.model
    assert (small.facts.training, small.facts.loss) == (best.facts.training, best.facts.loss)


def test_a_record_has_the_metrics_of_the_model_and_those_with_entailment_apart(data, closure):
    graph, clauses = data
    record = run_row(BeyondRow("fb122", "one-atom"), graph, clauses, changes=SMALL, closure=lambda graph: closure)
    assert json.loads(json.dumps(record)) == record
    model, entailed = (record[key]["full"]["realistic"] for key in ("metrics", "entailed"))
    assert set(record["metrics"]) == {"full"}
    assert entailed["test-II"]["mrr"] > 0.99 > model["test-II"]["mrr"]  # every clause holds in this graph
    assert entailed["test-I"]["mrr"] == pytest.approx(model["test-I"]["mrr"], abs=0.02)
    assert "ceiling" not in record


def test_clauses_raise_what_can_be_deduced_on_a_graph_where_they_hold(data, closure):
    changes = ("model.dim=32", "facts.batch_size=250", "facts.label_smoothing=0", "clauses.weight=0.1")
    changes = (*changes, "train.epochs=4", "train.averaging=0", "evaluate.every=4")
    mrr = {"base": [], "one-atom": []}
    for model, found in mrr.items():
        for seed in range(3):
            record = run_row(BeyondRow("fb122", model), *data, seed, changes=changes, closure=lambda graph: closure)
            found.append(record["metrics"]["full"]["realistic"]["test-II"]["mrr"])
    assert np.mean(mrr["one-atom"]) > np.mean(mrr["base"]) + 0.02


def test_the_closure_of_a_graph_is_computed_where_none_is_given(data, closure):
    row = BeyondRow("wn18", "base")
    computed, given = (run_row(row, *data, changes=SMALL, closure=of) for of in (None, lambda graph: closure))
    assert computed["entailed"] == given["entailed"]


def test_a_row_on_the_closure_learns_it_and_is_measured_as_all_others_are(data, closure):
    graph, clauses = data
    row = BeyondRow("fb122", "closure")
    settings = settings_of(row, 0, SMALL)
    record = run_row(row, graph, clauses, changes=SMALL, closure=lambda graph: closure)
    trained = train_row(row, graph, clauses, settings, closure=closure)
    assert record["train_facts"] == len(closure) > len(graph.train)
    assert record["clauses"] == 0
    found = evaluate(trained.predictor, graph)  # a filter that does not know the closure
    assert record["metrics"]["full"]["realistic"]["test"]["mrr"] == pytest.approx(
        found.filtered["both"]["mrr"], abs=1e-5
    )
    valid = evaluate(trained.predictor, graph, split="valid").filtered["both"]["mrr"]
    assert record["valid_mrr"] == pytest.approx(valid, abs=1e-5)


def test_limited_data_has_parts_by_what_follows_and_the_ceiling_of_its_own_facts(data):
    graph, clauses = data
    seen = []

    def closure(given):
        seen.append(given)
        return close(given, clauses, threads=1).facts

    record = run_row(BeyondRow("wn18-limited", "all", 0.3), graph, clauses, 4, changes=SMALL, closure=closure)
    limited = limit(graph, clauses, 0.3, 4)
    assert [np.array_equal(given.train, limited.train) for given in seen] == [True]
    ceiling = deduction_ceiling(limited, close(limited, clauses, threads=1).facts)
    assert record["ceiling"]["full"] == pytest.approx(ceiling._asdict(), abs=1e-5)
    whole = record["ceiling"]["whole"]
    assert whole["deducible_mrr"] > record["ceiling"]["full"]["deducible_mrr"]  # fewer facts stand beside the right one
    assert whole["share"] == pytest.approx(ceiling.share, abs=1e-5)
    for part, found in record["metrics"]["whole"]["realistic"].items():
        assert found["mrr"] >= record["metrics"]["full"]["realistic"][part]["mrr"]
    for key in ("metrics", "entailed"):
        mrr = {part: found["mrr"] for part, found in record[key]["full"]["realistic"].items()}
        assert set(mrr) == {"deducible", "other", "test"}
        mixed = ceiling.share * mrr["deducible"] + (1 - ceiling.share) * mrr["other"]
        assert mrr["test"] == pytest.approx(mixed, abs=1e-4)
    assert record["entailed"]["full"]["realistic"]["deducible"]["mrr"] > ceiling.deducible_mrr


def test_benchmarks_without_clauses_of_their_own_need_no_closure(data):
    def closure(graph):
        raise AssertionError("not needed")

    for row in (BeyondRow("wn18rr", "base"), BeyondRow("fb15k-237", "mined")):
        assert "entailed" not in run_row(row, *data, changes=SMALL, closure=closure)


def test_clauses_are_mined_once_with_confidence_as_weight(data, tmp_path):
    graph, _ = data
    clauses = mined_clauses(graph, tmp_path)
    rules = {str(rule): rule.confidence for rule in mine(graph, min_support=100, min_confidence=0.8)}
    assert rules
    assert [clause.weight for clause in clauses] == pytest.approx(list(rules.values()), abs=1e-4)
    (tmp_path / MINED).write_text("a(X, Y) => b(X, Y) <0.5>\n")
    assert [clause.weight for clause in mined_clauses(graph, tmp_path)] == [0.5]


def test_weighed_clauses_have_their_confidence_in_train_and_those_that_fail_entail_nothing(data, closure, tmp_path):
    graph, clauses = data
    weighed = weighed_clauses(graph, clauses, tmp_path)
    confidences = [found.confidence for found in measure_clauses(clauses, graph)]
    wanted = [1 if confidence is None else confidence for confidence in confidences]  # a constraint has none
    assert [clause.weight for clause in weighed] == pytest.approx(wanted, abs=1e-4)
    assert weighed_clauses(graph, clauses, tmp_path) == weighed
    doubted = [replace(clause, weight=0.49) for clause in clauses]
    assert np.array_equal(closure_under(doubted)(graph), graph.train)
    assert np.array_equal(closure_under(clauses)(graph), closure)


def test_a_plan_has_every_row_and_a_quick_one_a_model_without_and_with_clauses():
    assert [row.name for row in beyond_plan("fb122").rows] == ["base", "closure", "gradient", "one-atom", "all"]
    assert len(beyond_plan("wn18-limited", seeds=2).rows) == 8
    for table in ("fb122", "wn18", "fb15k-237", "wn18-limited"):
        quick = beyond_plan(table, quick=True)
        assert [row.uses == "none" for row in quick.rows] == [True, False]
        assert quick.seeds == (0,)


def test_an_unknown_row_is_answered_with_those_there_are():
    with pytest.raises(InputError, match="unknown row 'gradients' of fb122; did you mean 'gradient'"):
        beyond_rows("fb122", ["gradients"])
