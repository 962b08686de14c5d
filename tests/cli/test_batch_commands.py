"""``clausal score``, ``predict --questions``, ``vectors`` and ``nearest``."""

import csv
import io

import numpy as np
import pyarrow.parquet as pq
import pytest

import clausal as package
from command_line import clausal, refused

FACTS = "person 01\tmanages\tperson 02\nperson 03\tworks_with\tperson 00\n"


@pytest.fixture
def facts(tmp_path):
    path = tmp_path / "facts.tsv"
    path.write_text(FACTS)
    return path


def test_score_prints_and_writes_what_python_returns(finished, facts, tmp_path):
    expected = [
        fact._asdict() for fact in package.load(finished).score([line.split("\t") for line in FACTS.splitlines()])
    ]
    printed = clausal("score", finished, facts, "--format", "json").json
    assert printed == [{name: fact[name] for name in printed[0]} for fact in expected]
    rows = list(csv.DictReader(io.StringIO(clausal("score", finished, facts, "--format", "csv").stdout)))
    assert [float(row["score"]) for row in rows] == [fact["score"] for fact in expected]
    assert "works_with" in clausal("score", finished, facts).stdout
    result = clausal("score", finished, facts, "--out", tmp_path / "scores.parquet")
    assert "scores.parquet: 2 facts" in result.stderr
    assert pq.read_table(tmp_path / "scores.parquet").to_pylist() == printed


def test_score_names_the_line_of_an_unknown_name_or_skips_it(finished, facts, tmp_path):
    facts.write_text(FACTS + "\nperson 1\tmanages\tperson 02\n")
    refused(clausal("score", finished, facts), f"{facts}:4: unknown entity 'person 1'", "did you mean")
    refused(clausal("score", finished, facts, "--out", tmp_path / "x.csv"), "unknown entity")
    assert not (tmp_path / "x.csv").exists()
    result = clausal("score", finished, facts, "--unknown", "skip", "--format", "json")
    assert len(result.json) == 2
    assert "1 fact with unknown names left out" in result.stderr


def test_score_refuses_what_it_cannot_read_or_write(finished, facts, tmp_path):
    refused(clausal("score", finished, tmp_path / "none.tsv"), "no such file")
    refused(clausal("score", finished, facts, "--out", tmp_path / "x.xlsx"), "written as .parquet, .csv or .tsv")
    refused(clausal("score", finished, facts, "--clauses", facts), "add --ranking entailed")
    (tmp_path / "empty.tsv").write_text("")
    refused(clausal("score", finished, tmp_path / "empty.tsv"), "no facts")
    (tmp_path / "bad.tsv").write_text(FACTS + "one\ttwo\n")
    refused(clausal("score", finished, tmp_path / "bad.tsv"), "bad.tsv:3", "2 columns")


def test_many_questions_have_the_answers_of_each(finished, tmp_path):
    questions = ["manages(person 01, ?)", "works_with(?, person 02)", "?(person 01, person 02)"]
    path = tmp_path / "questions.txt"
    path.write_text("% some questions\n\n" + "\r\n".join(questions))
    found = clausal("predict", finished, "--questions", path, "-k", "3", "--format", "json").json
    assert [one["question"] for one in found] == questions
    for one in found:
        assert one["answers"] == clausal("predict", finished, one["question"], "-k", "3", "--format", "json").json
    rows = list(
        csv.DictReader(io.StringIO(clausal("predict", finished, "--questions", path, "--format", "csv").stdout))
    )
    assert {row["question"] for row in rows} == set(questions)
    table = clausal("predict", finished, "--questions", path).stdout
    assert all(question in table for question in questions)


def test_questions_are_refused_by_line(finished, tmp_path):
    path = tmp_path / "questions.txt"
    path.write_text("manages(person 01, ?)\nmanges(person 01, ?)\n")
    refused(clausal("predict", finished, "--questions", path), f"{path}:2: unknown relation 'manges'")
    refused(clausal("predict", finished), "give one question, or many in a file")
    refused(clausal("predict", finished, "manages(person 01, ?)", "--questions", path), "give one question, or many")
    refused(clausal("predict", finished, "--questions", path, "--explain"), "--explain is for one question")
    path.write_text("\n")
    refused(clausal("predict", finished, "--questions", path), "no questions")


def test_vectors_and_neighbours(finished, tmp_path):
    assert clausal("vectors", finished, "--out", tmp_path / "x.npy").code == 0
    run = package.load(finished)
    assert np.load(tmp_path / "x.npy").tolist() == run.vectors().entities.tolist()
    refused(clausal("vectors", finished, "--out", tmp_path / "x.bin"), "written as .parquet")
    found = clausal("nearest", finished, "person 01", "-k", "3", "--metric", "dot", "--format", "json").json
    assert found == [one._asdict() for one in run.nearest("person 01", 3, metric="dot")]
    assert "manages" not in clausal("nearest", finished, "manages", "--kind", "relation", "--format", "csv").stdout
    refused(clausal("nearest", finished, "person 1"), "unknown entity 'person 1'", "did you mean")
