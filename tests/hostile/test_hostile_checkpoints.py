"""Checkpoints that do not fit the run they lie in are refused before anything is written."""

import json
import random

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import save_file

from command_line import clausal, refused
from small_graphs import interrupted_run

STATE = "checkpoint/state.safetensors"


SET = "adversarial_set/0/Vectors/vectors"


def rewrite(run, change):
    with safe_open(run / STATE, framework="pt") as file:
        tensors = {name: file.get_tensor(name).clone() for name in file.keys()}  # noqa: SIM118
        position = json.loads(file.metadata()["position"])
    change(tensors, position)
    metadata = position.pop("metadata", None) or {"position": json.dumps(position.pop("whole", position))}
    save_file(tensors, run / STATE, metadata)


def snapshot(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def refuses_to_resume(run, *fragments):
    before = snapshot(run)
    refused(clausal("train", "--resume", "--out", run), STATE, *fragments)
    assert snapshot(run) == before


def replace(name, make):
    return lambda tensors, position: tensors.update({name: make(tensors[name])})


def drop(name):
    return lambda tensors, position: tensors.pop(name)


def place(**values):
    return lambda tensors, position: position.update(values)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (replace("model/relations", lambda t: t[:1].clone()), "'model/relations' is torch.float32 [1, 8]"),
        (replace("model/relations", lambda t: t.double()), "torch.float64"),
        (replace("model/relations", lambda t: t * float("nan")), "not finite"),
        (replace("optimizer/0.sum", lambda t: t[:, :1].clone()), "'optimizer/0.sum'"),
        (
            replace("adversarial_set/0/Vectors/vectors", lambda t: t[..., :2].clone()),
            "'adversarial_set/0/Vectors/vectors'",
        ),
        (drop("model/relations"), "'model/relations' is missing"),
        (drop(SET), f"'{SET}' is missing"),
        (drop("optimizer/0.sum"), "'optimizer/0.sum' is missing"),
        (lambda tensors, position: tensors.update({"extra": torch.zeros(1)}), "'extra' is not of this training"),
        (lambda tensors, position: tensors.update({"optimizer/9.sum": torch.zeros(1)}), "'optimizer/9.sum'"),
        (lambda tensors, position: tensors.update({"best/relations": torch.zeros(3, 8)}), "'best/encoder.weight'"),
        (place(epoch=10**9), "it is at epoch 1000000000"),
        (place(epoch=-1), "it is at epoch -1"),
        (place(passes=3), "pass 3 of a training of 4 epochs with 3 passes"),
        (place(epoch="1"), "position"),
        (place(epoch=None), "position"),
        (place(epoch=[1]), "position"),
        (place(other=1), "position"),
        (lambda tensors, position: position.pop("epoch"), "position"),
        (place(whole=[1, 2]), "position"),
        (place(whole=None), "position"),
        (place(metadata={"position": "not json"}), "how far the training had come"),
        (place(metadata={"position": "[" * 100_000}), "how far the training had come"),
        (place(metadata={"else": "{}"}), "how far the training had come"),
    ],
    ids=range(24),
)
def test_a_state_that_does_not_fit_is_refused(change, message, unfinished):
    rewrite(unfinished, change)
    refuses_to_resume(unfinished, message)


@pytest.mark.parametrize("content", [b"", b"\x00" * 8, random.Random(0).randbytes(2000)])
def test_a_checkpoint_of_garbage_is_refused(content, unfinished):
    (unfinished / STATE).write_bytes(content)
    refuses_to_resume(unfinished, "damaged")


def test_a_checkpoint_of_another_run_is_refused(unfinished, graph_folder, tmp_path):
    other = interrupted_run(graph_folder, tmp_path / "other", model__dim=16)
    (unfinished / STATE).write_bytes((other / STATE).read_bytes())
    refuses_to_resume(unfinished, "does not fit this run")


def test_links_out_of_the_run_are_not_followed_for_writing(unfinished, tmp_path):
    victim = tmp_path / "victim"
    victim.write_text("precious")
    (unfinished / "checkpoint" / "lock").unlink()
    (unfinished / "checkpoint" / "lock").symlink_to(victim)
    refused(clausal("train", "--resume", "--out", unfinished), "not a link")
    assert victim.read_text() == "precious"


def test_a_checkpoint_folder_elsewhere_is_refused(unfinished, tmp_path):
    (unfinished / "checkpoint").rename(tmp_path / "elsewhere")
    (unfinished / "checkpoint").symlink_to(tmp_path / "elsewhere")
    before = snapshot(tmp_path / "elsewhere")
    refused(clausal("train", "--resume", "--out", unfinished), "checkpoint", "not a link")
    assert snapshot(tmp_path / "elsewhere") == before


def test_garbage_lines_in_the_log_are_dropped_on_resuming(unfinished):
    lines = ["not json", "3", "[]", "{}", '{"epoch": "x", "seconds": 1}', '{"epoch": 1}', "[" * 100_000, "null"]
    log = unfinished / "log.jsonl"
    log.write_text("\n".join(lines) + "\n" + log.read_text())
    assert clausal("train", "--resume", "--out", unfinished).code == 0
    assert [json.loads(line)["epoch"] for line in log.read_text().splitlines()] == [1, 2, 3, 4]


def test_a_log_that_is_no_text_is_refused(unfinished):
    (unfinished / "log.jsonl").write_bytes(b"\xff\xfe\x00")
    refused(clausal("train", "--resume", "--out", unfinished), "log.jsonl:1", "not UTF-8")
