"""A search tries settings, judges them on valid alone, and keeps the best of them as settings and as a run."""

import json
import sys
import time
from dataclasses import replace

import numpy as np
import pytest
from search_runs import company, outcomes, run_search, settings, without_test

from clausal import Graph, InputError, Settings, load, train
from clausal.errors import RunError
from clausal.search import FINISHED, Choice, Journal, Range, Trial, load_search
from clausal.search import trials as module
from clausal.search.samplers import importances
from clausal.search.space import change
from small_graphs import small_facts


@pytest.fixture(scope="module")
def searched(tmp_path_factory):
    out = tmp_path_factory.mktemp("search") / "out"
    return run_search(out, trials=8)


def test_the_first_trial_is_the_start(searched):
    start = settings()
    assert dict(searched.trials[0].changes) == {
        "train.learning_rate": start.train.learning_rate,
        "model.dim": start.model.dim,
    }


def test_a_space_without_the_start_is_searched_all_the_same(tmp_path):
    space = [Range("train.learning_rate", 0.01, 1.0), Range("facts.margin", 50.0, 60.0), Choice("model.dim", (2, 4))]
    start = settings()
    first = run_search(tmp_path / "out", space=space, trials=1).trials[0].changes
    assert first["train.learning_rate"] == start.train.learning_rate
    assert first["model.dim"] in (2, 4)
    assert 50 <= first["facts.margin"] <= 60


def test_the_best_is_the_best_of_all_trials(searched):
    finished = [trial for trial in searched.trials if trial.state == "finished"]
    assert len(searched.trials) == 8
    assert len({json.dumps(dict(trial.changes)) for trial in searched.trials}) == 8
    assert searched.best.value == max(trial.value for trial in finished)
    assert searched.ranked()[0] == searched.best


def test_pruned_trials_were_below_the_median_of_those_before_at_that_epoch(tmp_path):
    found = run_search(tmp_path / "out", start=settings(train__epochs=12), trials=10)
    journal = {trial.number: trial for trial in Journal(found.path / "journal.jsonl").read()}
    pruned = [trial.number for trial in found.trials if trial.state == "pruned"]
    assert pruned
    for number in pruned:
        validations = journal[number].validations
        last = max(validations)
        before = [t.validations for n, t in journal.items() if n < number and n not in pruned]
        assert last < 12
        assert max(validations.values()) < np.median([values[last] for values in before if last in values])


def test_the_settings_written_train_the_model_that_was_kept(searched):
    """Trained again from best.toml on the same facts, the model is the same to the bit."""
    again = train(without_test(company()), load(searched.run).clauses, Settings.load(searched.best_settings))
    kept = load(searched.run)
    assert kept.settings == Settings.load(searched.best_settings) == searched.settings
    assert kept.metrics["valid"]["filtered"]["both"]["mrr"] == searched.best.value
    for name, value in again.predictor.state_dict().items():
        assert value.equal(kept.predictor.state_dict()[name]), name


def test_the_model_that_was_kept_gives_probabilities_as_one_that_was_trained(tmp_path):
    facts = small_facts()
    graph = Graph.from_triples(facts[::2], facts[1::2], name="company")  # enough valid facts to calibrate on
    found = run_search(tmp_path / "out", graph, trials=1)
    trained = train(graph, (), Settings.load(found.best_settings))
    names = graph.relations
    assert load(found.run).calibration.to_dict(names) == trained.calibration.to_dict(names)


def test_only_the_best_model_is_kept(searched):
    assert [path.name for path in searched.path.glob("trial-*")] == [f"trial-{searched.best.number}"]


def test_test_facts_change_nothing(searched, tmp_path):
    """Neither the trials nor their validations differ where there are no test facts, or other ones."""
    graph = company()
    assert outcomes(run_search(tmp_path / "none", without_test(graph), trials=8)) == outcomes(searched)
    kept = load(searched.run)
    assert "test" not in kept.metrics
    assert np.array_equal(kept.graph.test, graph.test)  # there for clausal evaluate, afterwards


def test_the_filter_of_a_validation_would_tell(tmp_path):
    """A test fact in the filter changes a rank on valid, so the test above could fail."""
    graph = company()
    full, without = (train(g, (), settings()).metrics["valid"]["raw"] for g in (graph, without_test(graph)))
    assert full == without
    full, without = (train(g, (), settings()).metrics["valid"]["filtered"] for g in (graph, without_test(graph)))
    assert full != without


