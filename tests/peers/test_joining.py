"""How processes meet, and what keeps them from it: one message each, in bounded time."""

import os
import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

import clausal
from clausal.peers import launching
from clausal.peers.joining import joined
from command_line import clausal as command
from command_line import refused
from processes import received, started
from small_graphs import train_options

LONG = {"train__epochs": 200, "train__passes": 5, "evaluate__patience": 0, "train__checkpoint_seconds": 0}


def join(cards, wait=30.0, version=None):
    """Join with the card of this process, in the given version of clausal."""
    if version is not None and os.environ["RANK"] == "1":
        clausal.__version__ = version
    with joined(cards[int(os.environ["RANK"])], gpu=False, wait=wait, trust_network=False) as peers:
        return peers.size


def answers(size, folder, *arguments, environment=None):
    with started(join, size, folder, *arguments, environment=environment) as (_, pipes):
        return [received(pipe) for pipe in pipes]


def test_other_settings_are_refused_by_all_and_named(tmp_path):
    for kind, message in answers(2, tmp_path, [{"train.seed": "1", "same": "x"}, {"train.seed": "2", "same": "x"}]):
        assert kind == "failed"
        assert "process 1 has train.seed = 2, but process 0 has 1" in message


def test_another_version_is_refused_by_all_and_named(tmp_path):
    for kind, message in answers(2, tmp_path, [{}, {}], 30.0, "9.9.9"):
        assert kind == "failed"
        assert f"process 1 has version 9.9.9 of clausal, but process 0 has {clausal.__version__}" in message


def test_a_process_that_does_not_come_is_named(tmp_path):
    two_of_three = {"WORLD_SIZE": "3", "LOCAL_WORLD_SIZE": "3"}
    for kind, message in answers(2, tmp_path, [{}, {}], 5.0, environment=two_of_three):
        assert kind == "failed"
        assert "process 2 of 3 has not come within 5 s" in message
        assert "--wait" in message


