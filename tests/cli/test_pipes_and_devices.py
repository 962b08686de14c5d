"""Pipes and devices in the place of files: nothing waits for them, and nothing takes their place."""

import os

import numpy as np
import pytest

from clausal.errors import InputError
from clausal.search import Journal
from command_line import clausal, refused, run_forked
from small_graphs import quick

WRITING = {
    "closure": ["closure", "GRAPH", "--clauses", "CLAUSES"],
    "partition": ["partition", "GRAPH", "--clauses", "CLAUSES"],
    "mine": ["mine", "GRAPH", "--min-support", "1"],
    "clauses": ["clauses", "CLAUSES", "--to", "prolog"],
    "train": ["train", "GRAPH", *quick()],
    "search": ["search", "GRAPH", "--trials", "1"],
    "demo": ["demo"],
}
"""Commands that write to ``--out``."""

READING = {
    "clauses": ["clauses", "ODD"],
    "clauses as a format": ["clauses", "ODD", "--from", "amie"],
    "facts": ["mine", "ODD"],
    "settings": ["train", "GRAPH", "--config", "ODD"],
    "vectors": ["train", "GRAPH", *quick(model__encoder="frozen", model__pretrained="ODD")],
    "names of vectors": [
        "train",
        "GRAPH",
        *quick(model__encoder="frozen", model__pretrained="VECTORS", model__pretrained_names="ODD"),
    ],
}
"""Commands that read a file."""


@pytest.fixture
def odd(request, tmp_path):
    """A pipe that nobody else opens, or a terminal that nobody types at, by a link: who replaces it does no harm."""
    path = tmp_path / "odd"
    if request.param == "pipe":
        os.mkfifo(path)
        yield path
    else:
        master, slave = os.openpty()
        path.symlink_to(os.ttyname(slave))
        yield path
        os.close(master)
        os.close(slave)


def filled(command, graph, odd):
    """Put the paths of a test into a command."""
    places = {"GRAPH": graph, "CLAUSES": graph / "clauses.txt", "VECTORS": odd.parent / "vectors.npy", "ODD": odd}
    for name, path in places.items():
        command = [word.replace(name, str(path)) for word in command]
    return command


@pytest.mark.parametrize("odd", ["pipe", "device"], indirect=True)
@pytest.mark.parametrize("name", WRITING)
def test_nothing_takes_the_place_of_a_pipe_or_a_device(name, odd, graph_folder):
    before = odd.lstat()
    refused(clausal(*filled(WRITING[name], graph_folder, odd), "--out", odd), odd)
    after = odd.lstat()
    assert (after.st_ino, after.st_mode, after.st_rdev) == (before.st_ino, before.st_mode, before.st_rdev)
    assert [path.name for path in odd.parent.iterdir()] == ["odd"]


@pytest.mark.parametrize("odd", ["pipe", "device"], indirect=True)
@pytest.mark.parametrize("name", READING)
def test_nothing_waits_for_a_pipe_or_a_device(name, odd, graph_folder, tmp_path):
    np.save(tmp_path / "vectors.npy", np.zeros((24, 8), dtype=np.float32))
    command = filled(READING[name], graph_folder, odd)
    out = ["--out", tmp_path / "run"] if command[0] == "train" else []
    result = run_forked(*command, *out, log=tmp_path / "log")
    refused(result, odd, "expected a file on a disk")
    assert not (tmp_path / "run").exists()


def test_figures_do_not_take_the_place_of_a_pipe(tmp_path):
    os.mkfifo(tmp_path / "contours.pdf")
    result = run_forked("reproduce", "contours", "--quick", "--out", tmp_path, log=tmp_path / "log")
    refused(result, tmp_path / "contours.pdf", "a pipe")
    assert (tmp_path / "contours.pdf").is_fifo()


def test_the_journal_of_a_grid_is_no_pipe(tmp_path):
    os.mkfifo(tmp_path / "journal")
    with pytest.raises(InputError, match="journal: a pipe"):
        Journal(tmp_path / "journal").read()


@pytest.mark.parametrize("name", ["partition", "train", "search", "demo"])
def test_a_refused_path_leaves_no_folder_behind(name, graph_folder, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    refused(clausal(*filled(WRITING[name], graph_folder, tmp_path / "odd"), "--out", "nope/.."), "nope/..")
    assert list(tmp_path.iterdir()) == []
