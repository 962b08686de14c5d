"""An interrupted training goes on where it was, and ends in the same bits as one that never stopped."""

import fcntl
import json

import pytest

from clausal import InputError, load, resume
from command_line import clausal, refused
from small_graphs import interrupted_run, train_options

SAME = ("model.safetensors", "config.toml", "clauses.txt", "run.json", "vocabulary.parquet", "facts.parquet")


def log_without_times(run):
    records = [json.loads(line) for line in (run / "log.jsonl").read_text().splitlines()]
    return [{key: value for key, value in record.items() if key != "seconds"} for record in records]


def same_result(run, reference):
    """Assert that two finished runs are equal but for the time they took."""
    for name in SAME:
        assert (run / name).read_bytes() == (reference / name).read_bytes(), name
    mine, theirs = (json.loads((folder / "metrics.json").read_text()) for folder in (run, reference))
    assert mine["test"] == theirs["test"]
    assert mine["valid"] == theirs["valid"]
    assert mine["training"]["best_epoch"] == theirs["training"]["best_epoch"]
    logs = [
        [json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()] for folder in (run, reference)
    ]
    for records in logs:
        for record in records:
            del record["seconds"]
    assert logs[0] == logs[1]
    assert [record["epoch"] for record in logs[0]] == list(range(1, len(logs[0]) + 1))
    assert {path.name for path in run.iterdir()} == {path.name for path in reference.iterdir()}


@pytest.mark.parametrize("after", range(1, 12, 2))
def test_resuming_after_any_pass_ends_in_the_same_bits(after, graph_folder, finished, tmp_path):
    run = interrupted_run(graph_folder, tmp_path / "run", after)
    assert clausal("train", "--resume", "--out", run).code == 0
    same_result(run, finished)


@pytest.mark.parametrize(
    "changes",
    [
        {"train__optimizer": "adam", "train__learning_rate": 0.01},
        {"train__optimizer": "sgd", "model__scorer": "transe", "model__domain": "ball"},
        {"clauses__adversary": "closed-form", "clauses__first": "discriminator"},
        {"clauses__adversary": "entities", "facts__corruption": "bernoulli", "facts__filtered": "true"},
        {"model__scorer": "model-f", "clauses__adversary": "none"},
        {"model__scorer": "er-mlp", "evaluate__every": 1, "evaluate__patience": 1, "train__epochs": 8},
        {"evaluate__every": 0},
        {"train__averaging": 0.6, "evaluate__every": 0},
        {
            "facts__training": "1-vs-all",
            "facts__loss": "softmax",
            "model__domain": "none",
            "model__reciprocal": "true",
            "train__averaging": 0.6,
            "clauses__adversary": "closed-form",
        },
    ],
    ids=lambda changes: " ".join(map(str, changes.values())),
)
def test_resuming_is_exact_under_other_settings(changes, graph_folder, tmp_path):
    reference = tmp_path / "reference"
    assert clausal(*train_options(graph_folder, **changes), "--out", reference).code == 0
    run = interrupted_run(graph_folder, tmp_path / "run", 2, **changes)
    assert clausal("train", "--resume", "--out", run).code == 0
    same_result(run, reference)


def test_without_a_checkpoint_a_resumed_run_starts_again(graph_folder, finished, tmp_path):
    run = interrupted_run(graph_folder, tmp_path / "run", 7, train__checkpoint_seconds=1000)
    assert not (run / "checkpoint" / "state.safetensors").exists()
    assert len((run / "log.jsonl").read_text().splitlines()) == 2
    (run / "config.toml").write_bytes((finished / "config.toml").read_bytes())
    assert clausal("train", "--resume", "--out", run).code == 0
    same_result(run, finished)


def test_a_log_line_cut_off_by_a_kill_is_written_again(unfinished, finished):
    with (unfinished / "log.jsonl").open("a") as log:
        log.write('{"epoch": 2, "passes": 3, "fact_lo')
    assert clausal("train", "--resume", "--out", unfinished).code == 0
    same_result(unfinished, finished)


def test_what_a_killed_process_was_writing_is_swept_up(unfinished, finished):
    (unfinished / "checkpoint" / ".state.safetensors.123.tmp").write_bytes(b"half")
    (unfinished / "checkpoint" / ".tmpAbCdEf").write_bytes(b"half")
    assert clausal("train", "--resume", "--out", unfinished).code == 0
    same_result(unfinished, finished)


def test_a_finished_run_is_not_trained_again(copied):
    before = {path.name: (path.stat().st_mtime_ns, path.read_bytes()) for path in copied.iterdir()}
    result = clausal("train", "--resume", "--out", copied, "--format", "json")
    assert result.code == 0
    assert "finished already" in result.stderr
    assert result.json == json.loads((copied / "metrics.json").read_text())
    assert resume(copied).predict("manages(person 01, ?)") == load(copied).predict("manages(person 01, ?)")
    assert {path.name: (path.stat().st_mtime_ns, path.read_bytes()) for path in copied.iterdir()} == before


def test_a_second_process_is_refused_and_changes_nothing(unfinished):
    before = {path: path.read_bytes() for path in unfinished.rglob("*") if path.is_file()}
    with (unfinished / "checkpoint" / "lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        result = clausal("train", "--resume", "--out", unfinished)
    refused(result, unfinished, "another process is training in this directory", code=1)
    assert {path: path.read_bytes() for path in unfinished.rglob("*") if path.is_file()} == before


def test_an_unfinished_run_cannot_be_loaded_and_the_message_says_how_to_go_on(unfinished):
    with pytest.raises(InputError, match=r"has not finished; go on with: clausal train --out .* --resume"):
        load(unfinished)
    refused(clausal("evaluate", unfinished), unfinished, "--resume")
    refused(clausal("predict", unfinished, "manages(person 01, ?)"), unfinished, "--resume")


@pytest.mark.parametrize(
    ("arguments", "option"),
    [
        (["graph"], "GRAPH"),
        (["--clauses", "c.txt"], "--clauses"),
        (["--config", "c.toml"], "--config"),
        (["--set", "model.dim=3"], "--set"),
    ],
)
def test_a_resumed_run_keeps_what_it_has(arguments, option, unfinished):
    refused(clausal("train", *arguments, "--resume", "--out", unfinished), f"{option} cannot be given with --resume")


def test_resume_needs_a_run(tmp_path, graph_folder):
    refused(clausal("train", "--resume"), "--resume needs --out RUN")
    refused(clausal("train", "--resume", "--out", tmp_path / "none"), tmp_path / "none", "no such run directory")
    refused(clausal("train", "--resume", "--out", graph_folder), graph_folder, "not a run directory")
