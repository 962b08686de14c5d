"""A run whose vectors of entities stay in their file answers as one that is read, and takes no memory for them."""

import json
import subprocess
import sys

import numpy as np
import pytest
import torch

import clausal
from clausal.errors import InputError
from clausal.run.checkpoint import read_tensors, write_tensors
from command_line import clausal as command
from recording import Recorder


def test_answers_and_ranks_are_those_of_a_run_in_memory(finished):
    whole, mapped = clausal.load(finished, mapped=False), clausal.load(finished, mapped=True)
    fact = whole.graph.train[0].tolist()
    names = whole.graph.entities[fact[0]], whole.graph.relations[fact[1]], whole.graph.entities[fact[2]]
    for question in ((names[0], names[1], None), (None, names[1], names[2]), (names[0], None, names[2])):
        expected, found = whole.predict([question], 5)[0], mapped.predict([question], 5)[0]
        assert [answer[:4] for answer in found] == [answer[:4] for answer in expected]
        assert [answer.score for answer in found] == pytest.approx([answer.score for answer in expected], rel=1e-5)
    expected, found = whole.evaluate("train"), mapped.evaluate("train")
    assert found.filtered["both"] == pytest.approx(expected.filtered["both"], abs=1e-6)
    assert whole.score(whole.graph.train).scores == pytest.approx(mapped.score(whole.graph.train).scores, rel=1e-5)


def test_a_large_model_is_mapped_and_said(finished, monkeypatch):
    told = Recorder()
    clausal.load(finished, device="cpu", observer=told)
    assert not told.of("message")
    monkeypatch.setattr("clausal.run.loading.free_memory", lambda device: 100)
    clausal.load(finished, device="cpu", observer=told)
    assert "stay in their file" in told.of("message")[0][0]


def test_a_gpu_reads_no_mapped_file(finished, monkeypatch):
    monkeypatch.setattr("clausal.run.loading.find_device", lambda *_: torch.device("cuda"))
    with pytest.raises(InputError, match="load the run with device='cpu'"):
        clausal.load(finished, mapped=True)


_ANONYMOUS = """
import json, sys
from pathlib import Path
import torch
from clausal.evaluation.largest import LargestProducts
from clausal.run.checkpoint import read_tensors

def anonymous():
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("RssAnon"))

torch.ones(64, 64) @ torch.ones(64, 64)
before = anonymous()
tensors, _ = read_tensors(Path(sys.argv[1]), mapped=json.loads(sys.argv[2]))
found = LargestProducts(tensors["table"]).find(tensors["table"][:3], 4)
print(json.dumps([anonymous() - before, [one.ids.tolist() for one in found]]))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the kind of a process's memory is said by Linux alone")
def test_mapped_vectors_take_no_memory(tmp_path):
    table = torch.randn(500_000, 50, generator=torch.Generator().manual_seed(0))  # 100 MB
    write_tensors(tmp_path / "table.safetensors", {"table": table}, {})

    def measured(mapped):
        arguments = [sys.executable, "-c", _ANONYMOUS, tmp_path / "table.safetensors", json.dumps(mapped)]
        return json.loads(subprocess.run(arguments, check=True, capture_output=True, text=True).stdout)

    (kilobytes, answers), (others, expected) = measured(["table"]), measured([])
    assert answers == expected
    assert others > 95_000
    assert kilobytes < others - 90_000


def test_damaged_mapped_vectors_are_refused(tmp_path):
    table = torch.zeros(200_000, 2)
    table[150_000, 1] = np.nan
    write_tensors(tmp_path / "table.safetensors", {"table": table}, {})
    with pytest.raises(InputError, match="'table' holds values that are not finite"):
        read_tensors(tmp_path / "table.safetensors", mapped=["table"])


def test_commands_say_nothing_of_a_small_model(finished):
    assert "stay in their file" not in command("evaluate", finished, "--device", "cpu").stderr