def test_nobody_at_the_meeting_place_is_said_in_bounded_time(tmp_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        place = {"CLAUSAL_MEETING": "", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(taken.getsockname()[1])}
    late = place | {"RANK": "1", "WORLD_SIZE": "2", "LOCAL_WORLD_SIZE": "2"}
    ((kind, message),) = answers(1, tmp_path, [{}, {}], 1.0, environment=late)
    assert kind == "failed"
    assert "process 1 of 2 did not meet the others at 127.0.0.1" in message


def test_a_port_in_use_is_said(tmp_path):
    with socket.socket(socket.AF_INET6) as taken:
        taken.bind(("::", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        place = {"CLAUSAL_MEETING": "", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port}
        place |= {"RANK": "0", "WORLD_SIZE": "2", "LOCAL_WORLD_SIZE": "2"}
        ((kind, message),) = answers(1, tmp_path, [{}], 2.0, environment=place)
    assert kind == "failed"
    assert f"port {port} is in use" in message


def fall_silent(silence, errors):
    """Join; the second process stops without ending, and the first waits for it in an exchange."""
    os.dup2(os.open(f"{errors}-{os.environ['RANK']}", os.O_CREAT | os.O_WRONLY), 2)
    with joined({}, gpu=False, wait=60.0, trust_network=False, silence=silence) as peers:
        if not peers.first:
            os.kill(os.getpid(), signal.SIGSTOP)
        peers.wait()


@pytest.mark.parametrize("network", [False, True], ids=["folder", "port"])
def test_a_process_that_falls_silent_ends_the_others_with_a_message(network, tmp_path):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        place = {"CLAUSAL_MEETING": "", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free.getsockname()[1])}
    errors = tmp_path / "errors"
    with started(fall_silent, 2, tmp_path, 5.0, errors, environment=place if network else None) as (processes, _):
        processes[0].join(60)
        assert processes[0].exitcode == 1
        assert processes[1].is_alive()
    assert "error: process 1 of 2 has given no sign of life for 5 s" in Path(f"{errors}-0").read_text()


def live_on(silence):
    """Join, and let the first process work for longer than silence may last."""
    with joined({}, gpu=False, wait=60.0, trust_network=False, silence=silence) as peers:
        if peers.first:
            time.sleep(2 * silence)
        peers.wait()
        return peers.size


def test_a_process_that_is_slow_but_alive_is_waited_for(tmp_path):
    with started(live_on, 2, tmp_path, 4.0) as (_, pipes):
        assert [received(pipe) for pipe in pipes] == [("returned", 2)] * 2


@pytest.mark.parametrize(
    ("environment", "fragment"),
    [
        ({"RANK": "0", "WORLD_SIZE": "2", "LOCAL_WORLD_SIZE": "1", "MASTER_ADDR": "10.1.2.3"}, "--trust-network"),
        ({"RANK": "5", "WORLD_SIZE": "2", "LOCAL_WORLD_SIZE": "2"}, "RANK is 5, but WORLD_SIZE is 2"),
        ({"RANK": "0", "WORLD_SIZE": "two"}, "WORLD_SIZE is 'two'"),
        ({"RANK": "0", "WORLD_SIZE": "2", "LOCAL_WORLD_SIZE": "2"}, "MASTER_ADDR is not set"),
    ],
)
def test_what_the_environment_says_is_checked(monkeypatch, graph_folder, tmp_path, environment, fragment):
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    refused(command("train", graph_folder, "--out", tmp_path / "run"), fragment)


@pytest.mark.parametrize(
    ("options", "fragment"),
    [
        (["--processes", "0"], "expected 1 or more"),
        (["--processes", "100000"], "would only wait for each other"),
        (["--processes", "3"], "leave out --processes under torchrun"),
        (["--preset", "best"], "--preset best without --fast works in one process"),
        (["--text", "texts.tsv"], "--text works in one process"),
    ],
)
def test_what_several_processes_cannot_do_is_refused(monkeypatch, graph_folder, tmp_path, options, fragment):
    for name, value in {"RANK": "0", "WORLD_SIZE": "2", "LOCAL_WORLD_SIZE": "2"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("CLAUSAL_MEETING", str(tmp_path))
    refused(command("train", graph_folder, "--out", tmp_path / "run", *options), fragment)


def launched(*arguments, **options):
    """Start ``clausal`` as a user would."""
    command = [sys.executable, "-m", "clausal", *map(str, arguments)]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    return subprocess.Popen(
        command, env=environment, text=True, stderr=subprocess.PIPE, stdout=subprocess.PIPE, **options
    )


def children(process):
    """The processes that a process has started, by their rank."""
    found = {}
    for folder in (folder for folder in Path("/proc").iterdir() if folder.name.isdecimal()):
        try:
            parent = re.search(r"PPid:\t(\d+)", (folder / "status").read_text())
            rank = re.search(r"\0RANK=(\d+)", (folder / "environ").read_text())
        except OSError:
            continue
        if parent and rank and int(parent[1]) == process.pid:
            found[int(rank[1])] = int(folder.name)
    return found


def test_the_command_starts_processes_and_says_which_one_was_killed(graph_folder, tmp_path):
    run = tmp_path / "run"
    with launched(*train_options(graph_folder, **LONG), "--out", run, "--processes", 2) as job:
        until = time.monotonic() + 240
        while not (run / "checkpoint" / "shards.json").exists():
            assert job.poll() is None, job.stderr.read()
            assert time.monotonic() < until
            time.sleep(0.05)
        os.kill(children(job)[1], signal.SIGKILL)
        killed = time.monotonic()
        _, errors = job.communicate(timeout=60)
        assert time.monotonic() - killed < 30
    assert job.returncode == 1
    assert "another process has ended" in errors
    assert "process 1 was killed by signal 9" in errors
    assert "Traceback" not in errors


def test_an_error_of_the_first_process_is_said_once(tmp_path):
    with launched("train", tmp_path / "nothing.tsv", "--processes", 2) as job:
        _, errors = job.communicate(timeout=240)
    assert job.returncode == 2
    assert errors.count("error:") == 1
    assert "nothing.tsv" in errors


def test_when_the_first_process_is_done_the_others_are_not_waited_for_without_end(monkeypatch):
    monkeypatch.setattr(launching, "_GRACE", 0.3)
    programs = ["pass", "import time; time.sleep(600)"]
    processes = [subprocess.Popen([sys.executable, "-c", program]) for program in programs]
    before = time.monotonic()
    try:
        assert launching._watch(processes) is None
    finally:
        launching._end(processes)
    assert time.monotonic() - before < 60
    assert processes[1].returncode < 0


def wait_without_parent():
    """Wait for a message that never comes, with a parent that is gone."""
    with joined({}, gpu=False, wait=30.0, trust_network=False) as peers:
        if peers.first:
            time.sleep(1)
            return "done"
        peers._parent = -1
        return peers.told_by_first(lambda: "")


def test_a_process_whose_parent_is_gone_ends(tmp_path):
    with started(wait_without_parent, 2, tmp_path) as (_, pipes):
        assert [received(pipe) for pipe in pipes] == [
            ("returned", "done"),
            ("failed", "the process that has started this one is gone, so this one ends too"),
        ]
