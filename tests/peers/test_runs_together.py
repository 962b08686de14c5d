"""Runs of several processes: checkpoints all or nothing, resumed by any number of them, finished as any other run."""

import json
import os
import shutil
import signal
import time
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

import clausal
from clausal.config import Settings
from clausal.evaluation import evaluate
from clausal.observer import Calling
from clausal.peers.joining import joined
from clausal.run.directory import RunDirectory
from clausal.run.training import begin_together, train_together
from command_line import clausal as command
from command_line import refused
from processes import SECONDS, received, run_together, started

SETTINGS = Settings.from_mapping(
    {
        "model": {"dim": 8},
        "train": {"epochs": 6, "passes": 2, "checkpoint_seconds": 0, "device": "cpu", "averaging": 0.5},
        "evaluate": {"every": 2, "patience": 0},
    }
)


def new_run(graph_folder, out, settings=SETTINGS):
    graph = clausal.load_graph(graph_folder)
    begin_together(out, graph, clausal.read_clauses(graph_folder / "clauses.txt"), settings)
    return out


def go_on(out, stop=None, pause=0.0):
    """Train in a run directory; after epoch ``stop``, every process ends as if it were killed."""

    def after(record):
        time.sleep(pause)
        if record["epoch"] == stop:
            os._exit(9)

    with joined({}, gpu=False, wait=SECONDS, trust_network=False) as peers:
        return train_together(out, peers, Calling(epoch=after, message=lambda text: None))


def stop_after(epoch, out, size, folder):
    with started(go_on, size, folder, out, epoch) as (processes, _):
        for process in processes:
            process.join(SECONDS)


@pytest.fixture(scope="module")
def finished_by_two(graph_folder, tmp_path_factory):
    folder = tmp_path_factory.mktemp("two")
    out = new_run(graph_folder, folder / "run")
    run_together(go_on, 2, folder, out)
    return out


def test_a_finished_run_is_like_any_other(finished_by_two):
    run = clausal.load(finished_by_two)
    assert run.metrics["training"]["processes"] == 2
    assert run.metrics["training"]["bytes_per_step"] > 0
    assert type(run.predictor.encoder).__name__ == "Table"
    again = evaluate(run.predictor, run.graph).to_dict()
    assert again["filtered"] == run.metrics["test"]["filtered"]
    assert again["raw"] == run.metrics["test"]["raw"]
    assert run.calibration is None or run.calibration.overall.facts
    assert not (finished_by_two / "checkpoint").exists()
    assert [record["epoch"] for record in RunDirectory(finished_by_two).read_log()] == [1, 2, 3, 4, 5, 6]


def test_stopped_and_resumed_by_as_many_it_ends_in_the_same_bits(graph_folder, finished_by_two, tmp_path):
    out = new_run(graph_folder, tmp_path / "run")
    stop_after(3, out, 2, tmp_path)
    assert len(list((out / "checkpoint").glob("shards-*/*.safetensors"))) == 2
    run_together(go_on, 2, tmp_path, out)
    expected, found = (load_file(path / "model.safetensors") for path in (finished_by_two, out))
    assert expected.keys() == found.keys()
    assert all(torch.equal(expected[name], found[name]) for name in expected)


def test_another_number_of_processes_goes_on(graph_folder, tmp_path):
    out = new_run(graph_folder, tmp_path / "run")
    stop_after(1, out, 2, tmp_path)
    before = whole_table(out, 2)
    copy = Path(shutil.copytree(out, tmp_path / "copy"))
    stop_after(2, out, 4, tmp_path)  # from two to four,
    assert len(list((out / "checkpoint").glob("shards-*/*.safetensors"))) == 4
    clausal.resume(out)  # and from four to one
    assert [record["epoch"] for record in RunDirectory(out).read_log()] == [1, 2, 3, 4, 5, 6]
    run_together(read_by_three, 3, tmp_path, copy, before)


def whole_table(out, size):
    """Put the shards of a checkpoint together by hand."""
    from clausal.model.build import dealing_seed
    from clausal.peers import Dealing

    shards = [load_file(path) for path in sorted((out / "checkpoint").glob("shards-*/*"))]
    rows = sum(len(shard["model/encoder.weight"]) for shard in shards)
    table = {}
    for name in ("model/encoder.weight", "rows/sums", "average/encoder.weight"):
        table[name] = np.empty((rows, shards[0][name].shape[1]), np.float32)
        for rank, shard in enumerate(shards):
            table[name][Dealing.of(rows, rank, size, dealing_seed(SETTINGS)).own_ids()] = shard[name].numpy()
    return table


