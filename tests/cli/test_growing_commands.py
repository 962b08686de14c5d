"""``clausal update``, ``clausal complete`` and ``clausal train --from``: what they print, write and refuse."""

import json

import pytest

import clausal as package
from command_line import clausal, refused
from small_graphs import quick, small_facts, train_options, write_facts, write_small_graph

NEW = [("person 01", "manages", "zoe"), ("zoe", "works_with", "person 01")]


@pytest.fixture(scope="module")
def new_facts(tmp_path_factory):
    path = tmp_path_factory.mktemp("facts") / "new.tsv"
    write_facts(path, NEW)
    return path


@pytest.fixture(scope="module")
def calibrated(tmp_path_factory):
    """A run on one file of facts, with enough valid facts for probabilities, and without clauses."""
    folder = tmp_path_factory.mktemp("calibrated")
    write_facts(folder / "facts.tsv", small_facts())
    result = clausal("train", folder / "facts.tsv", "--valid", 0.3, *quick(), "--out", folder / "run")
    assert result.code == 0, result.stderr
    return folder / "run"


def test_update_says_what_it_did(finished, new_facts, tmp_path):
    result = clausal("update", finished, new_facts, "--out", tmp_path / "new", "--format", "json")
    assert result.code == 0, result.stderr
    assert (result.json["added"], result.json["new_entities"]) == (2, 1)
    assert f"{tmp_path / 'new'}: 2 new facts, 1 new entity" in result.stderr
    assert "next: clausal certify" in result.stderr
    assert "zoe" in package.load(tmp_path / "new").graph.entities


def test_update_reads_other_columns(finished, tmp_path):
    (tmp_path / "new.csv").write_text("who,what,whom\nzoe,manages,person 01\n")
    options = ("--columns", "who,what,whom", "--out", tmp_path / "new")
    assert clausal("update", finished, tmp_path / "new.csv", *options).code == 0


def test_update_refuses_what_cannot_be(finished, unfinished, new_facts, tmp_path):
    out = ("--out", tmp_path / "new")
    refused(clausal("update", finished, *out), "nothing to update", "--remove FILE")
    refused(clausal("update", finished, tmp_path / "none.tsv", *out), "no such file")
    refused(clausal("update", unfinished, new_facts, *out), "has not finished")
    refused(clausal("update", finished, new_facts, "--out", finished), "exists already", "the old run stays")
    refused(clausal("update", finished, "--remove", new_facts, *out), "cannot be withdrawn")
    write_facts(tmp_path / "odd.tsv", [("zoe", "likes", "person 01")])
    refused(clausal("update", finished, tmp_path / "odd.tsv", *out), "unknown relation 'likes'", "--from RUN")
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".jsonl", ".parquet", ".nt", ".ttl"])
def test_complete_writes_files(calibrated, tmp_path, ending):
    out = tmp_path / f"missing{ending}"
    result = clausal("complete", calibrated, "--out", out, "--min-probability", 0.5, "--limit", 7)
    assert result.code == 0, result.stderr
    assert "7 new facts written" in result.stderr
    if ending == ".jsonl":
        rows = [json.loads(line) for line in out.read_text().splitlines()]
        assert [row["rank"] for row in rows] == list(range(1, 8))
        assert rows == [one._asdict() for one in package.load(calibrated).complete(min_probability=0.5, limit=7)]
    assert out.stat().st_size > 100


def test_complete_prints_new_facts_of_a_relation(calibrated):
    result = clausal("complete", calibrated, "--relation", "manages", "--min-probability", 0, "--format", "json")
    assert result.code == 0, result.stderr
    assert len(result.json) == 20
    graph = package.load(calibrated).graph
    known = {tuple(row) for row in graph.known.tolist()}
    for row in result.json:
        ids = graph.entities.id(row["subject"]), graph.relations.id(row["relation"]), graph.entities.id(row["object"])
        assert row["relation"] == "manages"
        assert ids not in known
    least = clausal("complete", calibrated, "--min-probability", 1)
    assert "no new facts of probability 1 or more" in least.stderr


