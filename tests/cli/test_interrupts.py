"""Ctrl-C: one line, exit code 130, and a run that can be resumed to the same bits."""

import signal
import subprocess
import time

import pytest

from command_line import clausal, start_process
from small_graphs import train_options


@pytest.fixture(autouse=True)
def not_ignored():
    """A shell starts background jobs with Ctrl-C ignored, which children inherit; this test's child must not."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_ctrl_c_while_training(graph_folder, tmp_path):
    options = train_options(graph_folder, train__epochs=60, train__checkpoint_seconds=0.1, evaluate__patience=0)
    with start_process(*options, "--out", tmp_path / "run", stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        while not (tmp_path / "run" / "checkpoint" / "state.safetensors").exists():
            assert process.poll() is None
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert out == ""
    assert err.splitlines()[-1] == "interrupted; an unfinished training can go on with --resume"
    assert "Traceback" not in err

    assert clausal("train", "--resume", "--out", tmp_path / "run").code == 0
    assert clausal(*options, "--out", tmp_path / "reference").code == 0
    model, reference = (tmp_path / name / "model.safetensors" for name in ("run", "reference"))
    assert model.read_bytes() == reference.read_bytes()
