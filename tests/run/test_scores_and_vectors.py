"""Facts scored in any form, vectors in any file, and neighbours, compared with what they are by hand."""

import json

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
import torch
from question_runs import random_run, strange_graph
from safetensors.numpy import load_file, safe_open

import clausal
from clausal.errors import InputError
from clausal.evaluation.calibration import Calibration, Fit
from clausal.graph import Names
from clausal.model.pretrained import read_vectors
from clausal.run.score_files import write_scores
from clausal.run.vector_files import write_vectors

FACTS = [("e 001", "r1", "e 002"), ("e 012", "r0", "e 012"), ("e 001", "r1", "e 002"), ("e 000", "r2", "e 003")]


def ids_of(run, facts):
    return np.array(
        [[run.graph.entities.id(s), run.graph.relations.id(r), run.graph.entities.id(o)] for s, r, o in facts]
    )


@pytest.mark.parametrize("scorer", ["complex", "transe", "model-f"])
def test_every_form_of_facts_has_the_scores_of_the_model(scorer):
    run = random_run(scorer)
    ids = ids_of(run, FACTS)
    with torch.no_grad():
        expected = run.predictor.score(*torch.from_numpy(ids).unbind(1)).double().numpy()
    frame = pd.DataFrame(FACTS, columns=["subject", "relation", "object"])
    for given in (FACTS, iter(FACTS), np.array(FACTS), frame, frame[["object", "subject", "relation"]], ids):
        scores = run.score(given)
        assert scores.scores == pytest.approx(expected)
        assert scores.facts.tolist() == ids.tolist()
        assert scores.rows.tolist() == [0, 1, 2, 3]
        assert scores.probabilities is None


def test_known_facts_are_those_of_the_first_split_that_has_them():
    run = random_run(calibration=Calibration(Fit(1.0, 0.0, 0.0, 20), {}))
    everything = np.array([[s, r, o] for s in range(13) for r in range(3) for o in range(13)])
    scores = run.score(everything)
    splits = {name: set(map(tuple, facts.tolist())) for name, facts in run.graph.splits.items()}
    for fact, row in zip(scores, everything.tolist(), strict=True):
        expected = next((name for name, facts in splits.items() if tuple(row) in facts), None)
        assert (fact.split, fact.known) == (expected, expected is not None)
        assert fact.probability == pytest.approx(1 / (1 + np.exp(-fact.score)))
    table = scores.to_table()
    assert table.column_names == list(scores.columns)
    assert [tuple(row.values()) for row in table.to_pylist()] == [fact[:-1] for fact in scores]


def test_unknown_names_are_refused_by_row_or_left_out():
    run = random_run()
    given = [FACTS[0], ("e 01", "r1", "e 002"), FACTS[1], ("e 001", "r9", "e 002")]
    with pytest.raises(InputError, match="facts: row 2: unknown entity 'e 01'; did you mean 'e 01"):
        run.score(given)
    scores = run.score(given, unknown="skip")
    assert scores.rows.tolist() == [0, 2]
    assert scores.skipped == 2
    assert len(run.score(given[1:2], unknown="skip")) == 0
    with pytest.raises(InputError, match="refuse, skip"):
        run.score(given, unknown="ignore")


@pytest.mark.parametrize("ids", [[[0, 0, 99]], [[0, -1, 0]], [[0, 5, 0]]])
def test_ids_that_the_model_does_not_know_are_refused(ids):
    with pytest.raises(InputError, match="knows 13 entities"):
        random_run().score(np.array(ids))


def test_no_facts_have_no_scores():
    assert len(random_run().score([])) == 0
    assert len(random_run().score(np.empty((0, 3), int))) == 0


