"""Running rows: what a record holds, and that a reproduction goes on where it was stopped."""

import json
from dataclasses import replace

import pytest

from clausal.demo import world
from clausal.errors import InputError
from clausal.evaluation import evaluate
from clausal.training import prepare
from clausal_paper.tables import reproduction
from clausal_paper.tables import training as row_training
from clausal_paper.tables.comparison import compare
from clausal_paper.tables.reproduction import Plan, paper_plan, reproduce
from clausal_paper.tables.rows import PAPER_TABLES, PaperRow, paper_rows
from clausal_paper.tables.run import run_row
from clausal_paper.tables.training import settings_of
from recording import Recorder

SMALL = ("model.dim=8", "train.epochs=2", "train.passes=2", "evaluate.every=1", "kale.dim=8", "kale.passes=2")


@pytest.fixture(scope="module")
def data():
    return world()


@pytest.fixture(scope="module")
def record(data):
    """A record of two epochs, of which the first is said to be the better one on valid."""
    found = iter([0.2, 0.1])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(row_training, "make_validation", lambda *_: lambda predictor: {"mrr": next(found)})
        return run_row(PaperRow("fb122", "casr-distmult"), *data, 5, changes=SMALL)


def test_a_record_is_json_and_says_what_where_and_when(record):
    assert json.loads(json.dumps(record)) == record
    assert (record["table"], record["row"], record["seed"]) == ("fb122", "casr-distmult", 5)
    assert record["settings"]["train"]["seed"] == 5
    assert {"versions", "hardware", "date", "seconds", "valid_mrr", "best_epoch"} <= set(record)


@pytest.mark.parametrize(("of", "epochs"), [("last", 2), ("metrics", 1)])
def test_metrics_of_a_record_are_those_of_the_trained_model(data, record, of, epochs):
    graph, clauses = data
    row = PaperRow("fb122", "casr-distmult")
    assert (record["best_epoch"], record["last_epoch"]) == (1, 2)
    assert record["last"] != record["metrics"]
    predictor = prepare(graph, row.clauses(clauses), settings_of(row, 5, (*SMALL, f"train.epochs={epochs}"))).run()
    for filter in ("full", "partial"):
        for ties in ("realistic", "optimistic"):
            found = evaluate(predictor, graph, filter=filter, ties=ties)
            expected = {"test": found.filtered, **{part: each["filtered"] for part, each in found.parts.items()}}
            written = record[of][filter][ties]
            assert set(written) == {"test", "test-I", "test-II"}
            for part, metrics in written.items():
                for name, value in metrics.items():
                    assert value == pytest.approx(expected[part]["both"][name], abs=1e-5)


def test_a_row_of_limited_data_is_trained_on_fewer_facts_without_parts(data):
    graph, clauses = data
    record = run_row(PaperRow("wn18-limited", "complex", 0.2), graph, clauses, changes=SMALL)
    assert record["train_facts"] < len(graph.train)
    assert {filter: set(ties["realistic"]) for filter, ties in record["metrics"].items()} == {"full": {"test"}}


@pytest.mark.parametrize("model", ["transe", "kale-pre", "kale-joint"])
def test_rows_of_kale_are_trained_like_any_other(data, model):
    told = Recorder()
    record = run_row(PaperRow("fb122", model), *data, 1, changes=SMALL, observer=told)
    assert record["settings"]["kale"]["dim"] == 8
    assert record["settings"]["kale"]["seed"] == 1
    assert len(told.of("passed")) == 2
    ((settings, clauses),) = told.of("training_started")
    assert (settings.train.epochs, clauses) == (1, record["clauses"])
    assert 0 < record["metrics"]["full"]["realistic"]["test"]["mrr"] < 1


def reproduced(folder, plan, data):
    return list(reproduce(plan, lambda: data, folder))


def test_what_is_there_is_not_trained_again(tmp_path, monkeypatch, data):
    plan = Plan(tuple(paper_rows("fb122", ["distmult", "complex"])), (0, 1), SMALL)
    trained = []

    def stopped_after_three(row, *arguments, **options):
        if len(trained) == 3:
            raise KeyboardInterrupt
        trained.append(row.name)
        return run_row(row, *arguments, **options)

    monkeypatch.setattr(reproduction, "run_row", stopped_after_three)
    with pytest.raises(KeyboardInterrupt):
        reproduced(tmp_path, plan, data)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "complex-seed0.json",
        "distmult-seed0.json",
        "distmult-seed1.json",
    ]
    trained.clear()
    records = reproduced(tmp_path, plan, data)
    assert trained == ["complex"]
    assert [(record["row"], record["seed"]) for _, record in records] == [
        ("distmult", 0),
        ("distmult", 1),
        ("complex", 0),
        ("complex", 1),
    ]
    assert reproduced(tmp_path, plan, None) == records  # nothing is left, so nothing is loaded


def test_a_record_of_other_settings_is_refused(tmp_path, data):
    plan = Plan(tuple(paper_rows("fb122", ["distmult"])), (0,), SMALL)
    reproduced(tmp_path, plan, data)
    with pytest.raises(InputError, match=r"distmult-seed0.json: .*model.dim was 8, is 10"):
        reproduced(tmp_path, replace(plan, changes=(*SMALL, "model.dim=10")), data)


def test_a_plan_has_every_row_three_seeds_and_the_presets_as_they_are():
    plan = paper_plan("wn18-limited")
    assert (len(plan.rows), plan.seeds, plan.changes) == (24, (0, 1, 2), ())


def test_comparison_is_by_mean_and_spread_over_seeds_in_the_papers_units(record):
    rows = PAPER_TABLES["fb122"]
    values = (0.70, 0.66)
    records = []
    for value in values:
        other = json.loads(json.dumps(record))
        other["metrics"]["full"]["realistic"]["test"] |= {"mrr": value, "hits@10": value + 0.1}
        records.append(other)
    cells = compare(rows, records)
    mrr, hits = cells["casr-distmult", "test", "mrr"], cells["casr-distmult", "test", "hits@10"]
    assert (mrr.paper, mrr.mean, mrr.difference) == (0.669, pytest.approx(0.68), pytest.approx(0.011))
    assert mrr.spread == pytest.approx(0.02 * 2**0.5)
    assert mrr.differs
    assert (hits.mean, hits.difference) == (pytest.approx(78.0), pytest.approx(78.0 - 75.1))
    assert cells["complex", "test", "mrr"].ours == ()
