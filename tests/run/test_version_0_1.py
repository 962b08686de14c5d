"""Runs that version 0.1 made: finished ones answer as they did there, unfinished ones say what to do.

``expected.json`` holds what the commands of version 0.1 printed of them.
"""

import json
import shutil
from collections import Counter
from pathlib import Path

import pytest

import clausal as library
from command_line import clausal, refused

RUNS = Path(__file__).parent / "version_0_1"
EXPECTED = json.loads((RUNS / "expected.json").read_text(encoding="utf-8"))
QUERY = "works_with(person 5, ?)"
FINISHED = ("gradient", "closed-form")
UNFINISHED = ("unfinished", "unfinished-closed-form")
COMMANDS = {"predict": (QUERY, "-k", "3"), "certify": (), "evaluate": ()}


def close_to(value):
    """Return a value of JSON whose numbers need to be equal to single precision only."""
    if isinstance(value, float):
        return pytest.approx(value, rel=1e-5, abs=1e-7)
    if isinstance(value, list):
        return [close_to(one) for one in value]
    return {key: close_to(one) for key, one in value.items()} if isinstance(value, dict) else value


def without_methods(printed):
    """Leave out by which method a clause is certified, as later versions have more of them.

    Version 0.1 took rate and mean from one kind of question where a model is reciprocal; now they are those of facts.
    It called violated what now holds for decisions.
    """
    if not isinstance(printed, dict) or "clauses" not in printed:
        return printed
    mended = {"rate", "mean", "reading"}
    clauses = [{key: one[key] for key in one if key not in ("method", "decisions")} for one in printed["clauses"]]
    for one in clauses:
        one["verdict"] = {"holds for decisions": "violated"}.get(one["verdict"], one["verdict"])
        entities = {key: value for key, value in one["entities"].items() if key not in mended}
        example = entities["example"] and {
            key: entities["example"][key] for key in entities["example"] if key not in mended
        }
        one["entities"] = entities | {"example": example}
    verdicts = Counter(one["verdict"] for one in clauses)
    return printed | {"clauses": clauses, "verdicts": dict(verdicts)}


@pytest.mark.parametrize("name", FINISHED)
@pytest.mark.parametrize("command", COMMANDS)
def test_a_finished_run_answers_as_in_version_0_1(name, command):
    result = clausal(command, RUNS / name, *COMMANDS[command], "--format", "json")
    assert result.code == 0, result.stderr
    assert without_methods(result.json) == close_to(without_methods(EXPECTED[name][command]))


@pytest.mark.parametrize("name", FINISHED)
def test_a_finished_run_loads_with_its_clauses_and_metrics(name):
    run = library.load(RUNS / name)
    assert [str(clause) for clause in run.clauses] == [
        "manages(X, Y) => works_with(X, Y)",
        "works_with(X, Y) => works_with(Y, X)",
    ]
    assert run.metrics["test"]["filtered"] == EXPECTED[name]["evaluate"]["filtered"]


@pytest.mark.parametrize("name", UNFINISHED)
def test_an_unfinished_run_is_refused_with_what_to_do(name, tmp_path):
    run = shutil.copytree(RUNS / name, tmp_path / "run")
    before = sorted(path.read_bytes() for path in run.rglob("*") if path.is_file())
    refused(clausal("train", "--resume", "--out", run), "version 0.1", "train again, or finish it with version 0.1")
    assert sorted(path.read_bytes() for path in run.rglob("*") if path.is_file()) == before


def compiled_step(name, folder):
    run = shutil.copytree(RUNS / name, folder / "run")
    settings = run / "config.toml"
    settings.write_text(settings.read_text().replace('step = "auto"', 'step = "compiled"'))
    return run


def test_a_run_with_the_compiled_step_that_is_gone_loads(tmp_path):
    run = library.load(compiled_step("gradient", tmp_path))
    assert run.settings.train.step == "auto"
    assert len(run.predict(QUERY, 3)) == 3


def test_a_run_with_the_compiled_step_that_has_no_checkpoint_yet_trains(tmp_path):
    run = compiled_step("unfinished", tmp_path)
    (run / "checkpoint" / "state.safetensors").unlink()
    assert library.resume(run).metrics["training"]["step"] in ("fused", "eager")


def test_the_compiled_step_can_no_longer_be_asked_for():
    with pytest.raises(library.InputError, match=r"train\.step: .*'auto', 'eager' or 'fused'; got 'compiled'"):
        library.Settings.load(assignments=["train.step=compiled"])
