"""A folder is a graph: its files are splits and parts of test, and what is odd about them is said."""

import gzip

import numpy as np
import pytest
from graph_files import lines, named, write

from clausal.errors import InputError
from clausal.graph import load_graph

TRAIN = [("a", "r", "b"), ("b", "r", "c"), ("c", "s", "a")]


def test_a_folder_holds_the_three_splits_in_any_format(tmp_path):
    write(tmp_path / "train.tsv.gz", lines(TRAIN))
    write(tmp_path / "dev.csv", "a,s,b\n")
    write(tmp_path / "test", "b s c\n")
    write(tmp_path / "clauses.pl", "r(X,Y) :- s(X,Y)\n")
    write(tmp_path / "test-notes.md", "not facts")
    graph = load_graph(tmp_path)
    assert named(graph, graph.train) == TRAIN
    assert named(graph, graph.valid) == [("a", "s", "b")]
    assert named(graph, graph.test) == [("b", "s", "c")]
    assert graph.parts == {}
    assert graph.name == tmp_path.name
    assert graph.notes == ()
    assert all(facts.dtype == np.int32 for facts in graph.splits.values())


def test_files_whose_names_begin_with_test_are_parts_of_test(tmp_path):
    write(tmp_path / "train.txt", lines(TRAIN))
    write(tmp_path / "test.txt", "a\tr\tc\nb\ts\tc\nc\tr\tb\n")
    write(tmp_path / "test-I.txt.gz", "c\tr\tb\n")
    write(tmp_path / "test-II.csv", "b,s,c\na,r,c\nb,s,c\n")
    graph = load_graph(tmp_path)
    assert {part: named(graph, facts) for part, facts in graph.parts.items()} == {
        "test-I": [("c", "r", "b")],
        "test-II": [("b", "s", "c"), ("a", "r", "c")],
    }


@pytest.mark.parametrize("stray", ["a\tr\tb", "a\tr\tnobody"])
def test_a_part_must_lie_inside_test(tmp_path, stray):
    write(tmp_path / "train.txt", lines(TRAIN))
    write(tmp_path / "test.txt", "a\tr\tc\n")
    write(tmp_path / "test-I.txt", f"a\tr\tc\n\n{stray}\n")
    with pytest.raises(InputError, match=r"test-I.txt:3: 'a r \w+' is not in test; test-I must be a part of test"):
        load_graph(tmp_path)


def test_a_part_without_test_is_an_error(tmp_path):
    write(tmp_path / "train.txt", lines(TRAIN))
    write(tmp_path / "test-I.txt", lines(TRAIN))
    with pytest.raises(InputError, match=r"test-I.txt: a part of test, but .* has no test file"):
        load_graph(tmp_path)


def test_a_folder_without_train_lists_what_it_holds(tmp_path):
    write(tmp_path / "valid.txt", lines(TRAIN))
    write(tmp_path / "training.txt", lines(TRAIN))
    with pytest.raises(InputError, match=r"no train file; found training.txt, valid.txt; expected train, valid and"):
        load_graph(tmp_path)


def test_two_files_for_one_split_are_refused(tmp_path):
    for name in ("train.txt", "valid.txt", "dev.tsv"):
        write(tmp_path / name, lines(TRAIN))
    with pytest.raises(InputError, match=r"both dev.tsv and valid.txt are valid; keep one"):
        load_graph(tmp_path)


def test_an_empty_train_file_is_an_error(tmp_path):
    write(tmp_path / "train.txt", "")
    with pytest.raises(InputError, match=r"train.txt: the file holds no facts"):
        load_graph(tmp_path)


def test_repeated_facts_are_dropped_and_counted_by_split(tmp_path):
    write(tmp_path / "train.txt", lines([TRAIN[1], TRAIN[0], TRAIN[1], TRAIN[2], TRAIN[1], TRAIN[0]]))
    write(tmp_path / "valid.txt", "a\tr\tc\n")
    write(tmp_path / "test.txt", "b\ts\ta\nb\ts\ta\n")
    graph = load_graph(tmp_path)
    assert named(graph, graph.train) == [TRAIN[1], TRAIN[0], TRAIN[2]]
    assert graph.duplicates == {"train": 3, "test": 1}
    assert "4 duplicates dropped" in graph.summary()


def test_overlaps_and_unseen_names_are_noted_but_kept(tmp_path):
    write(tmp_path / "train.txt", lines(TRAIN))
    write(tmp_path / "valid.txt", lines([TRAIN[0], ("a", "s", "c")]))
    write(
        tmp_path / "test.txt",
        lines([TRAIN[0], TRAIN[1], ("a", "s", "c"), ("new", "r", "newer"), ("a", "t", "b")]),
    )
    graph = load_graph(tmp_path)
    assert len(graph.test) == 5
    assert graph.notes == (
        "1 fact of valid also occurs in train",
        "2 facts of test also occur in train",
        "2 facts of test also occur in valid",
        "1 fact of test holds an entity that train does not have",
        "1 fact of test holds a relation that train does not have",
    )


def test_a_path_that_is_nothing_lists_the_known_data_sets(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    known = r"\(fb122, wn18, fb15k-237, wn18rr\)"
    with pytest.raises(
        InputError, match=rf"fb-122: no such file or folder, and no known data set {known}; did you mean"
    ):
        load_graph("fb-122")


def test_a_file_is_named_by_its_stem(tmp_path):
    (tmp_path / "my.graph.tsv.gz").write_bytes(gzip.compress(lines(TRAIN).encode()))
    assert load_graph(tmp_path / "my.graph.tsv.gz").name == "my.graph"
