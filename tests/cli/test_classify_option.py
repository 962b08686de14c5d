"""``clausal evaluate --classify`` and the probabilities of ``predict``: calibrated by training, kept in the run."""

import csv
import io
import json
import shutil

import numpy as np
import pytest

import clausal as package
from clausal.evaluation import label_facts
from command_line import clausal, refused
from small_graphs import quick, small_facts, write_facts

MEASURES = {"auc_pr", "auc_roc", "accuracy", "f1", "log_loss", "brier", "ece", "count", "positives"}


@pytest.fixture(scope="module")
def calibrated(tmp_path_factory):
    """A run with enough valid facts for a calibration; not to be changed."""
    folder = tmp_path_factory.mktemp("calibrated")
    write_facts(folder / "facts.tsv", small_facts())
    options = ["--valid", "0.3", "--test", "0.2", *quick(model__dim=16, train__epochs=20)]
    trained = clausal("train", folder / "facts.tsv", *options, "--out", folder / "run")
    assert trained.code == 0, trained.stderr
    return folder / "run"


@pytest.fixture(scope="module")
def fits(calibrated):
    return json.loads((calibrated / "calibration.json").read_text())


def chance(fits, answer):
    fit = fits["relations"].get(answer["relation"], fits)
    p = 1 / (1 + np.exp(-fit["slope"] * answer["score"] - fit["intercept"]))
    return np.interp(p, *np.transpose(fit["curve"] or fits["curve"]))


@pytest.mark.parametrize("query", ["works_with(person 05, ?)", "outranks(?, person 11)", "?(person 02, person 05)"])
def test_answers_have_the_probability_of_their_score(query, calibrated, fits):
    answers = clausal("predict", calibrated, query, "-k", "24", "--format", "json").json
    for answer in answers:
        assert answer["probability"] == pytest.approx(chance(fits, answer), abs=1e-5)


def test_training_in_memory_and_loading_give_the_same_probabilities(calibrated):
    loaded = package.load(calibrated)
    again = package.train(loaded.graph, loaded.clauses, loaded.settings)
    query = "works_with(person 05, ?)"
    assert again.predict(query) == loaded.predict(query)
    assert loaded.predict(query)[0].probability is not None


def test_a_run_without_a_calibration_has_no_probabilities(finished):
    printed = clausal("predict", finished, "works_with(person 05, ?)", "--format", "csv").stdout
    assert "probability" not in printed
    assert package.load(finished).predict("works_with(person 05, ?)")[0].probability is None


def test_classification_has_the_documented_keys(calibrated):
    result = clausal("evaluate", calibrated, "--classify", "--relations", "--format", "json").json
    assert set(result) == MEASURES | {"relations", "reliability"}
    assert all(set(found) == MEASURES for found in result["relations"].values())
    graph = package.load(calibrated).graph
    assert result["positives"] == len(graph.test) == result["count"] / 2
    assert sum(one["facts"] for one in result["reliability"]) == result["count"]
    assert "relations" not in clausal("evaluate", calibrated, "--classify", "--format", "json").json


def test_the_table_and_csv_have_the_same_numbers(calibrated):
    result = clausal("evaluate", calibrated, "--classify", "--split", "valid", "--format", "json").json
    printed = clausal("evaluate", calibrated, "--classify", "--split", "valid", "--format", "csv").stdout
    (row,) = csv.DictReader(io.StringIO(printed))
    assert row["facts classified"] == "valid and random corruptions"
    assert float(row["Brier"]) == result["brier"]
    assert f"{result['accuracy']:.3f}" in clausal("evaluate", calibrated, "--classify", "--split", "valid").stdout


def test_a_file_of_the_same_labelled_facts_gives_the_same_measures(calibrated, tmp_path):
    run = package.load(calibrated)
    graph = run.graph
    facts, labels = label_facts(graph.test, graph, seed=run.settings.train.seed)
    rows = [(graph.entities[s], graph.relations[r], graph.entities[o]) for s, r, o in facts.tolist()]
    write_facts(tmp_path / "labelled.tsv", [(*row, str(int(one))) for row, one in zip(rows, labels, strict=True)])
    by_file = clausal("evaluate", calibrated, "--labelled", tmp_path / "labelled.tsv", "--format", "json").json
    assert by_file == clausal("evaluate", calibrated, "--classify", "--format", "json").json
    assert by_file == run.classify().to_dict()


def test_an_older_run_is_calibrated_when_it_is_classified(calibrated, tmp_path):
    older = shutil.copytree(calibrated, tmp_path / "run")
    (older / "calibration.json").unlink()
    asked = ["--classify", "--format", "json"]
    assert clausal("evaluate", older, *asked).json == clausal("evaluate", calibrated, *asked).json


def test_too_few_valid_facts_leave_the_areas(finished):
    result = clausal("evaluate", finished, "--classify", "--format", "json")
    assert set(result.json) == {"auc_pr", "auc_roc", "count", "positives", "reliability"}
    assert "too few valid facts" in result.stderr


def test_entailed_facts_are_not_classified(calibrated):
    refused(clausal("evaluate", calibrated, "--classify", "--entailed", "first"), "leave out --classify")


@pytest.mark.parametrize(
    ("change", "fragment"),
    [
        (lambda fits: fits.pop("slope"), "expected slope, intercept, threshold, facts, curve"),
        (lambda fits: fits.update(slope="1"), "must be numbers"),
        (lambda fits: fits.update(intercept=float("nan")), "must be numbers"),
        (lambda fits: fits.update(threshold=True), "must be numbers"),
        (lambda fits: fits.update(relations=[]), "expected relations, by name"),
        (lambda fits: fits["relations"].update(mnages=fits["relations"]["works_with"]), "unknown relation 'mnages'"),
        (lambda fits: fits["relations"].update(manages={"slope": 1.0}), "expected slope"),
        (lambda fits: fits.update(curve=[]), "must be pairs"),
        (lambda fits: fits.update(curve=[[0.1, 0.2, 0.3]]), "must be pairs"),
        (lambda fits: fits.update(curve=[[0.1, 2.0]]), "must be pairs of probabilities"),
        (lambda fits: fits.update(curve=[[0.1, 0.2], [0.1, 0.3]]), "must rise"),
        (lambda fits: fits.update(curve=[[0.1, 0.2], [0.2, 0.1]]), "must rise"),
    ],
)
def test_a_damaged_calibration_is_refused(change, fragment, calibrated, fits, tmp_path):
    run = shutil.copytree(calibrated, tmp_path / "run")
    fits = json.loads(json.dumps(fits))
    change(fits)
    (run / "calibration.json").write_text(json.dumps(fits))
    refused(clausal("predict", run, "works_with(person 05, ?)"), "calibration.json", "damaged", fragment)


def test_a_link_in_the_place_of_a_calibration_is_refused(calibrated, tmp_path):
    run = shutil.copytree(calibrated, tmp_path / "run")
    (run / "calibration.json").rename(tmp_path / "elsewhere.json")
    (run / "calibration.json").symlink_to(tmp_path / "elsewhere.json")
    refused(clausal("predict", run, "works_with(person 05, ?)"), "calibration.json", "not a link")