def test_entailed_scores_are_the_models_with_a_verdict():
    run = random_run()
    clauses = clausal.parse_clauses("r0(X, Y) => r1(Y, X)")
    closure = set(map(tuple, run.closure_under(clauses).facts.tolist()))
    everything = np.array([[s, r, o] for s in range(13) for r in range(3) for o in range(13)])
    found = run.score(everything, ranking="entailed", clauses=clauses)
    assert found.scores.tolist() == run.score(everything).scores.tolist()
    assert [verdict != "predicted" for verdict in found.verdicts] == [tuple(f) in closure for f in everything.tolist()]


@pytest.mark.parametrize("ending", [".parquet", ".csv", ".tsv"])
def test_a_file_in_pieces_has_the_scores_of_the_whole(ending, tmp_path, monkeypatch):
    monkeypatch.setattr("clausal.graph.batches._ROWS", 3)
    monkeypatch.setattr("clausal.graph.delimited.LONGEST_LINE", 64)
    run = random_run()
    facts = [FACTS[place % len(FACTS)] for place in range(50)]
    frame = pd.DataFrame(facts, columns=["subject", "relation", "object"])
    path, out = tmp_path / f"facts{ending}", tmp_path / f"scores{ending}"
    separator = "," if ending == ".csv" else "\t"
    frame.to_parquet(path) if ending == ".parquet" else frame.to_csv(path, sep=separator, index=False)
    batches = list(run.score_file(path))
    assert len(batches) > 5
    assert np.concatenate([batch.rows for batch in batches]).tolist() == list(range(50))
    assert write_scores(out, iter(batches)) == 50
    read = pd.read_parquet(out) if ending == ".parquet" else pd.read_csv(out, sep=separator)
    assert read["score"].tolist() == pytest.approx(run.score(facts).scores.tolist())
    assert list(read[["subject", "relation", "object"]].itertuples(index=False, name=None)) == facts


def test_a_name_that_tab_separated_text_cannot_hold_leaves_no_file(tmp_path):
    graph = strange_graph()
    odd = Names(['"quoted"', *list(graph.entities)[1:]], "entity")
    run = random_run(graph=clausal.Graph(odd, graph.relations, graph.train))
    scores = run.score(np.array([[0, 0, 1]]))
    with pytest.raises(InputError, match=r"write a .csv or .parquet file"):
        write_scores(tmp_path / "x.tsv", [scores])
    assert list(tmp_path.iterdir()) == []
    write_scores(tmp_path / "x.csv", [scores])
    assert pd.read_csv(tmp_path / "x.csv")["subject"].tolist() == ['"quoted"']


@pytest.mark.parametrize("reciprocal", [False, True])
def test_vectors_give_the_scores_of_the_model_in_both_directions(reciprocal):
    run = random_run("distmult", reciprocal=reciprocal)
    vectors = run.vectors()
    assert vectors.entities.shape == (13, 4)
    assert vectors.relations.shape == (3, 4)
    by_hand = (vectors.entity("e 001") * vectors.relation("r1") * vectors.entity("e 002")).sum()
    assert run.predict(("e 001", "r1", None), 13)[0].score >= by_hand - 1e-6
    scores = {answer.object: answer.score for answer in run.predict(("e 001", "r1", None), 13)}
    assert scores["e 002"] == pytest.approx(by_hand, abs=1e-6)
    backwards = {answer.subject: answer.score for answer in run.predict((None, "r1", "e 002"), 13)}
    if reciprocal:
        by_hand = (vectors.entity("e 001") * vectors.inverse_relation("r1") * vectors.entity("e 002")).sum()
    else:
        with pytest.raises(InputError, match="one vector for each relation"):
            vectors.inverse_relation("r1")
    assert backwards["e 001"] == pytest.approx(by_hand, abs=1e-6)
    with pytest.raises(ValueError, match="read-only"):
        vectors.entities[0] = 0


def test_model_f_has_no_vectors_of_entities():
    for ask in (lambda run: run.vectors(), lambda run: run.nearest("e 001")):
        with pytest.raises(InputError, match="Model F"):
            ask(random_run("model-f"))


