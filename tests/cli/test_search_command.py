"""``clausal search``: the best settings and their model, from the command line."""

import csv
import io
import json
import tomllib
from pathlib import Path

import pytest

from clausal import load_graph
from clausal.cli.search import _target
from clausal.search import trials
from command_line import clausal, refused

SMALL = ("model.dim=8", "train.epochs=2", "evaluate.every=1")


@pytest.fixture(scope="module")
def clauses(tmp_path_factory):
    """Two clauses of one atom each, whose closed forms take no time."""
    path = tmp_path_factory.mktemp("clauses") / "clauses.txt"
    path.write_text("manages(X, Y) => works_with(X, Y)\nworks_with(X, Y) => works_with(Y, X)\n", encoding="utf-8")
    return path


def search_options(graph_folder, *changes):
    sets = [word for change in (*SMALL, *changes) for word in ("--set", change)]
    return ["search", graph_folder, *sets]


@pytest.fixture(scope="module")
def searched(graph_folder, clauses, tmp_path_factory):
    out = tmp_path_factory.mktemp("searches") / "company"
    result = clausal(
        *search_options(graph_folder), "--clauses", clauses, "--trials", 3, "--out", out, "--format", "json"
    )
    assert result.code == 0, result.stderr
    return out, result


def test_the_best_is_named_with_its_settings_and_its_model(searched):
    out, result = searched
    found = result.json
    assert len(found["trials"]) == 3
    assert found["trials"][0]["trial"] == found["best"]
    assert found["trials"][0]["valid"] == max(trial["valid"] for trial in found["trials"])
    assert found["run"] == str(out / f"trial-{found['best']}")
    settings = tomllib.loads((out / "best.toml").read_text(encoding="utf-8"))
    for name, value in found["trials"][0]["changes"].items():
        section, key = name.split(".")
        assert settings[section][key] == value
    assert settings["train"]["epochs"] == 2


def test_progress_is_told_trial_by_trial(searched):
    _, result = searched
    lines = [line for line in result.stderr.splitlines() if line.startswith("trial ")]
    assert [line.partition(":")[0] for line in lines] == ["trial 1", "trial 2", "trial 3"]
    assert all("valid mrr" in line and "best" in line for line in lines)
    assert "min left" not in result.stderr


def test_the_model_can_be_evaluated_and_the_settings_trained_with(searched, graph_folder, tmp_path):
    out, result = searched
    assert clausal("evaluate", result.json["run"], "--format", "json").json["split"] == "test"
    again = clausal("train", graph_folder, "--config", out / "best.toml", "--out", tmp_path / "run")
    assert again.code == 0, again.stderr


def test_what_is_set_is_not_searched(searched, graph_folder, tmp_path):
    _, result = searched
    searched = {"train.learning_rate", "facts.batch_size", "facts.regulariser_weight", "clauses.weight"}
    assert set(result.json["trials"][0]["changes"]) == searched
    fixed = search_options(graph_folder, "facts.batch_size=64", "train.learning_rate=0.1")
    found = clausal(*fixed, "--trials", 1, "--out", tmp_path / "out", "--format", "json").json
    assert set(found["trials"][0]["changes"]) == {"facts.regulariser_weight"}


@pytest.mark.parametrize("format", ["table", "csv"])
def test_a_finished_search_is_printed_again_without_training(format, searched, monkeypatch):
    out, result = searched
    monkeypatch.setattr(trials, "prepare", None)
    again = clausal("search", "--out", out, "--resume", "--trials", 3, "--format", format)
    assert again.code == 0, again.stderr
    if format == "csv":
        rows = list(csv.DictReader(io.StringIO(again.stdout)))
        assert [int(row["trial"]) for row in rows] == [one["trial"] for one in result.json["trials"]]
    else:
        assert "the best of 3 trials" in again.stdout


def test_ctrl_c_shows_the_best_so_far(graph_folder, tmp_path, monkeypatch):
    prepare, calls = trials.prepare, []

    def interrupted(*arguments, **options):
        calls.append(1)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return prepare(*arguments, **options)

    monkeypatch.setattr(trials, "prepare", interrupted)
    options = [*search_options(graph_folder), "--trials", 2, "--out", tmp_path / "out", "--format", "json"]
    result = clausal(*options)
    assert result.code == 130
    assert [one["trial"] for one in result.json["trials"]] == [1]
    assert clausal(*options).json["trials"][0]["valid"] >= result.json["trials"][0]["valid"]
    assert len(calls) == 3


