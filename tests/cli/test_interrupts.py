"""Ctrl-C: one line and exit code 130 at any moment, and a run that can be resumed to the same bits."""

import importlib
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest

from clausal.cli.interrupts import Interrupts
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


COMMAND = "from clausal.cli import main; print('started', flush=True); main()"
"""As the installed script, and it says when it begins: before that, Python itself ends with a traceback."""


def interrupted_after(seconds, arguments):
    """Interrupt a command so long after its start; return its exit code and what it said."""
    command = [sys.executable, "-c", COMMAND, *map(str, arguments)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout.readline() == "started\n"
            time.sleep(seconds)
            process.send_signal(signal.SIGINT)
            _, err = process.communicate(timeout=6)  # a second where the machine has nothing else to do
        finally:
            process.kill()
    return process.returncode, err


def test_ctrl_c_at_any_moment_of_the_start(graph_folder, tmp_path):
    options = train_options(graph_folder, train__epochs=1_000_000, evaluate__patience=0)
    moments = [0.05 + number / 10 for number in range(20)]

    def outcome(moment):
        return interrupted_after(moment, [*options, "--out", tmp_path / f"run-{moment}"])

    with ThreadPoolExecutor(2) as pool:
        for moment, (code, err) in zip(moments, pool.map(outcome, moments), strict=True):
            assert code == 130, f"{moment} s: {err}"
            assert err.splitlines()[-1] == "interrupted; an unfinished training can go on with --resume"
            assert "Traceback" not in err
            assert "Exception ignored" not in err


def interrupt():
    signal.raise_signal(signal.SIGINT)


def test_an_interrupt_that_is_swallowed_comes_again():
    def work():
        with suppress(KeyboardInterrupt):
            interrupt()
        time.sleep(10)

    with pytest.raises(KeyboardInterrupt), Interrupts():
        work()


def test_who_cleans_up_after_an_interrupt_is_left_in_peace():
    cleaned = []

    def work():
        try:
            interrupt()
        finally:
            time.sleep(1.2)  # longer than it takes to come again
            cleaned.append("all")

    with pytest.raises(KeyboardInterrupt), Interrupts():
        work()
    assert cleaned == ["all"]


def test_an_interrupt_waits_for_the_end_of_an_import(tmp_path, monkeypatch):
    module = "import signal, time\nsignal.raise_signal(signal.SIGINT)\ntime.sleep(0.1)\nwhole = True\n"
    (tmp_path / "interrupted_module.py").write_text(module)
    monkeypatch.syspath_prepend(tmp_path)

    def work():
        importlib.import_module("interrupted_module")
        time.sleep(10)

    with pytest.raises(KeyboardInterrupt), Interrupts():
        work()
    assert sys.modules.pop("interrupted_module").whole


def test_an_import_that_takes_long_is_not_waited_for(tmp_path, monkeypatch):
    module = "import signal, time\nsignal.raise_signal(signal.SIGINT)\ntime.sleep(10)\n"
    (tmp_path / "slow_module.py").write_text(module)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(KeyboardInterrupt), Interrupts():
        importlib.import_module("slow_module")
    assert "slow_module" not in sys.modules


def test_a_second_ctrl_c_is_raised_at_once():
    def work():
        try:
            interrupt()
        except KeyboardInterrupt:
            interrupt()
            time.sleep(10)

    with Interrupts():
        began = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            work()
        assert time.monotonic() - began < 5


def test_ctrl_c_that_is_ignored_stays_so():
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with Interrupts() as interrupts:
        interrupt()
    assert not interrupts.came
    assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
