"""A run with votes: asked, evaluated, written and read again; files that are damaged are refused."""

import json
import shutil
from itertools import pairwise

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

import clausal
from clausal.errors import InputError


def test_what_is_read_again_answers_as_before(fused):
    run, out = fused
    again = clausal.load(out)
    assert again.is_fused
    for query in ("works_with(person 05, ?)", "outranks(?, person 11)", "?(person 02, person 05)"):
        assert again.predict(query, 24, ranking="fused") == run.predict(query, 24, ranking="fused")
        assert again.predict(query, 24, ranking="rules") == run.predict(query, 24, ranking="rules")
    assert again.predict("works_with(person 05, ?)") == run.predict("works_with(person 05, ?)")


def test_predict_and_evaluate_agree(fused):
    run, _ = fused
    graph, fact = run.graph, run.graph.test[0]
    names = graph.entities[fact[0]], graph.relations[fact[1]], graph.entities[fact[2]]
    answers = run.predict(f"{names[1]}({names[0]}, ?)", len(graph.entities), ranking="fused")
    scores = {answer.object: answer.score for answer in answers}
    known = {answer.object for answer in answers if answer.known} - {names[2]}
    others = [score for name, score in scores.items() if name != names[2] and name not in known]
    own = scores[names[2]]
    rank = 1 + sum(score > own for score in others) + 0.5 * sum(score == own for score in others)
    found = run.evaluate(fact[None], ranking="fused")
    assert found.ranking == "fused"
    assert found.ranks.of("filtered", "object").tolist() == [rank]


@pytest.mark.parametrize("query", ["works_with(person 05, ?)", "outranks(?, person 11)", "?(person 02, person 05)"])
def test_contributions_sum_to_the_score_of_each_answer(fused, query):
    run, _ = fused
    answers = run.predict(query, 5, ranking="fused")
    for answer, why in zip(answers, run.explain_votes(query, answers), strict=True):
        assert sum(part.value for part in why.contributions) == pytest.approx(answer.score, rel=1e-3, abs=1e-3)
        assert str(why).startswith(f"{answer.rank}. {answer.relation}({answer.subject}, {answer.object})")
        json.dumps(why.to_json())


def test_a_run_without_votes_says_how_to_get_them(finished):
    with pytest.raises(InputError, match="clausal fuse"):
        clausal.load(finished).predict("works_with(person 05, ?)", ranking="fused")
    with pytest.raises(InputError, match="choose one of model, entailed, rules, fused"):
        clausal.load(finished).evaluate(ranking="fuse")


def test_the_ranking_entailed_is_entailed_first(finished):
    run = clausal.load(finished)
    first = run.predict("works_with(person 05, ?)", 24, entailed="first")
    assert run.predict("works_with(person 05, ?)", 24, ranking="entailed") == first
    assert run.evaluate(ranking="entailed").ranking == "entailed first"


def test_a_directory_that_exists_is_not_touched(fused, finished):
    with pytest.raises(InputError, match="--out"):
        clausal.load(finished).fuse(mine=True, out=fused[1])


def put(name, value, place=None):
    def damage(out):
        arrays = load_file(out / "fusion.safetensors")
        if place is None:
            arrays[name] = value
        else:
            arrays[name].view(-1)[place] = value
        save_file(arrays, out / "fusion.safetensors")

    return damage


def say(name, value):
    def damage(out):
        about = json.loads((out / "fusion.json").read_text())
        about[name] = value
        (out / "fusion.json").write_text(json.dumps(about))

    return damage


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (put("weights", float("nan"), 0), "not finite"),
        (put("weights", torch.zeros(3, 3, dtype=torch.float64)), "shape"),
        (put("path_heads", 10**6, 0), "unknown relation"),
        (put("path_bodies", 10**6, 0), "unknown label"),
        (put("path_bodies", -1, 0), "gap"),
        (put("path_support", 1e9, 0), "impossible counts"),
        (put("path_share", 0.0, 0), "impossible counts"),
        (put("attribute_heads", 10**6, 0), "unknown head"),
        (put("attribute_support", 10**6, 0), "impossible counts"),
        (put("body_starts", 5, 0), "do not belong"),
        (put("entities_with", torch.zeros(1, dtype=torch.int32)), "shape"),
        (put("path_heads", torch.zeros(1)), "expected torch.int32"),
        (put("more", torch.zeros(1)), "not of a fusion"),
        (say("format", 2), "format 2 is not known"),
        (say("features", ["model"]), "expected the features"),
        (say("basis", "guessed"), "'basis'"),
        (say("signed", 1), "'signed'"),
        (say("gain", "much"), "'gain'"),
        (say("strength", -1), "'strength'"),
        (say("valid", [1]), "'valid'"),
        (say("calibration", {"slope": 1}), "relations"),
        (lambda out: (out / "fusion.safetensors").unlink(), "missing"),
        (lambda out: (out / "fusion.safetensors").write_bytes(b"x" * 100), "damaged"),
        (lambda out: (out / "fusion.json").write_text("[]"), "fusion.json"),
    ],
)
def test_damaged_files_are_refused(fused, tmp_path, damage, message):
    out = tmp_path / "run"
    shutil.copytree(fused[1], out)
    damage(out)
    with pytest.raises(InputError, match=message):
        clausal.load(out).predict("works_with(person 05, ?)", ranking="fused")
    assert len(clausal.load(out).predict("works_with(person 05, ?)")) == 10


def test_a_graph_without_valid_facts_and_with_unseen_entities(tmp_path):
    names = [f"n{number}" for number in range(12)]
    train = [(a, "likes", b) for a, b in pairwise(names)]
    train += [(b, "liked_by", a) for a, _, b in train[:8]]
    graph = clausal.Graph.from_triples(train, test=[("n9", "liked_by", "n8"), ("new", "likes", "n1")])
    settings = clausal.Settings.from_mapping({"model": {"dim": 4}, "train": {"epochs": 1, "passes": 1}})
    run = clausal.train(graph, [], settings).fuse()
    assert run.fusion.basis == "default"
    assert run.predict("likes(new, ?)", 3, ranking="fused")
    assert run.predict("liked_by(n9, ?)", 1, ranking="rules")[0].object == "n8"
    assert np.isfinite(run.evaluate(ranking="fused").filtered["both"]["mrr"])
