"""The tutorial, followed literally in a fresh folder: every command works and prints what the page shows."""

import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from markdown_pages import DOCS, blocks, read
from safetensors import safe_open

TUTORIAL = DOCS / "tutorial.md"
RUN_DIRECTORY_PAGE = "docs/reference/run-directory.md"

_NUMBER = re.compile(r"-?\d[\d,.]*(?:e[-+]?\d+)?")
_WAITING = re.compile(r".*, \d+ s so far")  # said every ten seconds, so never on a quiet machine
_BORDER = re.compile(r"[━─┏┓┗┛┡┩┳╇┴┬└┘┌┐├┤┼╋ ]*")


@dataclass(frozen=True)
class Step:
    """A block that was run, what it printed, and what the page shows after it, if anything."""

    line: int
    code: int
    printed: str
    shown: str | None


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("tutorial")


@pytest.fixture(scope="module")
def steps(folder):
    here = Path(sys.executable).parent
    environment = os.environ | {"PATH": f"{here}{os.pathsep}{os.environ['PATH']}", "OMP_NUM_THREADS": "1"}
    interpreters = {"sh": ["bash", "-c"], "python": ["python", "-c"]}
    page = blocks(TUTORIAL)
    done = []
    for block, after in zip(page, [*page[1:], None], strict=True):
        if block.language not in interpreters:
            continue
        result = subprocess.run(
            [*interpreters[block.language], block.text],
            cwd=folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            timeout=120,
        )
        shown = after.text if after is not None and after.language == "text" else None
        done.append(Step(block.line, result.returncode, result.stdout, shown))
    return done


def test_every_block_succeeds(steps):
    assert {step.line: step.printed for step in steps if step.code} == {}


def test_every_output_is_shown_as_it_is_printed(steps):
    compared = [step for step in steps if step.shown is not None]
    assert len(compared) > 10
    for step in compared:
        shown, printed = _lines(step.shown), _lines(step.printed)
        differing = [pair for pair in zip(shown, printed, strict=False) if not _agree(*pair)]
        assert (differing, len(shown)) == ([], len(printed)), f"tutorial.md:{step.line} printed\n{step.printed}"


def test_clauses_help_as_the_tutorial_says(steps, folder):
    without, with_clauses = (
        json.loads((folder / run / "metrics.json").read_text())["test"]["filtered"]["both"]["mrr"]
        for run in ("without", "with")
    )
    assert without < 0.8
    assert with_clauses > 0.9


def test_nothing_is_left_of_a_refused_training(steps, folder):
    assert not (folder / "wrong").exists()


def test_specification_lists_every_file_of_a_run(steps, folder):
    documented = set(re.findall(r"^\| `([\w./]+)` \|[^|]*\| (?:at the|during)", read(RUN_DIRECTORY_PAGE), re.MULTILINE))
    assert {file.name for file in (folder / "with").iterdir()} == {
        name for name in documented if not name.startswith("checkpoint/")
    }


def test_specification_lists_every_key_and_tensor_of_a_run(steps, folder):
    documented = set(re.findall(r"^\| `([^`]+)`(?:, `([^`]+)`)?", read(RUN_DIRECTORY_PAGE), re.MULTILINE))
    names = {name for row in documented for name in row}
    run = folder / "with"
    records = [json.loads(line) for line in (run / "log.jsonl").read_text().splitlines()]
    metrics = json.loads((run / "metrics.json").read_text())
    training = {f"training.{key}" for key in metrics.pop("training")}
    with safe_open(run / "model.safetensors", framework="np") as model:
        tensors = set(model.keys())
    found = {*json.loads((run / "run.json").read_text()), *(key for record in records for key in record)}
    assert found | set(metrics) | training | tensors <= names


def _lines(text):
    """Return the lines that say something, without the borders of tables and what is said while one waits."""
    lines = [line.rstrip() for line in text.splitlines()]
    return [line for line in lines if not _BORDER.fullmatch(line) and not _WAITING.fullmatch(line)]


def _agree(shown, printed):
    """Compare words, not numbers: the last digits differ between machines, and so do wrong answers."""
    if shown.startswith("exit code"):
        return shown == printed
    if shown.startswith("│") and re.search(r"│ no +│", shown):
        return printed.count("│") == shown.count("│")
    return _words(shown) == _words(printed)


def _words(line):
    return _NUMBER.sub("#", line).split()
