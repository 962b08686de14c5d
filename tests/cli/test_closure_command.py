"""``clausal closure`` and ``clausal partition`` on a small graph, by their files and what they print."""

import csv
import io

import pytest

from clausal.graph import load_graph, read_facts
from command_line import clausal, refused
from small_graphs import small_facts, write_facts


def closed(facts):
    """Return the closure of facts under the clauses of the small graph, one by one, by name."""
    known = set(facts)
    while True:
        more = {(s, "works_with", o) for s, r, o in known if r == "manages"}
        more |= {(o, "works_with", s) for s, r, o in known if r == "works_with"}
        reports = [(s, o) for s, r, o in known if r == "manages"]
        more |= {(s, "outranks", z) for s, o in reports for y, z in reports if o == y}
        if more <= known:
            return known
        known |= more


def facts_of(path):
    return {tuple(line.split("\t")) for line in path.read_text(encoding="utf-8").splitlines()}


@pytest.fixture
def close(graph_folder):
    return lambda *options: clausal("closure", graph_folder, "--clauses", graph_folder / "clauses.txt", *options)


@pytest.fixture
def part(graph_folder):
    return lambda out: clausal("partition", graph_folder, "--clauses", graph_folder / "clauses.txt", "--out", out)


def test_closure_is_written_and_counted_by_round(close, graph_folder, tmp_path):
    result = close("--out", tmp_path / "closed.tsv", "--format", "json")
    assert result.code == 0
    given = facts_of(graph_folder / "train.tsv")
    assert facts_of(tmp_path / "closed.tsv") == closed(given)
    assert result.json["given"] == len(given)
    assert result.json["facts"] == len(closed(given))
    assert result.json["complete"] is True
    assert sum(round["new"] for round in result.json["rounds"]) == len(closed(given) - given)
    for round in result.json["rounds"]:
        assert f"round {round['round']}: {round['new']} new facts" in result.stderr


def test_new_facts_alone(close, graph_folder, tmp_path):
    close("--out", tmp_path / "new.parquet", "--new")
    graph = load_graph(graph_folder)
    found = read_facts(tmp_path / "new.parquet", graph.entities, graph.relations)
    given = facts_of(graph_folder / "train.tsv")
    assert len(found) == len(closed(given) - given)


def test_every_split_can_be_closed(close, tmp_path):
    close("--out", tmp_path / "all.tsv", "--split", "all")
    assert facts_of(tmp_path / "all.tsv") == closed(small_facts())


def test_one_file_is_closed_as_a_whole(graph_folder, tmp_path):
    write_facts(tmp_path / "facts.tsv", small_facts())
    result = clausal("closure", tmp_path / "facts.tsv", "--clauses", graph_folder / "clauses.txt", "--format", "json")
    assert result.json["given"] == len(set(small_facts()))


def test_rounds_stop_early_and_say_so(close):
    result = close("--rounds", 1, "--format", "json")
    assert result.code == 0
    assert result.json["complete"] is False
    assert len(result.json["rounds"]) == 1
    assert "stopped after round 1: more facts may follow" in result.stderr


def test_csv_has_a_row_for_each_round(close):
    rows = list(csv.DictReader(io.StringIO(close("--format", "csv").stdout)))
    assert rows[0]["round"] == "given"
    assert int(rows[-1]["facts"]) == sum(int(row["new"]) for row in rows)


def test_beyond_the_limit_nothing_is_written(close, tmp_path):
    refused(close("--out", tmp_path / "closed.tsv", "--limit", 60), "more than the limit of 60", code=1)
    assert not list(tmp_path.iterdir())


def test_clauses_that_derive_nothing_are_said(graph_folder, tmp_path):
    (tmp_path / "clauses.txt").write_text("manages(X, Y), manages(Y, X) => false\nmanages(X, Y) => outranks(X, Y)\n")
    result = clausal("closure", graph_folder, "--clauses", tmp_path / "clauses.txt", "--format", "json")
    assert result.code == 0
    assert "no facts are derived from 1 clause:" in result.stderr
    assert f"{tmp_path / 'clauses.txt'}:1: manages(X, Y), manages(Y, X) => false" in result.stderr
    (left_out,) = result.json["left_out"]
    assert left_out["clause"] == "manages(X, Y), manages(Y, X) => false"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--out", "none/closed.tsv"], "the folder none does not exist"),
        (["--out", "closed.xls"], "not '.xls'"),
        (["--rounds", "0"], "rounds must be at least 1"),
        (["--memory", "lots"], "no amount of memory"),
        (["--master", "local[2]"], "a master is for the Spark engine"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_bad_options_are_one_message(close, options, message):
    refused(close(*options), message)


def test_an_unknown_relation_is_named_with_its_place(graph_folder, tmp_path):
    (tmp_path / "clauses.txt").write_text("manages(X, Y) => outrank(X, Y)\n")
    result = clausal("closure", graph_folder, "--clauses", tmp_path / "clauses.txt")
    refused(result, "clauses.txt:1:18", "unknown relation 'outrank'", "did you mean 'outranks'?")


def test_partition_parts_test_by_the_closure_of_train(part, graph_folder, tmp_path):
    assert part(tmp_path / "parted").code == 0
    deducible = closed(facts_of(graph_folder / "train.tsv"))
    test = facts_of(graph_folder / "test.tsv")
    assert facts_of(tmp_path / "parted" / "test-II.tsv") == test & deducible
    rest = tmp_path / "parted" / "test-I.tsv"
    assert (facts_of(rest) if rest.exists() else set()) == test - deducible
    graph, parted = load_graph(graph_folder), load_graph(tmp_path / "parted")
    assert [len(facts) for facts in parted.splits.values()] == [len(facts) for facts in graph.splits.values()]


def test_partition_refuses_what_exists_and_a_graph_without_test(part, graph_folder, tmp_path):
    refused(part(tmp_path), "exists already")
    options = ["--clauses", graph_folder / "clauses.txt", "--out", tmp_path / "new"]
    refused(clausal("partition", graph_folder / "train.tsv", *options), "no test facts to partition")
    assert not list(tmp_path.iterdir())
