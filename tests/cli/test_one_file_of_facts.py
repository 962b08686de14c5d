"""One file of facts is split in the same way by every command, whatever the seed of a training."""

import json

import numpy as np
import pytest

import clausal as library
from clausal import load_graph
from command_line import clausal
from small_graphs import quick, write_facts

RULE = "p(X, Y) => q(X, Y)\n"


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "facts.tsv"
    write_facts(path, [(f"a{n}", r, f"b{n % 9}") for n in range(100) for r in "pq"])
    return path


@pytest.fixture
def rules(tmp_path):
    path = tmp_path / "rules.txt"
    path.write_text(RULE)
    return path


def support_in(graph):
    """Count by hand how often the rule predicts a train fact."""
    pairs = {name: {(s, o) for s, r, o in graph.train.tolist() if graph.relations[r] == name} for name in "pq"}
    return len(pairs["p"] & pairs["q"])


@pytest.mark.parametrize(("options", "split_seed"), [([], 0), (["--split-seed", 3], 3)])
def test_train_and_mine_and_clauses_hold_out_the_same_facts(file, rules, tmp_path, options, split_seed):
    assert clausal("train", file, *options, *quick(train__seed=5, train__epochs=1), "--out", tmp_path / "run").code == 0
    run = library.load(tmp_path / "run").graph
    expected = load_graph(file, seed=split_seed)
    for split, facts in expected.splits.items():
        np.testing.assert_array_equal(run.splits[split], facts)
    assert support_in(expected) < support_in(load_graph(file, valid=0, test=0)) == 100

    mined = clausal("mine", file, *options, "--body", 1, "--format", "json").json
    (found,) = [record for record in mined if record["rule"].startswith("p(")]
    assert found["support"] == support_in(expected)

    report = clausal("clauses", rules, "--graph", file, *options, "--format", "json").json
    assert report["rules"][0]["graph_support"] == support_in(expected)
    assert report["counted_in"] == {"graph": "facts", "split": "train", "facts": len(expected.train)}


def test_the_table_of_clauses_says_which_facts_were_counted(file, rules):
    assert "in the 160 train facts of facts" in clausal("clauses", rules, "--graph", file).stdout
    everything = clausal("clauses", rules, "--graph", file, "--valid", 0, "--test", 0)
    assert "in the 200 train facts of facts" in everything.stdout


def test_a_run_says_how_its_facts_were_held_out(file, tmp_path):
    options = ["--test", 0.2, "--split-seed", 3, *quick(train__epochs=1), "--out", tmp_path / "run"]
    assert clausal("train", file, *options).code == 0
    assert json.loads((tmp_path / "run" / "run.json").read_text())["split"] == {"valid": 0.1, "test": 0.2, "seed": 3}
    drawn = library.load(tmp_path / "run").graph.drawn
    assert (drawn.valid, drawn.test, drawn.seed) == (0.1, 0.2, 3)


def test_a_split_that_was_given_is_not_drawn(graph_folder, tmp_path):
    result = clausal("train", graph_folder, "--split-seed", 3, *quick(train__epochs=1), "--out", tmp_path / "run")
    assert "note: --split-seed did nothing: company comes with its own splits" in result.stderr
    assert json.loads((tmp_path / "run" / "run.json").read_text())["split"] is None


def test_mining_says_how_to_train_on_the_same_facts(file, tmp_path):
    result = clausal("mine", file, "--test", 0.25, "--split-seed", 3, "--body", 1, "--out", tmp_path / "rules.txt")
    assert f"clausal train {file} --clauses {tmp_path / 'rules.txt'} --test 0.25 --split-seed 3" in result.stderr
