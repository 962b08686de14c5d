"""Splits by entities: test entities are in test alone, and train keeps what it needs."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import clausal
from clausal.errors import InputError
from clausal.graph.splits import UNSEEN_SEEN, UNSEEN_UNSEEN, split_entities
from command_line import clausal as command
from command_line import refused


@given(st.integers(0, 10**6), st.integers(1, 60), st.sampled_from([0.0, 0.1, 0.3]), st.sampled_from([0.0, 0.1, 0.4]))
def test_nothing_is_lost_and_no_held_out_entity_is_in_train(seed, count, valid, test):
    facts = np.unique(np.random.default_rng(seed).integers((15, 3, 15), size=(count, 3)).astype(np.int32), axis=0)
    found = split_entities(facts, 15, valid=valid, test=test, seed=seed)
    together = np.concatenate([found.train, found.valid, found.test])
    assert sorted(map(tuple, together.tolist())) == sorted(map(tuple, facts.tolist()))
    in_train, in_valid = (set(part[:, [0, 2]].ravel().tolist()) for part in found[:2])
    held = {level: set(np.flatnonzero(found.level == level).tolist()) for level in (0, 1, 2)}
    assert not in_train & (held[1] | held[2])
    assert not in_valid & held[2]
    # An entity that has facts and is not held out keeps one in train, and so does every relation.
    assert held[0] & set(facts[:, [0, 2]].ravel().tolist()) == in_train
    assert set(facts[:, 1].tolist()) == set(found.train[:, 1].tolist())
    assert len(held[2]) <= round(test * 15)
    assert len(held[1]) <= round(valid * 15)
    parts = found.parts
    assert len(parts[UNSEEN_SEEN]) + len(parts[UNSEEN_UNSEEN]) == len(found.test)
    for name, unseen in ((UNSEEN_SEEN, 1), (UNSEEN_UNSEEN, 2)):
        assert all(len({s, o} & held[2]) == min(unseen, len({s, o})) for s, _, o in parts[name].tolist())


def ring(count=30):
    return [(f"e{i:02}", "next", f"e{(i + step) % count:02}") for i in range(count) for step in (1, 2, 3)]


def test_the_command_writes_what_the_graph_splits(tmp_path):
    (tmp_path / "facts.tsv").write_text("".join("\t".join(fact) + "\n" for fact in ring()))
    asked = ("split", tmp_path / "facts.tsv", "--inductive", "entities", "--out", tmp_path / "made")
    result = command(*asked, "--format", "json")
    made = clausal.load_graph(tmp_path / "made")
    expected = clausal.Graph.from_triples(ring()).split_by_entities()
    assert {name: len(facts) for name, facts in made.splits.items()} == {
        name: len(facts) for name, facts in expected.splits.items()
    }
    assert result.json["test"]["facts"] == len(made.test)
    assert result.json["test"]["new entities"] == 3
    assert set(made.parts) <= {UNSEEN_SEEN, UNSEEN_UNSEEN}
    run = clausal.train(made, settings=clausal.Settings.load(None, ["train.epochs=1", "model.dim=4"]))
    assert UNSEEN_SEEN in run.evaluate("test").parts


def test_a_split_by_facts_takes_all_of_them(tmp_path):
    graph = clausal.Graph.from_triples(ring())
    from clausal.graph import write_graph

    write_graph(tmp_path / "given", graph.split(valid=0.1, test=0.3))
    result = command("split", tmp_path / "given", "--out", tmp_path / "made", "--test", "0.2")
    assert "are split anew, all together" in result.stderr
    made = clausal.load_graph(tmp_path / "made")
    assert (len(made.valid), len(made.test)) == (9, 18)


def test_labels_of_rdf_are_written_beside(tmp_path):
    lines = [f"<x:{s}> <x:{r}> <x:{o}> .\n" for s, r, o in ring()]
    label = "http://www.w3.org/2000/01/rdf-schema#label"
    (tmp_path / "graph.nt").write_text("".join(lines) + f'<x:e01> <{label}> "the first" .\n')
    command("split", tmp_path / "graph.nt", "--inductive", "entities", "--out", tmp_path / "made")
    assert (tmp_path / "made" / "descriptions.tsv").read_text() == "x:e01\tthe first\n"


def test_impossible_shares_are_refused(tmp_path):
    (tmp_path / "facts.tsv").write_text("a\tr\tb\n")
    asked = ("split", tmp_path / "facts.tsv", "--out", tmp_path / "m", "--inductive", "entities", "--test")
    refused(command(*asked, "1"), "add up to less than 1")
    with pytest.raises(InputError, match="add up to less than 1"):
        clausal.Graph.from_triples(ring()).split_by_entities(valid=-1)
    result = command(*asked, "0.5")
    assert "test has no facts: every entity is needed in train" in result.stderr
