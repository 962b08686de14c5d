"""``clausal reproduce``: figures and tables are written where they were asked for, and show what the paper shows."""

import shutil
from importlib.resources import as_file, files
from pathlib import Path

import pytest

from clausal.cli import Bars
from clausal.config import Settings
from clausal.logic import read_clauses
from command_line import clausal, refused


def test_contours_are_drawn_into_the_folder(tmp_path):
    result = clausal("reproduce", "contours", "--quick", "--out", tmp_path / "figures", "--format", "json")
    assert result.code == 0, result.stderr
    written = [Path(path) for path in result.json["figures"]]
    assert {path.name for path in written} == {"contours.png", "contours.pdf", "contours.svg"}
    assert all(path.parent == tmp_path / "figures" and path.stat().st_size > 1000 for path in written)


def test_a_file_in_the_place_of_the_folder_is_one_message(tmp_path):
    (tmp_path / "figures").write_text("in the way")
    refused(clausal("reproduce", "contours", "--quick", "--out", tmp_path / "figures"), tmp_path / "figures", code=1)


def test_reproduce_alone_lists_what_there_is():
    result = clausal("reproduce")
    assert "contours" in result.stdout + result.stderr


def test_synthetic_shows_that_clauses_help_and_goes_on_from_its_file(tmp_path):
    arguments = ("reproduce", "synthetic", "--quick", "--out", tmp_path, "--format", "json")
    result = clausal(*arguments)
    assert result.code == 0, result.stderr
    areas = {row["adversary"]: row["ours"] for row in result.json["rows"]}
    assert areas["gradient"] > areas["none"] + 10
    assert areas["closed-form"] > areas["none"] + 10
    again = clausal(*arguments)
    assert again.json == result.json
    assert "of 3:" not in again.stderr  # nothing was trained


def test_fb122_shows_that_clauses_help_where_facts_can_be_deduced(tmp_path, clausal_data):
    result = clausal("reproduce", "fb122", "--quick", "--out", tmp_path, "--format", "json")
    assert result.code == 0, result.stderr
    mrr = {(row["row"], row["part"]): row["ours"] for row in result.json["rows"]}
    assert mrr["cASR-DistMult", "Test-II"] > mrr["DistMult", "Test-II"] + 0.01
    assert mrr["cASR-DistMult", "Test-ALL"] > mrr["DistMult", "Test-ALL"] + 0.01
    assert all(Path(path).exists() for path in result.json["records"])


def test_limited_data_shows_that_clauses_help(tmp_path, clausal_data):
    result = clausal("reproduce", "wn18-limited", "--quick", "--out", tmp_path, "--format", "json")
    assert result.code == 0, result.stderr
    rows = {row["row"]: row for row in result.json["rows"]}
    without, with_clauses = rows["ComplEx, 20%"], rows["cASR-ComplEx, 20%"]
    assert with_clauses["ours"] > without["ours"] + 0.005
    assert with_clauses["hits@10 ours"] > without["hits@10 ours"] + 0.5


@pytest.fixture
def small_data(tmp_path, monkeypatch):
    """The graph of countries in the place of FB122 and WN18."""
    with as_file(files("clausal") / "data" / "world") as world:
        for name in ("fb122", "wn18"):
            shutil.copytree(world, tmp_path / "data" / name)
            (tmp_path / "data" / name / "clauses.txt").rename(tmp_path / "data" / name / "clauses.pl")
    monkeypatch.setenv("CLAUSAL_DATA", str(tmp_path / "data"))


def test_certify_bounds_every_clause_for_rows_with_and_without_clauses(tmp_path, small_data):
    arguments = ("reproduce", "certify", "--rows", "distmult,casr-distmult", "--quick", "--out", tmp_path)
    result = clausal(*arguments, "--format", "json")
    assert result.code == 0, result.stderr
    bounds = {row["row"]: row["mean bound"] for row in result.json["rows"]}
    assert bounds["cASR-DistMult"] < bounds["DistMult"]
    assert {Path(path).parent.name for path in result.json["records"]} == {"certify-quick"}


def test_kale_has_no_certificates(tmp_path, small_data):
    refused(clausal("reproduce", "certify", "--rows", "transe", "--quick", "--out", tmp_path), "has no certificates")


