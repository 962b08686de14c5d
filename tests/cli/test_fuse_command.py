"""``clausal fuse``, and ``--ranking`` in ``predict`` and ``evaluate``."""

import json

import pytest

import clausal as package
from command_line import clausal, refused


@pytest.fixture(scope="module")
def fused(finished, tmp_path_factory):
    out = tmp_path_factory.mktemp("votes") / "run"
    result = clausal("fuse", finished, "--mine", "--out", out, "--format", "json")
    assert result.code == 0, result.stderr
    return out, result


def test_the_command_says_what_votes_and_what_it_gains(fused):
    out, result = fused
    payload = result.json
    assert payload["run"] == str(out)
    assert payload["path_rules"] > 0
    assert set(payload["test"]) == {"model", "rules", "fused"}
    assert f"{payload['path_rules']:,} path rules" in result.stderr
    assert "--ranking fused" in result.stderr
    assert payload["basis"] in result.stderr or payload["basis"] in ("default", "fitted", "no gain")


def test_the_new_run_is_whole(fused, finished):
    out, result = fused
    run = package.load(out)
    assert run.metrics == package.load(finished).metrics
    payload = run.evaluate(ranking="fused").filtered["both"]
    assert payload["mrr"] == pytest.approx(result.json["test"]["fused"]["mrr"])


def test_evaluate_shows_the_model_alone_beside_it(fused):
    out, result = fused
    table = clausal("evaluate", out, "--ranking", "fused")
    assert "the model alone" in table.stdout
    assert ", fused, realistic ties" in table.stdout
    found = clausal("evaluate", out, "--ranking", "fused", "--format", "json").json
    assert found["ranking"] == "fused"
    assert found["model"]["ranking"] == "model"
    assert found["model"]["filtered"]["both"]["mrr"] == pytest.approx(result.json["test"]["model"]["mrr"])


def test_an_explanation_adds_up(fused):
    out, _ = fused
    question = ["works_with(person 05, ?)", "-k", "3", "--ranking", "fused", "--explain"]
    answers = clausal("predict", out, *question, "--format", "json").json
    for answer in answers:
        assert sum(part["value"] for part in answer["contributions"]) == pytest.approx(answer["score"], abs=1e-3)
    text = clausal("predict", out, *question).stdout
    assert f"1. works_with(person 05, {answers[0]['object']})  score" in text


def test_clauses_vote_and_those_that_cannot_are_named(finished, tmp_path):
    file = tmp_path / "clauses.txt"
    file.write_text("manages(X, Y) => works_with(X, Y)\nmanages(X, Y), works_with(X, Y) => outranks(X, Y)\n")
    result = clausal("fuse", finished, "--clauses", file, "--out", tmp_path / "run", "--format", "json")
    assert result.code == 0, result.stderr
    assert result.json["path_rules"] == 1
    assert "manages(X, Y), works_with(X, Y) => outranks(X, Y)" in result.stderr


def test_what_is_missing_is_said(finished, fused, tmp_path):
    refused(clausal("fuse", finished, "--out", tmp_path / "run"), "--clauses FILE", "--mine")
    refused(clausal("fuse", finished, "--mine", "--out", fused[0]), "--out")
    refused(clausal("predict", finished, "works_with(person 05, ?)", "--ranking", "fused"), "clausal fuse")
    refused(clausal("predict", fused[0], "works_with(person 05, ?)", "--ranking", "rules", "--explain"), "fused")
    refused(clausal("evaluate", finished, "--ranking", "fused", "--entailed", "first"), "entailed")
    about = json.loads((fused[0] / "fusion.json").read_text())
    assert about["format"] == 1