@pytest.mark.parametrize("ending", [".npy", ".txt", ".safetensors"])
def test_vectors_that_are_written_can_start_another_training(ending, tmp_path):
    run = random_run(reciprocal=True)
    path = tmp_path / f"x{ending}"
    written = write_vectors(path, run.vectors())
    assert sorted(written) == sorted(tmp_path.iterdir())
    names = tmp_path / "x.entities.txt" if ending == ".npy" else None
    entities = Names([name.replace(" ", "_") for name in run.graph.entities], "entity") if ending == ".txt" else None
    read = read_vectors(path, entities or run.graph.entities, 4, names)
    assert read.numpy().tolist() == run.vectors().entities.tolist()


def test_parquet_and_safetensors_hold_names_and_all_vectors(tmp_path):
    run = random_run("rotate", reciprocal=True)
    vectors = run.vectors()
    write_vectors(tmp_path / "x.parquet", vectors)
    rows = pq.read_table(tmp_path / "x.parquet").to_pylist()
    parts = {
        "entities": vectors.entities,
        "relations": vectors.relations,
        "inverse_relations": vectors.inverse_relations,
    }
    for kind, expected in parts.items():
        assert [row["vector"] for row in rows if row["kind"] == kind] == expected.tolist()
    assert [row["name"] for row in rows] == [*run.graph.entities, *run.graph.relations, *run.graph.relations]
    write_vectors(tmp_path / "x.safetensors", vectors)
    assert {kind: values.tolist() for kind, values in load_file(tmp_path / "x.safetensors").items()} == {
        kind: values.tolist() for kind, values in parts.items()
    }
    with safe_open(tmp_path / "x.safetensors", "numpy") as file:
        assert json.loads(file.metadata()["entities"]) == list(run.graph.entities)


def test_names_that_word2vec_text_cannot_tell_apart_are_refused(tmp_path):
    graph = strange_graph()
    names = Names(["a b", "a_b", *list(graph.entities)[2:]], "entity")
    run = random_run(graph=clausal.Graph(names, graph.relations, graph.train))
    with pytest.raises(InputError, match="'a b' and 'a_b' are the same with underscores"):
        write_vectors(tmp_path / "x.txt", run.vectors())
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("kind", ["entity", "relation"])
@pytest.mark.parametrize("metric", ["cosine", "dot", "euclidean"])
def test_neighbours_are_those_of_brute_force(metric, kind):
    run = random_run(graph=strange_graph(40, 12))
    vectors = run.vectors()
    names, table = (
        (run.graph.entities, vectors.entities) if kind == "entity" else (run.graph.relations, vectors.relations)
    )
    own = table[3].astype(float)
    scores = {
        "cosine": lambda v: v @ own / np.linalg.norm(v) / np.linalg.norm(own),
        "dot": lambda v: v @ own,
        "euclidean": lambda v: -np.linalg.norm(v - own),
    }[metric]
    expected = sorted(((scores(v.astype(float)), name) for name, v in zip(names, table, strict=True)), reverse=True)
    expected = [(name, score) for score, name in expected if name != names[3]][:5]
    found = run.nearest(names[3], 5, metric=metric, kind=kind)
    assert [one.name for one in found] == [name for name, _ in expected]
    assert [one.score for one in found] == pytest.approx([score for _, score in expected], abs=1e-6)


def test_angles_a_whole_turn_apart_are_the_same_relation():
    run = random_run("rotate")
    run.predictor.relations.data[1] = run.predictor.relations.data[0] + 2 * np.pi
    nearest = run.nearest("r0", 1, kind="relation")[0]
    assert nearest.name == "r1"
    assert nearest.score == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize(
    ("options", "message"),
    [({"k": 0}, "at least 1"), ({"metric": "cosin"}, "did you mean 'cosine'"), ({"kind": "x"}, "unknown kind 'x'")],
)
def test_neighbours_that_cannot_be_asked_for(options, message):
    with pytest.raises(InputError, match=message):
        random_run().nearest("e 001", **options)
