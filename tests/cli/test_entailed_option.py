"""``--entailed first``: what train entails comes before all else in ``predict`` and ``evaluate``, and is said to."""

import csv
import io

import numpy as np
import pytest

import clausal as package
from clausal.logic.closure import close
from command_line import clausal, refused


@pytest.fixture(scope="module")
def loaded(finished):
    return package.load(finished)


@pytest.fixture(scope="module")
def closed(loaded):
    return {tuple(row) for row in close(loaded.graph, loaded.clauses, threads=1).facts.tolist()}


def ids(graph, answer):
    entities = graph.entities
    return entities.id(answer["subject"]), graph.relations.id(answer["relation"]), entities.id(answer["object"])


def ask(run, query, *options):
    result = clausal("predict", run, query, "--format", "json", *options)
    assert result.code == 0, result.stderr
    return result.json


@pytest.mark.parametrize("query", ["works_with(person 05, ?)", "outranks(?, person 11)", "?(person 02, person 05)"])
def test_entailed_answers_come_first_each_group_by_score(query, finished, loaded, closed):
    plain = ask(finished, query, "-k", "24")
    first = ask(finished, query, "-k", "24", "--entailed", "first")
    entailed = [ids(loaded.graph, answer) in closed for answer in plain]
    assert 0 < sum(entailed) < len(plain)
    names = [(answer["subject"], answer["relation"], answer["object"], answer["score"]) for answer in plain]
    expected = [name for name, one in zip(names, entailed, strict=True) if one]
    expected += [name for name, one in zip(names, entailed, strict=True) if not one]
    assert [(a["subject"], a["relation"], a["object"], a["score"]) for a in first] == expected
    assert [answer["rank"] for answer in first] == list(range(1, len(first) + 1))


def test_verdicts_are_those_of_an_explanation(finished):
    query = ["works_with(?, person 02)", "-k", "24"]
    first = ask(finished, *query, "--entailed", "first")
    explained = ask(finished, *query, "--explain")
    by_subject = {answer["subject"]: answer["verdict"] for answer in explained}
    assert {answer["subject"]: answer["verdict"] for answer in first} == by_subject
    both = ask(finished, *query, "--entailed", "first", "--explain")
    assert [answer["verdict"] for answer in both] == [answer["verdict"] for answer in first]
    assert "proof" in both[0]
    assert "proof" not in first[0]


def test_the_verdict_is_a_column(finished):
    printed = clausal("predict", finished, "works_with(person 05, ?)", "--entailed", "first", "--format", "csv").stdout
    assert next(csv.DictReader(io.StringIO(printed)))["verdict"] in ("known", "entailed")
    assert "verdict" not in clausal("predict", finished, "works_with(person 05, ?)", "--format", "csv").stdout


def test_new_answers_are_entailed_before_they_are_not(finished):
    answers = ask(finished, "works_with(?, person 02)", "--entailed", "first", "--new", "-k", "24")
    assert "known" not in {answer["verdict"] for answer in answers}


def test_evaluation_ranks_entailed_facts_by_hand(finished, loaded, closed):
    graph = loaded.graph
    known = {tuple(row) for row in graph.known.tolist()}
    scores = {}
    inverse = []
    for fact in map(tuple, graph.test.tolist()):
        for side in (0, 2):
            query = [f"{graph.entities[fact[0]]}", f"{graph.entities[fact[2]]}"]
            query[side // 2] = "?"
            answers = loaded.predict(f"{graph.relations[fact[1]]}({', '.join(query)})", k=24)
            scores = {ids(graph, answer._asdict()): answer.score for answer in answers}
            places = {one: (one in closed, score) for one, score in scores.items()}
            rivals = [place for one, place in places.items() if one not in known]
            own = places[fact]
            inverse.append(1 / (1 + sum(r > own for r in rivals) + sum(r == own for r in rivals) / 2))
    result = clausal("evaluate", finished, "--entailed", "first", "--format", "json").json
    assert result["ranking"] == "entailed first"
    assert result["filtered"]["both"]["mrr"] == pytest.approx(np.mean(inverse), abs=1e-6)
    plain = clausal("evaluate", finished, "--format", "json").json
    assert plain["ranking"] == "model"
    assert plain["filtered"] != result["filtered"]


def test_the_title_says_that_entailed_facts_are_first(finished):
    assert "entailed first" in clausal("evaluate", finished, "--entailed", "first").stdout
    assert "entailed" not in clausal("evaluate", finished).stdout


def test_other_clauses_can_entail(finished, tmp_path):
    (tmp_path / "other.txt").write_text("manages(X, Y) => outranks(X, Y)\n")
    options = ["--entailed", "first", "--clauses", tmp_path / "other.txt"]
    answers = ask(finished, "outranks(person 00, ?)", *options)
    assert answers[0]["verdict"] in ("known", "entailed")
    by_name = {answer["object"]: answer["verdict"] for answer in answers}
    assert by_name["person 01"] == "entailed"
    assert clausal("evaluate", finished, *options).code == 0


def test_clauses_that_derive_nothing_are_named(finished, tmp_path):
    (tmp_path / "other.txt").write_text("manages(X, Y) => outranks(X, Y)\noutranks(X, Y) => not outranks(Y, X)\n")
    for command in (["evaluate", finished], ["predict", finished, "outranks(person 00, ?)"]):
        result = clausal(*command, "--entailed", "first", "--clauses", tmp_path / "other.txt")
        assert result.code == 0
        assert "no facts are derived from 1 clause" in result.stderr


def test_a_misspelt_name_is_told_before_train_is_closed(finished, monkeypatch):
    monkeypatch.setattr("clausal.run.run.Run.closure_under", None)
    refused(clausal("predict", finished, "mangaes(ann, ?)", "--entailed", "first"), "did you mean 'manages'?")


def test_what_is_missing_is_said(finished, graph_folder, tmp_path):
    refused(clausal("evaluate", finished, "--clauses", graph_folder / "clauses.txt"), "add --ranking entailed")
    graph = package.load_graph(graph_folder)
    settings = package.Settings.from_mapping({"model": {"dim": 4}, "train": {"epochs": 1, "passes": 1}})
    run = package.train(graph, (), settings, out=tmp_path / "run")
    refused(clausal("evaluate", tmp_path / "run", "--entailed", "first"), "trained without clauses", "--clauses FILE")
    with pytest.raises(package.InputError, match="'first'"):
        run.evaluate(entailed="last")
