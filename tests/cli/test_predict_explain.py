"""``clausal predict --explain``: given, entailed or not, from train alone, and what is missing."""

import csv
import io

import pytest

import clausal as package
from clausal.logic.closure import close
from command_line import clausal, refused


def explained(run, query, *options):
    result = clausal("predict", run, query, "--explain", "--format", "json", *options)
    assert result.code == 0, result.stderr
    return result.json


@pytest.fixture(scope="module")
def loaded(finished):
    return package.load(finished)


@pytest.mark.parametrize("query", ["works_with(person 05, ?)", "outranks(?, person 11)", "?(person 02, person 05)"])
def test_verdicts_are_those_of_the_closure_of_train(query, finished, loaded):
    graph = loaded.graph
    given = {tuple(row) for row in graph.train.tolist()}
    closed = {tuple(row) for row in close(graph, loaded.clauses, threads=1).facts.tolist()}
    answers = explained(finished, query, "-k", "24")
    for answer in answers:
        ids = (
            graph.entities.id(answer["subject"]),
            graph.relations.id(answer["relation"]),
            graph.entities.id(answer["object"]),
        )
        expected = "known" if ids in given else "entailed" if ids in closed else "predicted"
        assert answer["verdict"] == expected
        assert (answer["proof"] is None) == (expected == "predicted")
    assert len({answer["verdict"] for answer in answers}) > 1


def test_leaves_are_train_facts_and_never_test_facts(finished, loaded):
    graph = loaded.graph
    train = {tuple(row) for row in graph.train.tolist()}
    leaves = 0
    for answer in explained(finished, "works_with(?, person 02)", "-k", "24"):
        for step in (answer["proof"] or {"steps": []})["steps"]:
            if step["clause"] is None:
                leaves += 1
                row = (graph.entities.id(step["subject"]), graph.relations.id(step["relation"]))
                assert (*row, graph.entities.id(step["object"])) in train
    assert leaves


def test_missing_facts_come_with_score_and_rank(finished, loaded):
    answers = explained(finished, "works_with(person 03, ?)", "-k", "24")
    missing = [one for answer in answers for near in answer["near"] for one in near["missing"]]
    assert missing
    for one in missing[:8]:
        fact = f"{one['relation']}({one['subject']}, {one['object']})"
        assert loaded.predict(fact)[0].score == pytest.approx(one["score"], abs=1e-6)
        others = loaded.predict(f"{one['relation']}({one['subject']}, ?)", k=24)
        better = [o for o in others if o.score > one["score"] + 1e-6 and o.split != "train"]
        assert one["rank"] == 1 + len(better)


def test_supports_are_ordered_by_missing_facts_then_by_their_score(finished):
    for answer in explained(finished, "outranks(person 01, ?)", "-k", "24"):
        keys = [(len(near["missing"]), -min(one["score"] for one in near["missing"])) for near in answer["near"]]
        assert keys == sorted(keys)
        assert len(keys) <= 3


def test_table_shows_the_answers_and_then_why(finished, loaded):
    result = clausal("predict", finished, "works_with(person 05, ?)", "-k", "24", "--explain")
    assert result.code == 0
    plain = clausal("predict", finished, "works_with(person 05, ?)", "-k", "24").stdout
    assert "status" in result.stdout
    assert "status" not in plain
    texts = [str(why) for why in loaded.explain(loaded.predict("works_with(person 05, ?)", k=24))]
    assert result.stdout.endswith("\n".join(texts) + "\n")
    assert [text.split(". ")[0] for text in texts] == [str(rank) for rank in range(1, 25)]


def test_csv_has_the_verdict(finished):
    printed = clausal("predict", finished, "works_with(person 05, ?)", "--explain", "--format", "csv").stdout
    rows = list(csv.DictReader(io.StringIO(printed)))
    assert {row["verdict"] for row in rows} <= {"known", "entailed", "predicted"}
    empty = clausal("predict", finished, "manages(person 00, person 01)", "--new", "--explain", "--format", "csv")
    assert empty.stdout == "rank,subject,relation,object,score,known,split,verdict,confidence\n"


def test_other_clauses_can_explain(finished, tmp_path):
    (tmp_path / "other.txt").write_text("manages(X, Y) => outranks(X, Y)\n")
    (answer,) = explained(finished, "outranks(person 00, person 01)", "--clauses", tmp_path / "other.txt")
    assert answer["verdict"] == "entailed"
    assert answer["proof"]["steps"][0]["place"] == f"{tmp_path / 'other.txt'}:1"
    (answer,) = explained(finished, "outranks(person 00, person 01)")
    assert answer["verdict"] == "predicted"


def test_open_names_are_closed_by_the_best_answer(finished, loaded):
    clauses = package.parse_clauses("outranks(X, Z), outranks(Z, X) => manages(X, X)\nmanages(Y, Z) => outranks(Y, Y)")
    (why,) = loaded.explain(loaded.predict("outranks(person 23, person 23)"), clauses=clauses)
    (missing,) = why.near[0].missing
    best = loaded.predict("manages(person 23, ?)", k=1)[0]
    assert (missing.fact.object, missing.score) == (best.object, pytest.approx(best.score, abs=1e-6))


def test_a_run_without_clauses_says_what_to_do(graph_folder, tmp_path):
    graph = package.load_graph(graph_folder)
    settings = package.Settings.from_mapping({"model": {"dim": 4}, "train": {"epochs": 1, "passes": 1}})
    package.train(graph, (), settings, out=tmp_path / "run")
    result = clausal("predict", tmp_path / "run", "manages(person 01, ?)", "--explain")
    refused(result, "trained without clauses", "--clauses FILE")
    options = ["--explain", "--clauses", graph_folder / "clauses.txt"]
    assert clausal("predict", tmp_path / "run", "manages(person 01, ?)", *options).code == 0


def test_clauses_without_explain_are_refused(finished, graph_folder):
    result = clausal("predict", finished, "manages(person 01, ?)", "--clauses", graph_folder / "clauses.txt")
    refused(result, "add --explain")