def test_the_time_is_kept(tmp_path):
    long = settings(train__epochs=10**6, evaluate__patience=0)
    started = time.monotonic()
    found = run_search(tmp_path / "out", start=long, minutes=1.5 / 60)
    assert time.monotonic() - started < 4
    assert [trial.state for trial in found.trials] == ["cut short"]
    assert load(found.run).metrics["valid"]["filtered"]["both"]["mrr"] == found.best.value > 0

    resumed = run_search(tmp_path / "out", start=long, minutes=1.5 / 60)  # the time is used up already
    assert outcomes(resumed) == outcomes(found)


def test_time_that_ends_before_a_validation_leaves_no_best(tmp_path):
    never = settings(train__epochs=10**6, evaluate__every=10**6)
    found = run_search(tmp_path / "out", start=never, minutes=0.2 / 60)
    assert found.best is None
    assert found.run is None
    assert found.trials == []


def test_a_trial_that_diverges_or_needs_too_much_memory_is_one_that_failed(tmp_path, monkeypatch):
    errors = iter([RunError("diverged"), MemoryError(), None, None])
    prepare = module.prepare

    def failing(*arguments, **options):
        if error := next(errors):
            raise error
        return prepare(*arguments, **options)

    monkeypatch.setattr(module, "prepare", failing)
    found = run_search(tmp_path / "out", trials=4)
    assert [(trial.state, trial.error) for trial in found.trials][:2] == [
        ("failed", "diverged"),
        ("failed", "out of memory"),
    ]
    assert found.best.number > 2


def test_importances_are_shares_and_find_the_setting_that_matters():
    rng = np.random.default_rng(0)
    space = [Range("matters", 0.1, 1.0), Range("does not", 0.1, 1.0)]
    points = [{parameter.name: float(rng.uniform(0.1, 1)) for parameter in space} for _ in range(30)]
    trials = [Trial(place, FINISHED, point["matters"], 1, 0.0, point) for place, point in enumerate(points, 1)]
    found = importances(space, trials)
    assert sum(found.values()) == pytest.approx(1)
    assert found["matters"] > 0.8
    assert importances(space, trials[:19]) == {}


def test_a_grid_trains_every_combination_once_and_needs_no_optuna(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "optuna", None)
    space = [Choice("model.dim", (2, 4)), Choice("facts.margin", (1.0, 5.0))]
    found = run_search(tmp_path / "out", space=space, sampler="grid", trials=3)
    found = run_search(tmp_path / "out", space=space, sampler="grid", minutes=10)  # goes on, and ends at the last
    points = [(trial.changes["model.dim"], trial.changes["facts.margin"]) for trial in found.trials]
    assert points == [(2, 1.0), (2, 5.0), (4, 1.0), (4, 5.0)]
    assert {trial.state for trial in found.trials} == {"finished"}
    again = train(without_test(company()), (), change(settings(), found.trials[1].changes))
    assert again.metrics["valid"]["filtered"]["both"]["mrr"] == found.trials[1].value


def test_a_grid_is_another_search_than_one_of_the_same_space_by_likelihood(tmp_path):
    space = [Choice("model.dim", (2, 4))]
    run_search(tmp_path / "out", space=space, sampler="grid", trials=1)
    with pytest.raises(InputError, match="begun with other settings"):
        run_search(tmp_path / "out", space=space, trials=1)


def test_a_grid_of_a_range_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"train.learning_rate: a grid needs values"):
        run_search(tmp_path / "out", sampler="grid", trials=1)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("what", "options"),
    [
        ("minutes", {"minutes": 0}),
        ("minutes", {"minutes": float("nan")}),
        ("trials", {"trials": 0}),
        ("nothing to search", {"space": []}),
        ("evaluate.every", {"start": settings(evaluate__every=0)}),
    ],
)
def test_impossible_searches_are_refused_before_anything_is_written(what, options, tmp_path):
    with pytest.raises(InputError, match=what):
        run_search(tmp_path / "out", **options)
    assert not (tmp_path / "out").exists()


def test_a_graph_without_valid_facts_is_refused(tmp_path):
    with pytest.raises(InputError, match="valid split is empty"):
        run_search(tmp_path / "out", replace(company(), valid=company().valid[:0]), trials=1)


def test_without_optuna_the_message_says_how_to_install_it(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(InputError, match=r"pip install 'clausal\[search\]'"):
        run_search(tmp_path / "out", trials=1)
    assert not (tmp_path / "out").exists()


def test_reading_a_search_back_changes_nothing(searched):
    before = searched.path.joinpath("journal.jsonl").read_bytes()
    assert outcomes(load_search(searched.path)) == outcomes(searched)
    assert searched.path.joinpath("journal.jsonl").read_bytes() == before


def test_changes_are_checked_as_settings_are():
    assert change(settings(), {"model.dim": 6}).model.dim == 6
    with pytest.raises(InputError, match="dim"):
        change(settings(), {"model.dim": 7})
