"""Commands that score use a GPU where there is one, and find there what they find on a CPU, but for the last digits."""

import json

import pytest
import torch

from clausal import load
from command_line import clausal
from small_graphs import interrupted_run, quick, train_options

pytestmark = pytest.mark.gpu

MODELS = {
    "gradient ascent": {},
    "closed form": {"clauses__adversary": "closed-form"},
    "against all entities": {
        "facts__training": "1-vs-all",
        "facts__loss": "softmax",
        "model__domain": "none",
        "model__reciprocal": "true",
        "clauses__adversary": "closed-form",
    },
}


def printed(*arguments):
    """Run a command that succeeds, and return the JSON that it printed."""
    result = clausal(*arguments, "--format", "json")
    assert result.code == 0, result.stderr
    return result.json


def numbers(value):
    """Yield all numbers in something read from JSON, in order."""
    if isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from numbers(part)
    elif isinstance(value, float):
        yield value


@pytest.fixture(scope="module", params=MODELS.values(), ids=MODELS)
def run(request, graph_folder, tmp_path_factory):
    """A run that nobody told which device to take."""
    out = tmp_path_factory.mktemp("runs") / "run"
    result = clausal(*train_options(graph_folder, **request.param), "--out", out)
    assert result.code == 0, result.stderr
    return out


def test_training_takes_the_gpu(run):
    assert json.loads((run / "metrics.json").read_text())["training"]["device"].startswith("cuda")
    assert {parameter.device.type for parameter in load(run).predictor.parameters()} == {"cuda"}


@pytest.mark.parametrize(
    "command",
    [
        ["evaluate"],
        ["evaluate", "--relations", "--entailed", "first"],
        ["evaluate", "--classify"],
        ["predict", "manages(person 01, ?)", "--explain"],
        ["certify"],
        ["certify", "--region", "hull", "--semantics", "threshold", "--thresholds", "0.1,0.2"],
    ],
    ids=" ".join,
)
def test_what_a_command_finds_there_is_what_it_finds_on_a_cpu(run, command):
    name, *options = command
    on_gpu, on_cpu = (printed(name, run, *options, "--device", device) for device in ("auto", "cpu"))
    assert list(numbers(on_gpu)) == pytest.approx(list(numbers(on_cpu)), rel=1e-4, abs=1e-4)


def test_an_interrupted_training_ends_in_the_same_model(graph_folder, tmp_path):
    interrupted_run(graph_folder, tmp_path / "resumed")
    assert clausal("train", "--resume", "--out", tmp_path / "resumed").code == 0
    assert clausal(*train_options(graph_folder), "--out", tmp_path / "whole").code == 0
    resumed, whole = (load(tmp_path / name).predictor.state_dict() for name in ("resumed", "whole"))
    assert resumed.keys() == whole.keys()
    for name, value in whole.items():
        torch.testing.assert_close(resumed[name], value, rtol=1e-3, atol=1e-3)


def test_a_search_takes_the_gpu(graph_folder, tmp_path):
    options = ["--clauses", graph_folder / "clauses.txt", "--trials", 2, *quick(), "--out", tmp_path / "search"]
    best = printed("search", graph_folder, *options)["run"]
    assert json.loads((tmp_path / "search" / best / "metrics.json").read_text())["training"]["device"] == "cuda:0"