def test_complete_by_votes_and_by_clauses(calibrated, tmp_path):
    (tmp_path / "clauses.txt").write_text("manages(X, Y) => outranks(X, Y)\n")
    options = ("--clauses", tmp_path / "clauses.txt", "--ranking", "entailed", "--format", "json", "--limit", 500)
    rows = clausal("complete", calibrated, *options).json
    entailed = [row for row in rows if row["verdict"] == "entailed"]
    assert entailed
    assert rows[: len(entailed)] == entailed
    assert all("given" in row["proof"] for row in entailed)
    assert clausal("fuse", calibrated, "--mine", "--out", tmp_path / "votes").code == 0
    by_votes = clausal(
        "complete", tmp_path / "votes", "--ranking", "fused", "--min-probability", 0.2, "--format", "json"
    )
    assert by_votes.code == 0, by_votes.stderr
    run = package.load(tmp_path / "votes")
    facts = [(row["subject"], row["relation"], row["object"]) for row in by_votes.json]
    expected = run.score(facts, ranking="fused").probabilities if facts else []
    assert [row["probability"] for row in by_votes.json] == pytest.approx(list(expected))


def test_complete_obeys_clauses_over_all_pairs(calibrated, tmp_path):
    """The same as scoring every pair one by one by consistent scores."""
    (tmp_path / "clauses.txt").write_text(
        "manages(X, Y) => outranks(X, Y)\noutranks(X, Y), outranks(Y, Z) => outranks(X, Z)\n"
        "works_with(X, Y), manages(X, Y) => false\n"
    )
    options = ("--clauses", tmp_path / "clauses.txt", "--consistent", "--min-probability", 0.4, "--format", "json")
    result = clausal("complete", calibrated, *options, "--limit", 10_000)
    assert result.code == 0, result.stderr
    run, clauses = package.load(calibrated), package.read_clauses(tmp_path / "clauses.txt")
    names = run.graph.entities
    pairs = [(one, relation, other) for relation in run.graph.relations for one in names for other in names]
    scored = run.score(pairs, clauses=clauses, consistent=True)
    expected = {
        fact: probability
        for fact, probability, known in zip(pairs, scored.probabilities, scored.known, strict=True)
        if probability >= 0.4 and not known
    }
    found = {(row["subject"], row["relation"], row["object"]): row["probability"] for row in result.json}
    assert found == pytest.approx(expected)
    assert {"entailed", "raised"} <= {row["verdict"] for row in result.json}
    assert all(row["proof"] for row in result.json if row["verdict"] == "entailed")


def test_complete_refuses_what_cannot_be(finished, calibrated, tmp_path):
    refused(clausal("complete", finished), "no probabilities", "20 valid facts")
    refused(clausal("complete", calibrated, "--relation", "managing"), "unknown relation", "did you mean")
    assert clausal("complete", calibrated, "--min-probability", 2).code == 2
    refused(clausal("complete", calibrated, "--out", tmp_path / "facts.xls"), ".parquet")
    refused(clausal("complete", calibrated, "--ranking", "entailed"), "trained without clauses")


def test_train_from_a_run_takes_its_settings_and_clauses(finished, tmp_path):
    folder = write_small_graph(tmp_path / "grown", [*small_facts(), *NEW])
    result = clausal("train", folder, "--from", finished, "--out", tmp_path / "run")
    assert result.code == 0, result.stderr
    assert "1 epoch, a fifth of its own" in result.stderr
    assert "warm start: 24 entities and 3 relations known, 1 and 0 new" in result.stderr
    run, old = package.load(tmp_path / "run"), package.load(finished)
    assert run.clauses == old.clauses
    assert run.settings.train.epochs == 1
    assert run.settings.model == old.settings.model


def test_train_from_refuses_what_cannot_be(finished, graph_folder, tmp_path):
    out = ("--out", tmp_path / "run")
    refused(clausal("train", graph_folder, "--from", finished, "--preset", "best", *out), "--preset")
    refused(clausal("train", graph_folder, "--from", finished, "--set", "model.dim=4", *out), "model.dim", "leave it")
    refused(clausal("train", graph_folder, "--from", tmp_path / "none", *out), "no such run directory")
    refused(clausal(*train_options(graph_folder)[:2], "--resume", "--from", finished, *out), "--resume")
    assert not (tmp_path / "run").exists()
