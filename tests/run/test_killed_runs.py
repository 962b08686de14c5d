"""kill -9 at any moment, also while a checkpoint is written, costs time but never a bit of the result."""

import random
import shutil
import time

import pytest
from test_resume import same_result

from command_line import forked, run_forked
from small_graphs import train_options

LONGER = {"train__epochs": 30, "train__passes": 5, "evaluate__patience": 0}


@pytest.fixture(scope="module")
def reference(graph_folder, tmp_path_factory):
    """The run that nobody kills."""
    folder = tmp_path_factory.mktemp("reference")
    result = run_forked(*train_options(graph_folder, **LONGER), "--out", folder / "run", log=folder / "log")
    assert result.code == 0, result.stderr
    return folder / "run"


def resume_until_finished(run, log, when, most=60):
    """Resume and kill again and again; ``when`` waits for the moment of a kill. Returns the number of kills."""
    kills = 0
    for attempt in range(most):
        with forked("train", "--resume", "--out", run, log=log) as process:
            when(process, attempt)
            process.kill()
            process.join()
            kills += process.exitcode == -9
            if process.exitcode == 0:
                return kills
            assert process.exitcode == -9, log.read_text()
    result = run_forked("train", "--resume", "--out", run, log=log)
    assert result.code == 0, result.stderr
    return kills


def start_and_kill(graph_folder, run, log):
    with forked(*train_options(graph_folder, **LONGER), "--out", run, log=log):
        while not (run / "checkpoint" / "state.safetensors").exists():
            time.sleep(0.001)


def test_kills_at_random_moments(graph_folder, reference, tmp_path):
    chance = random.Random(0)
    run, log = tmp_path / "run", tmp_path / "log"
    start_and_kill(graph_folder, run, log)

    def wait(process, attempt):
        process.join(0.05 + chance.random() * 0.3)

    kills = resume_until_finished(run, log, wait, most=12)
    assert kills >= 2
    same_result(run, reference)


def test_kills_while_a_file_is_being_written(graph_folder, reference, tmp_path):
    run, log = tmp_path / "run", tmp_path / "log"
    start_and_kill(graph_folder, run, log)
    caught = 0

    def wait(process, attempt):
        nonlocal caught
        progress = (run / "checkpoint" / "state.safetensors").stat().st_mtime_ns
        begun = False
        while process.is_alive():
            try:
                begun = begun or (run / "checkpoint" / "state.safetensors").stat().st_mtime_ns != progress
                if begun and any(path.name.startswith(".") for path in (run / "checkpoint").iterdir()):
                    caught += 1
                    return
            except FileNotFoundError:
                return

    resume_until_finished(run, log, wait, most=6)
    assert caught >= 2
    same_result(run, reference)


def test_a_kill_while_the_directory_is_made_leaves_no_run(graph_folder, tmp_path):
    """A run that has a name is whole: it can be resumed from the first moment on."""
    log = tmp_path / "log"
    for attempt in range(2):
        run = tmp_path / f"run-{attempt}"
        with forked(*train_options(graph_folder), "--out", run, log=log):
            deadline = time.monotonic() + 60
            while not list(tmp_path.glob(f".run-{attempt}.*")) and not run.exists():
                assert time.monotonic() < deadline
        if run.exists():
            assert run_forked("train", "--resume", "--out", run, log=log).code == 0
        for leftover in tmp_path.glob(".run-*"):
            shutil.rmtree(leftover)


def test_two_processes_cannot_train_in_one_directory(graph_folder, tmp_path):
    run = tmp_path / "run"
    endless = train_options(graph_folder, train__epochs=10_000_000, evaluate__patience=0)
    with forked(*endless, "--out", run, log=tmp_path / "first") as first:
        while not (run / "checkpoint" / "state.safetensors").exists():
            time.sleep(0.001)
        second = run_forked("train", "--resume", "--out", run, log=tmp_path / "second")
        third = run_forked(*train_options(graph_folder), "--out", run, log=tmp_path / "third")
        assert first.is_alive()
    assert second.code == 1
    assert "another process is training in this directory" in second.stderr
    assert third.code == 2
    assert "exists already" in third.stderr
