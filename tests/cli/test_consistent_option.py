"""``--consistent`` in ``predict``, ``evaluate`` and ``score``, by any ranking, and ``certify --decisions``."""

import itertools
import json

import numpy as np
import pytest

import clausal as package
from clausal import Settings, parse_clauses
from command_line import clausal, refused
from small_graphs import write_facts

TRANSITIVE = "outranks(X, Y), outranks(Y, Z) => outranks(X, Z)\nmanages(X, Y), manages(Y, X) => false\n"


@pytest.fixture(scope="module")
def fused(finished, tmp_path_factory):
    out = tmp_path_factory.mktemp("runs") / "fused"
    assert clausal("fuse", finished, "--mine", "--out", out).code == 0
    return out


@pytest.fixture(scope="module")
def calibrated(tmp_path_factory):
    """A run with enough valid facts for thresholds."""
    people = [f"p{i}" for i in range(30)]
    facts = [(a, "knows", b) for a, b in itertools.product(people, repeat=2) if (hash_of(a, b)) % 5 == 0 and a != b]
    facts += [(b, "met", a) for a, _, b in facts[::2]]
    graph = package.load_graph(facts, valid=0.2)
    clauses = parse_clauses("knows(X, Y) => met(Y, X)\nmet(X, Y), met(Y, Z) => knows(X, Z)")
    settings = Settings.load(assignments=["model.dim=8", "train.epochs=5", "evaluate.every=0"])
    out = tmp_path_factory.mktemp("runs") / "calibrated"
    package.train(graph, clauses, settings, out=out)
    return out


def hash_of(*names):
    return sum(7 * place + 31 * int(name[1:]) for place, name in enumerate(names))


@pytest.mark.parametrize("ranking", ["model", "entailed", "rules", "fused"])
def test_no_clause_is_broken_by_the_scores_of_any_ranking(ranking, fused):
    run = package.load(fused)
    everyone = np.arange(len(run.graph.entities))
    facts = np.array([(s, r, o) for r in range(3) for s in everyone for o in everyone], np.int32)
    scores = run.score(facts, ranking=ranking, consistent=True).scores.reshape(3, len(everyone), len(everyone))
    by_name = {name: scores[run.graph.relations.id(name)] for name in run.graph.relations}
    assert (by_name["works_with"] >= by_name["manages"] - 1e-5).all()
    assert np.allclose(by_name["works_with"], by_name["works_with"].T, rtol=1e-5)
    chains = np.minimum(by_name["manages"][:, :, None], by_name["manages"][None]).max(1)
    assert (by_name["outranks"] >= chains - 1e-5).all()
    assert np.isposinf(scores[run.graph.train[:, 1], run.graph.train[:, 0], run.graph.train[:, 2]]).all()
    if ranking in ("model", "fused"):
        assert run.evaluate(ranking=ranking, consistent=True).ranking.endswith("consistent")


def test_answers_say_what_clauses_did_to_them(finished, tmp_path):
    result = clausal("predict", finished, "works_with(person 03, ?)", "--consistent", "-k", "24", "--format", "json")
    assert result.code == 0, result.stderr
    kinds = [answer["verdict"] for answer in result.json]
    assert set(kinds) <= {"known", "entailed", "raised", "predicted"}
    assert "known" in kinds
    certain = [answer for answer in result.json if answer["verdict"] in ("known", "entailed")]
    assert result.json[: len(certain)] == certain
    assert all(answer["score"] is None for answer in certain)  # ∞, which JSON does not have
    rest = [answer["score"] for answer in result.json[len(certain) :]]
    assert rest == sorted(rest, reverse=True)
    (tmp_path / "c.txt").write_text("works_with(X, Y) => false\n", encoding="utf-8")
    forbidden = clausal(
        "predict", finished, "works_with(person 03, ?)", "--consistent", "--clauses", tmp_path / "c.txt"
    )
    assert forbidden.stdout.count("∞") == forbidden.stdout.count("known") - 1 > 0  # the header
    assert "predicted" not in forbidden.stdout


def test_evaluate_shows_the_model_beside_it(finished, tmp_path):
    (tmp_path / "c.txt").write_text(TRANSITIVE, encoding="utf-8")
    result = clausal("evaluate", finished, "--consistent", "--clauses", tmp_path / "c.txt", "--format", "json")
    assert result.code == 0, result.stderr
    assert result.json["ranking"] == "model, consistent"
    assert result.json["model"]["ranking"] == "model"


def test_scores_of_a_file_are_consistent(finished, tmp_path):
    write_facts(
        tmp_path / "facts.tsv", [("person 01", "works_with", "person 03"), ("person 00", "manages", "person 23")]
    )
    result = clausal("score", finished, tmp_path / "facts.tsv", "--consistent", "--format", "csv")
    assert result.code == 0, result.stderr
    assert result.stdout.splitlines()[1].split(",")[3] == "inf"


def test_what_does_not_go_together_is_refused(finished, tmp_path):
    refused(clausal("evaluate", finished, "--consistent", "--classify"), "--consistent is about ranking")
    refused(clausal("certify", finished, "--probability", "0.9"), "add --decisions")
    refused(clausal("certify", finished, "--decisions"), "fewer than 20 valid facts")
    refused(clausal("certify", finished, "--decisions", "--require", "all"), "--require decisions")


def test_decisions_are_printed_and_broken_none_when_consistent(calibrated):
    found = clausal("certify", calibrated, "--decisions", "--format", "json")
    assert found.code == 0, found.stderr
    for one in found.json["clauses"]:
        assert 0 <= one["before"]["broken"] <= one["before"]["accepted"]
        assert one["after"]["broken"] == 0
    table = clausal("certify", calibrated, "--decisions", "--probability", "0.6")
    assert "at a probability of 0.6" in table.stdout
    assert "0 with --consistent" in table.stdout
    broken = any(one["before"]["broken"] for one in found.json["clauses"])
    assert clausal("certify", calibrated, "--decisions", "--require", "decisions").code == int(broken)
    refused(clausal("certify", calibrated, "--decisions", "--probability", "2"), "between 0 and 1")


def test_a_clause_that_no_accepted_fact_breaks_is_not_violated(calibrated):
    found = json.loads(clausal("certify", calibrated, "--format", "json").stdout)
    for one in found["clauses"]:
        assert one["decisions"] is not None
        if one["verdict"] in ("violated", "holds for decisions"):
            assert one["entities"]["worst"] > found["tolerance"]
            assert (one["verdict"] == "violated") == (one["decisions"]["broken"] > 0)
