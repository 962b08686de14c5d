"""A full disk ends a training in one message, with everything written before intact."""

import errno
import json
from pathlib import Path

import pytest
from safetensors import SafetensorError
from test_resume import same_result

from clausal import RunError
from clausal.run.directory import append_record
from command_line import clausal, refused, run_forked
from small_graphs import interrupted_run, train_options

WIDE = {"model__dim": 256}  # vectors take far more room than names and facts
BETWEEN = 20_000  # bytes: more than those, less than a model


@pytest.fixture(scope="module")
def wide(graph_folder, tmp_path_factory):
    """A finished run of the wide model."""
    run = tmp_path_factory.mktemp("wide") / "run"
    assert clausal(*train_options(graph_folder, **WIDE), "--out", run).code == 0
    return run


def test_the_disk_fills_up_at_a_checkpoint(graph_folder, wide, tmp_path):
    run = interrupted_run(graph_folder, tmp_path / "run", 5, **WIDE)
    checkpoint = (run / "checkpoint" / "state.safetensors").read_bytes()
    result = run_forked("train", "--resume", "--out", run, log=tmp_path / "log", file_size=BETWEEN)
    refused(result, run, "the disk is full", "--resume", code=1)
    assert (run / "checkpoint" / "state.safetensors").read_bytes() == checkpoint
    assert {path.name for path in (run / "checkpoint").iterdir()} == {"state.safetensors", "lock"}
    assert clausal("train", "--resume", "--out", run).code == 0
    same_result(run, wide)


def test_the_disk_fills_up_at_the_first_checkpoint(graph_folder, wide, tmp_path):
    run = tmp_path / "run"
    options = train_options(graph_folder, **WIDE)
    refused(run_forked(*options, "--out", run, log=tmp_path / "log", file_size=BETWEEN), "the disk is full", code=1)
    assert clausal("train", "--resume", "--out", run).code == 0
    same_result(run, wide)


def test_the_disk_fills_up_at_the_final_model(graph_folder, wide, tmp_path):
    run = tmp_path / "run"
    options = train_options(graph_folder, **WIDE, train__checkpoint_seconds=1000)
    result = run_forked(*options, "--out", run, log=tmp_path / "log", file_size=BETWEEN)
    refused(result, run / "model.safetensors", "the disk is full", code=1)
    assert not (run / "model.safetensors").exists()
    (run / "config.toml").write_bytes((wide / "config.toml").read_bytes())
    assert clausal("train", "--resume", "--out", run).code == 0
    same_result(run, wide)


def test_the_disk_is_full_from_the_start(graph_folder, tmp_path):
    run = tmp_path / "runs" / "run"
    result = run_forked(*train_options(graph_folder), "--out", run, log=tmp_path / "log", file_size=400)
    refused(result, "the disk is full", code=1)
    assert not run.parent.exists()


@pytest.mark.parametrize(
    "failure",
    [
        OSError(errno.ENOSPC, "No space left on device"),
        OSError(errno.EDQUOT, "Disk quota exceeded"),
        SafetensorError("Error while serializing: I/O error: No space left on device (os error 28)"),
    ],
    ids=["full", "quota", "safetensors"],
)
def test_every_way_to_say_that_the_disk_is_full_is_understood(failure, unfinished, finished, monkeypatch):
    def fail(tensors, path, metadata):
        path.write_bytes(b"half a che")
        raise failure

    with monkeypatch.context() as context:
        context.setattr("clausal.run.checkpoint.save_file", fail)
        refused(clausal("train", "--resume", "--out", unfinished), "the disk is full", code=1)
    assert {path.name for path in (unfinished / "checkpoint").iterdir()} == {"state.safetensors", "lock"}
    assert clausal("train", "--resume", "--out", unfinished).code == 0
    same_result(unfinished, finished)


def test_a_log_that_cannot_grow_is_reported():
    with pytest.raises(RunError, match="the disk is full"):
        append_record(Path("/dev/full"), {"epoch": 1})


def test_other_failures_name_the_file_and_the_reason(unfinished, monkeypatch):
    def fail(tensors, path, metadata):
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr("clausal.run.checkpoint.save_file", fail)
    result = clausal("train", "--resume", "--out", unfinished)
    refused(result, unfinished / "checkpoint" / "state.safetensors", "cannot be written: Input/output error", code=1)
    assert json.loads((unfinished / "run.json").read_text())["format"] == 1