def test_ctrl_c_before_the_search_began_is_one_message(graph_folder, tmp_path, monkeypatch):
    def interrupt(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("clausal.graph.load_graph", interrupt)
    result = clausal(*search_options(graph_folder), "--out", tmp_path / "out")
    assert result.code == 130
    assert result.stdout == ""


def test_time_is_told_and_kept(graph_folder, tmp_path):
    long = search_options(graph_folder, "train.epochs=100000", "evaluate.patience=0")
    result = clausal(*long, "--minutes", 0.03, "--out", tmp_path / "out", "--format", "json")
    assert result.code == 0, result.stderr
    assert result.json["seconds"] < 5
    assert "0.0 min left" in result.stderr
    assert "cut short" in result.stderr


@pytest.mark.parametrize(
    ("given", "folder"), [(".", "world"), ("..", "graphs"), ("facts.tsv", "facts"), (".hidden.tsv", "hidden")]
)
def test_a_search_has_a_folder_of_its_own_whatever_the_graph_is_called(given, folder, tmp_path, monkeypatch):
    inside = tmp_path / "graphs" / "world"
    inside.mkdir(parents=True)
    monkeypatch.chdir(inside)
    assert _target(given, None, resume=False, shared=False) == Path("searches") / folder


def test_bad_usage(graph_folder, tmp_path):
    refused(clausal("search"), "give a graph")
    refused(clausal("search", "--resume"), "--resume needs --out")
    refused(clausal("search", graph_folder, "--resume", "--out", tmp_path), "GRAPH cannot be given with --resume")
    refused(clausal("search", "--resume", "--preset", "best", "--out", tmp_path), "--preset cannot be given")
    refused(clausal("search", "--resume", "--out", tmp_path / "none"), "no search was begun here")
    refused(clausal(*search_options(graph_folder), "--trials", 0, "--out", tmp_path / "a"), "trials")
    refused(clausal(*search_options(graph_folder), "--preset", "bets", "--out", tmp_path / "a"), "did you mean 'best'?")
    assert not (tmp_path / "a").exists()


def test_unknown_names_in_clauses_are_told_where_they_are_and_nothing_is_begun(graph_folder, tmp_path):
    clauses = tmp_path / "clauses.txt"
    clauses.write_text("manages(X, Y) => work_with(X, Y)\n", encoding="utf-8")
    result = clausal(*search_options(graph_folder), "--clauses", clauses, "--trials", 1, "--out", tmp_path / "out")
    refused(result, f"{clauses}:1:18: unknown relation 'work_with'; did you mean 'works_with'?")
    assert not (tmp_path / "out").exists()


def test_a_trial_that_could_not_be_judged_is_not_told(searched, monkeypatch):
    out, _ = searched

    def no_time(*arguments, **options):
        return trials.Attempt(state="cut short")

    monkeypatch.setattr("clausal.search.searching.train_trial", no_time)
    result = clausal("search", "--out", out, "--resume", "--minutes", 0.02)
    assert result.code == 0, result.stderr
    assert not [line for line in result.stderr.splitlines() if line.startswith("trial ")]


@pytest.mark.parametrize(
    "changes",
    [
        {"label_smoothing": "0.1"},
        {"training": "k-vs-all"},
        {"relation_weight": "0.5"},
        {"training": "corruption", "loss": "pairwise", "regulariser": "none"},
    ],
    ids=" ".join,
)
def test_settings_are_changed_on_top_of_the_preset_best(changes, graph_folder, tmp_path):
    sets = [word for key, value in changes.items() for word in ("--set", f"facts.{key}={value}")]
    small = ["--set", "train.epochs=1", "--set", "model.dim=8"]
    result = clausal("train", graph_folder, "--preset", "best", *small, *sets, "--out", tmp_path / "run")
    assert result.code == 0, result.stderr
    facts = tomllib.loads((tmp_path / "run" / "config.toml").read_text(encoding="utf-8"))["facts"]
    assert {key: str(facts[key]) for key in changes} == changes


def test_a_dense_graph_can_be_trained_against_corruptions_on_top_of_the_preset_best(tmp_path):
    facts = [f"e{one}\tr\te{other}" for one in range(12) for other in range(12) if one != other]
    (tmp_path / "dense.tsv").write_text("\n".join(facts), encoding="utf-8")
    sets = ["train.epochs=1", "model.dim=8", "facts.training=corruption", "facts.loss=hinge"]
    options = [word for change in sets for word in ("--set", change)]
    result = clausal("train", tmp_path / "dense.tsv", "--preset", "best", "--fast", *options, "--out", tmp_path / "run")
    assert result.code == 0, result.stderr


def test_a_change_that_no_graph_allows_is_refused_before_one_is_read(graph_folder, tmp_path):
    result = clausal("train", graph_folder, "--preset", "best", "--set", "facts.loss=none", "--out", tmp_path / "run")
    refused(result, "preset best with --set: facts.loss")
    assert "entities" not in result.stderr


def test_the_preset_best_trains(graph_folder, tmp_path):
    options = ["--preset", "best", "--set", "train.epochs=2", "--out", tmp_path / "run"]
    result = clausal("train", graph_folder, *options)
    assert result.code == 0, result.stderr
    config = tomllib.loads((tmp_path / "run" / "config.toml").read_text(encoding="utf-8"))
    assert config["facts"]["training"] == "1-vs-all"
    assert config["train"]["epochs"] == 2
    assert "race, trial 1" in result.stderr
    assert "The race made" in result.stderr
    assert json.loads((tmp_path / "run" / "race.json").read_text(encoding="utf-8"))["fixed"] == ["train.epochs"]


def test_the_preset_best_without_its_race(graph_folder, tmp_path):
    options = ["--preset", "best", "--fast", "--set", "train.epochs=2", "--out", tmp_path / "run"]
    result = clausal("train", graph_folder, *options)
    assert result.code == 0, result.stderr
    assert "race" not in result.stderr
    assert not (tmp_path / "run" / "race.json").exists()
    refused(clausal("train", graph_folder, "--fast", "--out", tmp_path / "other"), "--fast is for --preset best")


def test_the_preset_best_tells_what_clauses_did(graph_folder, tmp_path):
    relation = next(iter(load_graph(graph_folder).relations))
    clauses = tmp_path / "clauses.txt"
    clauses.write_text(f"{relation}(X, Y) => {relation}(Y, X)\n")
    small = ["--set", "train.epochs=2", "--set", "model.dim=8"]
    result = clausal("train", graph_folder, "--preset", "best", "--clauses", clauses, *small, "--out", tmp_path / "run")
    assert result.code == 0, result.stderr
    assert "1 clause (loss " in result.stdout
    (row,) = json.loads((tmp_path / "run" / "metrics.json").read_text(encoding="utf-8"))["clauses"]
    assert row["used"] in ("loss", "not at all")
    assert isinstance(tomllib.loads((tmp_path / "run" / "config.toml").read_text())["clauses"]["weight"], float)
    assert ("--ranking fused" in result.stderr) != ("votes gain nothing" in result.stderr)