def test_beyond_measures_rows_with_and_without_entailment_and_goes_on_from_its_files(tmp_path, small_data):
    arguments = ("reproduce", "beyond", "wn18", "--quick", "--out", tmp_path, "--format", "json")
    result = clausal(*arguments)
    assert result.code == 0, result.stderr
    mrr = {(row["row"], row["entailed"], row["part"]): row["MRR"] for row in result.json["rows"]}
    for row in ("base", "all"):
        assert mrr[row, True, "Test-II"] > 0.99 > mrr[row, False, "Test-II"] > mrr[row, False, "Test-I"]
    assert {Path(path).parent for path in result.json["records"]} == {tmp_path / "beyond" / "wn18-quick"}
    again = clausal(*arguments)
    assert again.json == result.json
    assert "of 2:" not in again.stderr  # nothing was trained


def test_progress_counts_the_clauses_that_a_row_is_trained_with(tmp_path, small_data, monkeypatch):
    counted = {}
    monkeypatch.setattr(Bars, "training_started", lambda bars, _, clauses: counted.update({bars.label: clauses}))
    assert clausal("reproduce", "beyond", "wn18", "--quick", "--out", tmp_path).code == 0
    assert counted == {"base": 0, "all": len(read_clauses(tmp_path / "data" / "wn18" / "clauses.pl"))}


def test_clauses_of_fb122_are_weighed_and_those_that_seldom_hold_entail_nothing(tmp_path, small_data):
    arguments = ("--quick", "--rows", "base", "--out", tmp_path, "--format", "json")
    result = clausal("reproduce", "beyond", "fb122", *arguments)
    assert result.code == 0, result.stderr
    weights = [clause.weight for clause in read_clauses(tmp_path / "beyond" / "fb122-quick" / "weighed.clauses")]
    assert min(weights) < 0.5  # train of this graph lacks most of what its clauses conclude
    mrr = {(row["entailed"], row["part"]): row["MRR"] for row in result.json["rows"]}
    assert mrr[True, "Test-II"] < 0.9


def test_beyond_on_limited_data_measures_what_can_be_deduced(tmp_path, small_data):
    result = clausal("reproduce", "beyond", "wn18-limited", "--quick", "--out", tmp_path, "--format", "json")
    assert result.code == 0, result.stderr
    mrr = {(row["row"], row["entailed"], row["part"]): row["MRR"] for row in result.json["rows"]}
    for row in ("base-20", "all-20"):
        assert mrr[row, True, "deducible"] > mrr[row, False, "deducible"] + 0.2
        assert mrr[row, True, "other"] == pytest.approx(mrr[row, False, "other"], abs=0.01)


def test_beyond_has_no_other_tables(tmp_path):
    refused(clausal("reproduce", "beyond", "wn18r", "--out", tmp_path), "unknown table 'wn18r'; did you mean 'wn18rr'?")


def test_a_row_that_there_is_not_is_one_message(tmp_path):
    refused(clausal("reproduce", "fb122", "--rows", "rescal", "--out", tmp_path), "unknown row 'rescal' of fb122")


def test_a_table_that_there_is_not_is_one_message():
    refused(clausal("reproduce", "grid", "fb123"), "unknown table 'fb123'; did you mean 'fb122'?")


def test_an_axis_without_values_is_one_message():
    refused(
        clausal("reproduce", "grid", "fb122", "--axis", "model.dim"), "--axis model.dim: expected section.key=values"
    )


def test_a_grid_goes_on_from_its_journal(tmp_path, clausal_data):
    small = ("--set", "train.epochs=1", "--set", "train.passes=1", "--set", "evaluate.every=1")
    axes = ("--axis", "model.dim=4", "--axis", "model.domain=cube", "--axis", "facts.margin=1,2")
    axes += ("--axis", "train.passes=1")
    arguments = ("reproduce", "grid", "fb122", "--rows", "distmult", "--journal", tmp_path / "j.jsonl", *small, *axes)
    arguments += ("--presets", tmp_path)
    first, second = (clausal(*arguments, "--format", "json") for _ in range(2))
    assert first.code == 0, first.stderr
    assert first.stderr.count(" of 2: distmult") == 2
    assert second.stderr.count(" of 2: distmult") == 0
    assert first.json == second.json
    assert len((tmp_path / "j.jsonl").read_text().splitlines()) == 2
    assert Settings.load(tmp_path / "fb122-distmult.toml").model.dim == 4
