"""A run directory holds all that a training leaves behind, and only that."""

import json
import tomllib

import numpy as np
import pytest

import clausal
from clausal import Graph, InputError, RunError, Settings
from clausal.run.directory import RunDirectory
from small_graphs import quick, small_facts

ODD_NAMES = [
    "Ω μέγα",
    "北京",
    "a/b/../../c",
    "../../../etc/passwd",
    "/absolute",
    'double "quotes"',
    "single 'quotes'",
    '"quoted"',
    "back\\slash",
    "a, b (c)",
    "?question",
    "[bold]red[/bold]",
    ":smile:",
    "% comment",
    "e\u0301 and \u00e9",
    "\u202eright to left",
    "bell\x07",
    "NULL",
    "two  blanks",
    "x => y",
    "emoji 🦉",
]


def quick_settings(**changes):
    return Settings.load(assignments=quick(**changes)[1::2])


def files(folder):
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def odd_graph():
    relations = ["is a", "../up", "знает", 'say "x"', "p(q)", "'r'"]
    facts = [
        (subject, relations[i % len(relations)], object)
        for i, subject in enumerate(ODD_NAMES)
        for j, object in enumerate(ODD_NAMES)
        if (i * 7 + j * 3) % 4 == 0
    ]
    return Graph.from_triples(facts, name="odd / names").split(valid=0.1, test=0.1)


def test_loading_gives_back_the_run_that_was_trained(graph_folder, tmp_path):
    graph, clauses = clausal.load_graph(graph_folder), clausal.read_clauses(graph_folder / "clauses.txt")
    run = clausal.train(graph, clauses, quick_settings(), out=tmp_path / "run")
    loaded = clausal.load(tmp_path / "run")

    assert loaded.settings == run.settings
    assert [clause.formula for clause in loaded.clauses] == [clause.formula for clause in clauses]
    assert loaded.graph.entities == graph.entities
    assert loaded.graph.relations == graph.relations
    assert loaded.graph.name == graph.name
    for name, facts in {**graph.splits, **graph.parts}.items():
        np.testing.assert_array_equal({**loaded.graph.splits, **loaded.graph.parts}[name], facts)
    assert set(loaded.graph.parts) == {"test-I"}
    assert loaded.predict("manages(person 01, ?)", 50) == run.predict("manages(person 01, ?)", 50)
    assert loaded.evaluate().to_dict() == run.evaluate().to_dict() == run.metrics["test"]
    assert loaded.metrics == run.metrics


def test_a_finished_run_has_the_documented_files_and_no_others(finished):
    assert files(finished) == {
        "run.json",
        "config.toml",
        "clauses.txt",
        "vocabulary.parquet",
        "facts.parquet",
        "model.safetensors",
        "metrics.json",
        "log.jsonl",
    }
    assert not (finished / "checkpoint").exists()
    assert json.loads((finished / "run.json").read_text())["format"] == 1
    assert tomllib.loads((finished / "config.toml").read_text())["model"]["dim"] == 8


def test_an_unfinished_run_has_a_checkpoint_and_no_model(unfinished):
    assert files(unfinished) == {
        "run.json",
        "config.toml",
        "clauses.txt",
        "vocabulary.parquet",
        "facts.parquet",
        "log.jsonl",
        "checkpoint/state.safetensors",
        "checkpoint/lock",
    }


def test_files_can_be_read_by_those_who_may_read_other_new_files(finished, tmp_path):
    (tmp_path / "new").touch()
    modes = {path.name: path.stat().st_mode & 0o777 for path in finished.iterdir()}
    assert set(modes.values()) == {(tmp_path / "new").stat().st_mode & 0o777}, modes


def test_odd_names_survive_and_never_become_paths(tmp_path, monkeypatch):
    inside = tmp_path / "deep" / "down"
    inside.mkdir(parents=True)
    monkeypatch.chdir(inside)
    graph = odd_graph()
    clauses = clausal.parse_clauses("""'../up'(X, "a/b/../../c") => 'знает'(X, "double \\"quotes\\"")""")
    run = clausal.train(graph, clauses, quick_settings(train__epochs=1), out="run")
    assert {path.name for path in inside.iterdir()} == {"run"}
    assert {path.name for path in tmp_path.rglob("*") if path.parent != inside / "run"} == {"deep", "down", "run"}

    loaded = clausal.load("run")
    assert list(loaded.graph.entities) == sorted(ODD_NAMES, key=lambda name: name.encode())
    assert [clause.formula for clause in loaded.clauses] == [clause.formula for clause in clauses]
    assert loaded.graph.name == "odd / names"
    assert loaded.evaluate().to_dict() == run.evaluate().to_dict()


@pytest.mark.parametrize("name", ODD_NAMES)
def test_every_name_can_be_asked_for_in_quotes(name, odd_run):
    escaped = name.replace('"', '\\"')
    answers = odd_run.predict(f'"../up"("{escaped}", ?)', 3)
    assert {answer.subject for answer in answers} == {name}
    assert {answer.relation for answer in answers} == {"../up"}


@pytest.fixture(scope="module")
def odd_run():
    return clausal.train(odd_graph(), (), quick_settings(train__epochs=1))


