"""`clausal mine`: rules on stdout and in a file that a training reads, and nothing half done where it is refused."""

import csv
import io

import pytest

from clausal import load_graph, read_clauses
from clausal.logic.mining import mine
from command_line import clausal, refused
from small_graphs import quick, write_facts

LENIENT = ("--min-support", 1, "--min-head-coverage", 0, "--min-confidence", 0, "--keep-redundant")


def test_the_table_shows_the_rules_and_messages_go_to_stderr(graph_folder):
    result = clausal("mine", graph_folder, "--min-support", 5)
    assert result.code == 0
    for word in ("manages(X, Y) => works_with(X, Y)", "support", "head coverage", "confidence", "PCA confidence"):
        assert word in result.stdout
    assert "24 entities, 3 relations" in result.stderr
    assert "rules in" in result.stderr
    assert "\x1b" not in result.stdout + result.stderr


def test_json_has_the_measures_that_mining_from_python_has(graph_folder):
    printed = clausal("mine", graph_folder, *LENIENT, "--format", "json").json
    rules = mine(load_graph(graph_folder), min_support=1, min_head_coverage=0, min_confidence=0)
    assert {record["rule"] for record in printed} == {str(rule) for rule in rules}
    for record in printed:
        (rule,) = [rule for rule in rules if str(rule) == record["rule"]]
        assert all(record[key] == getattr(rule, key) for key in record if key != "rule")


def test_csv_has_one_line_for_each_rule(graph_folder):
    result = clausal("mine", graph_folder, *LENIENT, "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(result.stdout)))
    assert f"\n{len(rows)} rules in" in result.stderr
    assert len(rows) > 20
    assert float(rows[0]["confidence"]) >= float(rows[-1]["confidence"])


def test_a_long_table_is_cut_and_says_so(graph_folder):
    result = clausal("mine", graph_folder, *LENIENT)
    assert result.stdout.count("=>") == 20
    assert " more" in result.stderr


@pytest.mark.parametrize(
    ("weight", "measure"),
    [("standard", "confidence"), ("pca", "pca_confidence"), ("bound", "lower_bound"), ("none", None)],
)
def test_the_file_has_the_chosen_weights_and_the_same_rules(graph_folder, tmp_path, weight, measure):
    out = tmp_path / "rules.txt"
    printed = clausal(
        "mine", graph_folder, "--min-support", 5, "--out", out, "--weight", weight, "--format", "json"
    ).json
    written = read_clauses(out)
    assert len(written) == len(printed) > 2
    for clause, record in zip(written, printed, strict=True):
        assert str(clause).startswith(record["rule"])
        assert clause.weight == pytest.approx(record[measure] if measure else 1, abs=5e-5)


def test_mined_rules_feed_straight_into_training(graph_folder, tmp_path):
    out = tmp_path / "rules.txt"
    assert clausal("mine", graph_folder, "--min-support", 5, "--out", out).code == 0
    result = clausal("train", graph_folder, "--clauses", out, *quick(), "--out", tmp_path / "run")
    assert result.code == 0, result.stderr
    assert f"{len(read_clauses(out))} clauses, adversary gradient" in result.stderr


def test_the_best_rules_are_kept(graph_folder, tmp_path):
    every = clausal("mine", graph_folder, *LENIENT, "--format", "json").json
    out = tmp_path / "rules.txt"
    best = clausal("mine", graph_folder, *LENIENT, "--max-rules", 4, "--out", out, "--format", "json").json
    assert best == every[:4]
    assert len(read_clauses(out)) == 4
    ordered = clausal("mine", graph_folder, *LENIENT, "--weight", "pca", "--format", "json").json
    values = [record["pca_confidence"] for record in ordered]
    assert values == sorted(values, reverse=True)
    assert ordered != every


def test_one_body_atom_on_request(graph_folder):
    rules = clausal("mine", graph_folder, *LENIENT, "--body", 1, "--format", "json").json
    assert rules
    assert not [record for record in rules if "), " in record["rule"].partition(" => ")[0]]


def test_one_file_is_mined_without_what_training_would_hold_out(tmp_path):
    write_facts(tmp_path / "facts.tsv", [(f"a{n}", r, f"b{n % 9}") for n in range(100) for r in "pq"])
    printed = clausal("mine", tmp_path / "facts.tsv", "--body", 1, "--format", "json").json
    graph = load_graph(tmp_path / "facts.tsv")
    in_train = [int((graph.train[:, 1] == graph.relations.id(name)).sum()) for name in "pq"]
    assert sorted(record["head_facts"] for record in printed) == sorted(in_train)
    assert max(in_train) < 100


def test_no_rules_is_said_and_no_file_is_left(graph_folder, tmp_path):
    result = clausal("mine", graph_folder, "--min-support", 1000, "--out", tmp_path / "rules.txt")
    assert result.code == 0
    assert result.stdout == ""
    assert "0 rules in" in result.stderr
    assert "lower a threshold" in result.stderr
    assert not list(tmp_path.iterdir())
    assert clausal("mine", graph_folder, "--min-support", 1000, "--format", "json").json == []


def test_a_file_that_exists_is_refused_before_anything_is_read(tmp_path):
    (tmp_path / "rules.txt").write_text("mine")
    refused(clausal("mine", "no such graph", "--out", tmp_path / "rules.txt"), "rules.txt: exists already")
    assert (tmp_path / "rules.txt").read_text() == "mine"


@pytest.mark.parametrize(
    ("options", "fragment"),
    [
        (("--out", "no folder/rules.txt"), "the folder no folder does not exist"),
        (("--min-support", 0), "at least 1, not 0"),
        (("--min-confidence", 2), "between 0 and 1, not 2"),
        (("--body", 4), "one, two or three body atoms, not 4"),
        (("--max-rules", 0), "--max-rules is a number of at least 1, not 0"),
    ],
)
def test_bad_options_are_refused(graph_folder, options, fragment):
    refused(clausal("mine", graph_folder, *options), fragment)