def read_by_three(out, expected):
    from clausal.run.shards import find_checkpoint, read_share
    from clausal.training import prepare

    directory = RunDirectory.open(out)
    with joined({}, gpu=False, wait=SECONDS, trust_network=False) as peers:
        training = prepare(directory.graph, directory.clauses, directory.settings, peers=peers)
        state = read_share(find_checkpoint(directory), training)
        for name, whole in expected.items():
            np.testing.assert_array_equal(state[name], whole[training.table.dealing.own_ids()])


def test_one_process_is_followed_by_two(graph_folder, tmp_path):
    out = new_run(graph_folder, tmp_path / "run")

    class StoppedError(Exception):
        pass

    def stop(record):
        if record["epoch"] == 3:
            raise StoppedError

    with pytest.raises(StoppedError):
        clausal.resume(out, observer=Calling(epoch=stop, message=lambda text: None))
    assert (out / "checkpoint" / "state.safetensors").exists()
    run_together(go_on, 2, tmp_path, out)
    assert [record["epoch"] for record in RunDirectory(out).read_log()] == [1, 2, 3, 4, 5, 6]


def test_a_killed_process_ends_the_others_with_a_message_and_the_run_goes_on(graph_folder, tmp_path):
    out = new_run(graph_folder, tmp_path / "run")
    with started(go_on, 4, tmp_path, out, None, 0.2) as (processes, pipes):
        until = time.monotonic() + SECONDS
        while not (out / "checkpoint" / "shards.json").exists():
            assert time.monotonic() < until
            time.sleep(0.01)
        os.kill(processes[2].pid, signal.SIGKILL)
        killed = time.monotonic()
        answers = [received(pipe) for rank, pipe in enumerate(pipes) if rank != 2]
        assert time.monotonic() - killed < 30
    for kind, message in answers:
        assert kind == "failed", message
        assert "another process has ended" in message
        assert "--resume" in message
    run_together(go_on, 2, tmp_path, out)
    assert RunDirectory(out).finished


def fails_to_write(out):
    from unittest.mock import patch

    from clausal.errors import RunError
    from clausal.run import shards

    with joined({}, gpu=False, wait=SECONDS, trust_network=False) as peers:

        def full(*arguments):
            raise RunError("the disk is full")

        if peers.rank == 1:
            with patch.object(shards, "write_tensors", full):
                train_together(out, peers)
        train_together(out, peers)


def test_a_shard_that_cannot_be_written_leaves_the_last_checkpoint(graph_folder, tmp_path):
    out = new_run(graph_folder, tmp_path / "run")
    stop_after(1, out, 2, tmp_path)
    before = json.loads((out / "checkpoint" / "shards.json").read_text())
    with started(fails_to_write, 2, tmp_path, out) as (_, pipes):
        first, second = map(received, pipes)
    assert first == ("failed", first[1])
    assert "another process could not write its part" in first[1]
    assert second == ("failed", "the disk is full")
    assert json.loads((out / "checkpoint" / "shards.json").read_text()) == before


def test_a_damaged_list_of_shards_is_refused(graph_folder, tmp_path):
    out = new_run(graph_folder, tmp_path / "run")
    (out / "checkpoint" / "shards.json").write_text('{"folder": "../elsewhere", "processes": 2, "position": {}}')
    refused(command("train", "--resume", "--out", out), "shards.json: damaged")


def rows_of(table, sums):
    return {"train": SETTINGS.train.model_dump() | {"table_precision": table, "adagrad_sums": sums}}


@pytest.mark.parametrize(("table", "sums"), [("bfloat16", "row"), ("bfloat16", "number"), ("float32", "row")])
def test_one_process_keeps_its_table_in_less_memory(graph_folder, table, sums, tmp_path):
    settings = Settings.from_mapping(SETTINGS.model_dump() | rows_of(table, sums))
    graph = clausal.load_graph(graph_folder)
    run = clausal.train(graph, settings=settings, out=tmp_path / "run", observer=Calling(message=lambda text: None))
    assert "by rows" in run.metrics["training"]["step"]
    loaded = clausal.load(tmp_path / "run")
    weight = loaded.predictor.encode_all()
    assert weight.dtype == torch.float32
    assert torch.equal(weight, run.predictor.encode_all())
    if table == "bfloat16":
        assert torch.equal(weight, weight.bfloat16().float())
    assert run.metrics["training"]["epochs"] == 6