def test_an_existing_path_is_never_touched(finished, tmp_path):
    graph = Graph.from_triples(small_facts())
    file = tmp_path / "file"
    file.write_text("precious")
    before = {path.name: path.read_bytes() for path in finished.iterdir()}
    for taken in (file, finished, tmp_path):
        with pytest.raises(InputError, match="exists already"):
            RunDirectory.create(taken, graph, (), Settings())
    assert file.read_text() == "precious"
    assert {path.name: path.read_bytes() for path in finished.iterdir()} == before


def test_a_run_directory_appears_whole_or_not_at_all(tmp_path, monkeypatch):
    graph = Graph.from_triples(small_facts())

    def fail(*arguments):
        assert not (tmp_path / "run").exists()
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("clausal.run.directory.write_json", fail)
    with pytest.raises(RunError, match="run: the disk is full"):
        RunDirectory.create(tmp_path / "run", graph, (), Settings())
    assert list(tmp_path.iterdir()) == []


def test_a_run_without_valid_and_test_facts_can_be_used(tmp_path):
    graph = Graph.from_triples(small_facts())
    clausal.train(graph, (), quick_settings(), out=tmp_path / "run")
    run = clausal.load(tmp_path / "run")
    assert len(run.graph.valid) == len(run.graph.test) == 0
    assert set(run.metrics) == {"training"}
    assert len(run.predict("manages(?, person 03)", 5)) == 5


@pytest.mark.parametrize(
    "scorer", ["distmult", "transe", "rescal", "simple", "cp", "rotate", "hole", "er-mlp", "model-f"]
)
def test_every_scorer_comes_back_with_the_same_scores(scorer, graph_folder, tmp_path):
    settings = quick_settings(model__scorer=scorer, train__epochs=1, clauses__adversary="none")
    run = clausal.train(clausal.load_graph(graph_folder), (), settings, out=tmp_path / "run")
    loaded = clausal.load(tmp_path / "run")
    assert loaded.predict("manages(?, person 05)", 30) == run.predict("manages(?, person 05)", 30)


def test_frozen_vectors_are_in_the_run_and_their_file_is_not_needed_again(graph_folder, tmp_path):
    graph = clausal.load_graph(graph_folder)
    vectors = np.random.default_rng(0).random((len(graph.entities), 8), dtype=np.float32)
    np.save(tmp_path / "vectors.npy", vectors)
    settings = quick_settings(model__encoder="frozen", model__pretrained=tmp_path / "vectors.npy", train__epochs=1)
    run = clausal.train(graph, (), settings, out=tmp_path / "run")
    (tmp_path / "vectors.npy").unlink()
    loaded = clausal.load(tmp_path / "run")
    assert loaded.predict("manages(?, person 05)") == run.predict("manages(?, person 05)")
    np.testing.assert_array_equal(loaded.predictor.encode_all().numpy(), vectors)


def test_a_users_own_scorer_is_asked_for_again(graph_folder, tmp_path):
    from clausal.model.scorers import DistMult

    graph = clausal.load_graph(graph_folder)
    run = clausal.train(graph, (), quick_settings(train__epochs=1), out=tmp_path / "run", scorer=DistMult(8))
    with pytest.raises(InputError, match="trained with its own scorer"):
        clausal.load(tmp_path / "run")
    with pytest.raises(InputError, match="trained with its own scorer"):
        clausal.resume(tmp_path / "run")
    loaded = clausal.load(tmp_path / "run", scorer=DistMult(8))
    assert loaded.predict("manages(?, person 05)") == run.predict("manages(?, person 05)")


@pytest.mark.parametrize("encoder", ["table", "frozen"])
def test_a_run_with_an_own_scorer_does_not_need_the_file_of_vectors_again(encoder, graph_folder, tmp_path):
    from clausal.model.scorers import DistMult

    class Own(DistMult):
        """A scorer that clausal does not know by name."""

    graph = clausal.load_graph(graph_folder)
    np.save(tmp_path / "vectors.npy", np.random.default_rng(0).random((len(graph.entities), 8), dtype=np.float32))
    settings = quick_settings(model__encoder=encoder, model__pretrained=tmp_path / "vectors.npy", train__epochs=1)
    run = clausal.train(graph, (), settings, out=tmp_path / "run", scorer=Own(8))
    (tmp_path / "vectors.npy").unlink()
    loaded = clausal.load(tmp_path / "run", scorer=Own(8))
    assert loaded.predict("manages(?, person 05)") == run.predict("manages(?, person 05)")


def test_other_clauses_are_closed_once_and_the_runs_own_stay(finished):
    run = clausal.load(finished)
    others = clausal.parse_clauses("manages(X, Y) => outranks(X, Y)")
    closure = run.closure_under(others)
    assert run.closure_under(others) is closure
    assert run.closure_under() is run.closure is not closure
    assert len(closure.derived) != len(run.closure.derived)


def test_answers_make_a_data_frame(finished):
    import pandas

    frame = pandas.DataFrame(clausal.load(finished).predict("manages(person 01, ?)", 4))
    assert list(frame.columns) == [
        "rank",
        "subject",
        "relation",
        "object",
        "score",
        "known",
        "split",
        "probability",
        "verdict",
        "confidence",
    ]
    assert list(frame["rank"]) == [1, 2, 3, 4]
    assert frame["score"].is_monotonic_decreasing
