"""Facts that are written read back as they were, whatever their names; a failure leaves what was there."""

from dataclasses import replace

import numpy as np
import pytest

from clausal.config import Settings
from clausal.errors import InputError, RunError
from clausal.graph import Graph, Names, load_graph, read_facts, write_facts, write_graph
from clausal.run.directory import RunDirectory

PLAIN = ["anna", "bob", "Zürich (CH)", 'O\'Neil, "Bob"', "a b", "x", "#1", "東京"]


def graph_with(entities, relations=("knows", "is in")):
    names = Names(entities, "entity"), Names(relations, "relation")
    rows = [(s, (s + o) % len(relations), o) for s in range(len(entities)) for o in range(len(entities))]
    facts = np.array(rows, dtype=np.int32)
    return Graph(*names, facts[2:], facts[:1], facts[1:2], {"test-I": facts[1:2], "test-II": facts[:0]}, name="g")


def named(graph, facts):
    return {(graph.entities[s], graph.relations[r], graph.entities[o]) for s, r, o in facts.tolist()}


@pytest.mark.parametrize("name", ["f.tsv", "f.txt", "f", "f.tsv.gz", "f.parquet", "f.parquet.gz", "f.TSV.GZ"])
def test_every_ending_reads_back(tmp_path, name):
    graph = graph_with(PLAIN)
    write_facts(tmp_path / name, graph.train, graph.entities, graph.relations)
    back = read_facts(tmp_path / name, graph.entities, graph.relations)
    assert np.array_equal(back, graph.train)
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_text_is_one_line_for_each_fact(tmp_path):
    graph = graph_with(["a", 'b"c'])
    write_facts(tmp_path / "f.tsv", graph.train, graph.entities, graph.relations)
    assert (tmp_path / "f.tsv").read_text() == 'b"c\tis in\ta\nb"c\tknows\tb"c\n'


def test_more_facts_than_are_written_at_a_time(tmp_path, monkeypatch):
    monkeypatch.setattr("clausal.graph.writers._CHUNK", 7)
    graph = graph_with(PLAIN)
    for name in ("f.tsv", "f.parquet"):
        write_facts(tmp_path / name, graph.train, graph.entities, graph.relations)
        assert np.array_equal(read_facts(tmp_path / name, graph.entities, graph.relations), graph.train)


def test_the_same_facts_are_the_same_bytes(tmp_path):
    graph = graph_with(PLAIN)
    for name in ("one.tsv.gz", "two.tsv.gz"):
        write_facts(tmp_path / name, graph.train, graph.entities, graph.relations)
    assert (tmp_path / "one.tsv.gz").read_bytes() == (tmp_path / "two.tsv.gz").read_bytes()


@pytest.mark.parametrize("first", [("subject", "relation", "object"), ("\ufeffa", "b", "c")])
def test_a_fact_that_looks_like_something_else_is_a_fact_still(tmp_path, first):
    subject, relation, object = first
    entities, relations = Names([subject, object], "entity"), Names([relation], "relation")
    facts = np.array([[0, 0, 1], [1, 0, 0]], dtype=np.int32)
    write_facts(tmp_path / "f.tsv", facts, entities, relations)
    assert np.array_equal(read_facts(tmp_path / "f.tsv", entities, relations), facts)


@pytest.mark.parametrize("name", ["a\tb", "a\nb", "a\rb"])
def test_names_that_text_cannot_hold_are_refused_there_and_written_as_parquet(tmp_path, name):
    graph = graph_with([name, "c"])
    with pytest.raises(InputError, match=r"f\.tsv: the name .* has a tab or a line break"):
        write_facts(tmp_path / "f.tsv", graph.train, graph.entities, graph.relations)
    assert not list(tmp_path.iterdir())
    write_facts(tmp_path / "f.parquet", graph.train, graph.entities, graph.relations)
    assert np.array_equal(read_facts(tmp_path / "f.parquet", graph.entities, graph.relations), graph.train)


@pytest.mark.parametrize("entities", [PLAIN, ["a\tb", "c", "d\ne"]], ids=["plain", "odd"])
def test_a_folder_reads_back_as_the_graph(tmp_path, entities):
    graph = graph_with(entities)
    write_graph(tmp_path / "new" / "g", graph)
    back = load_graph(tmp_path / "new" / "g")
    for split, facts in graph.splits.items():
        assert named(back, back.splits[split]) == named(graph, facts)
    assert {part: named(back, facts) for part, facts in back.parts.items()} == {"test-I": named(graph, graph.test)}
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["g"]


def test_a_graph_of_train_alone_is_one_file(tmp_path):
    graph = graph_with(PLAIN)
    write_graph(tmp_path / "g", replace(graph, valid=graph.train[:0], test=graph.train[:0], parts={}))
    assert [path.name for path in (tmp_path / "g").iterdir()] == ["train.tsv"]


def test_an_existing_folder_is_refused(tmp_path):
    with pytest.raises(InputError, match="exists already"):
        write_graph(tmp_path, graph_with(PLAIN))


@pytest.mark.parametrize(
    ("name", "message"),
    [("f.csv", "not '.csv'"), ("f.rdf", "not '.rdf'"), ("none/f.tsv", "does not exist"), ("folder", "a folder")],
)
def test_targets_that_cannot_be_written_are_refused(tmp_path, name, message):
    (tmp_path / "folder").mkdir()
    graph = graph_with(PLAIN)
    with pytest.raises(InputError) as error:
        write_facts(tmp_path / name, graph.train, graph.entities, graph.relations)
    assert message in str(error.value)


def test_a_failure_leaves_the_old_file_and_no_half_of_the_new(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    graph = graph_with(PLAIN)
    (tmp_path / "f.tsv").write_text("old")
    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(RunError, match=r"f\.tsv: the disk is full"):
        write_facts(tmp_path / "f.tsv", graph.train, graph.entities, graph.relations)
    with pytest.raises(RunError, match=r"g: the disk is full"):
        write_graph(tmp_path / "g", graph)
    assert [path.name for path in tmp_path.iterdir()] == ["f.tsv"]
    assert (tmp_path / "f.tsv").read_text() == "old"


@pytest.mark.parametrize("part", ["../../stolen", "/stolen", "..", "a\\b", "C:stolen", "train"])
def test_a_part_whose_name_is_a_path_is_not_written(tmp_path, part):
    graph = graph_with(PLAIN)
    with pytest.raises(InputError, match="cannot name a part of test"):
        write_graph(tmp_path / "exported" / "g", replace(graph, parts={part: graph.train[:1]}))
    with pytest.raises(InputError, match="cannot name a part of test"):
        RunDirectory.create(
            tmp_path / "exported" / "run", replace(graph, parts={part: graph.train[:1]}), (), Settings()
        )
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []
