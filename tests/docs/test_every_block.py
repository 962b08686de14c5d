"""Every code block of every page is executed: here on a small graph, in another test, or there is a reason.

Sizes are not those of the pages: trainings take one epoch, searches two trials. What cannot be run here has its options
checked, where it is a command of clausal.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import scene
import typer
from markdown_pages import PAGES, REPOSITORY, blocks, name_of

import clausal as package
from clausal.cli.app import add_plugins, app
from clausal.config import Settings
from clausal.logic import parse_clauses
from command_line import clausal

ELSEWHERE = {
    "docs/tutorial.md": "test_tutorial.py",
    "docs/how-to/ontology.md": "test_ontology_page.py",
    "docs/how-to/unseen.md": "test_unseen_page.py",
    "docs/how-to/update.md": "test_update_page.py",
}
"""Pages that are followed literally, by the test that does so."""

NOT_RUN = {
    r"make \w": "a target of the Makefile, which runs the tests itself, or takes minutes to hours",
    r"pip install ": "installs from a network",
    r"podman ": "needs a container engine",
    r"export ": "sets a variable of the shell",
    r"torchrun ": "needs two machines; tests/peers trains in several processes",
    r"clausal (train|predict|evaluate|score) .*--processes": "several processes: tests/peers",
    r"clausal (closure|partition|clauses|mine) .*--master spark://": "needs a cluster; tests/logic/engines starts one",
    r"clausal .*postgresql://": "needs a server; tests/graph/test_databases.py and tests/search start one",
    r"clausal serve |curl |python -c 'import secrets": "does not end; tests/serve starts services",
    r"clausal demo ": "trains the demo whole; `make demo` and tests of the demo do",
    r"clausal reproduce ": "takes hours; tests/paper reproduces tables of small data",
    r"python tools/paper_tables\.py": "takes 25 minutes",
    r"clausal train --out RUN --resume$": "needs a training that was stopped; tests/run/test_resume.py stops some",
}
"""Commands that are not run here, and why."""

NOT_RUN_PYTHON = {
    ("docs/how-to/notebook.md", "WandB"): "MLflow and Weights & Biases: tests/observers has stand-ins for them",
    (
        "docs/how-to/stop-and-resume.md",
        "resume",
    ): "needs a training that was stopped; tests/run/test_resume.py stops some",
}
"""Blocks of Python that are not run here, by page and a word in them, and why."""

MADE = {"docs/how-to/datasets.md": "world", "docs/how-to/no-rules-yet.md": "world"}
"""Folders that a page makes itself."""

SHELL, LANGUAGES = {"console", "sh", "bash", ""}, {"python", "toml", "clauses", "text", "lark"}
HERE = [page for page in PAGES if name_of(page) not in ELSEWHERE and blocks(page)]


def commands(block):
    """Return the commands of a block: lines, of which one that ends in a backslash goes on."""
    lines = block.text.replace("\\\n", " ").splitlines()
    prompted = any(line.startswith("$ ") for line in lines)
    lines = [line.removeprefix("$ ") for line in lines if not prompted or line.startswith("$ ")]
    return [line for line in (re.sub(r"\s+# .*", "", line).strip() for line in lines) if line]


def reason(command):
    """Why a command is not run here; None for one that is."""
    return next((why for pattern, why in NOT_RUN.items() if re.match(pattern, command)), None)


def reason_of_python(page, block):
    found = (why for (name, word), why in NOT_RUN_PYTHON.items() if name == name_of(page) and word in block.text)
    return next(found, None)


SHELL_BLOCKS = [(page, block) for page in PAGES for block in blocks(page) if block.language in SHELL]


def test_every_block_is_of_a_known_kind():
    assert {block.language for page in PAGES for block in blocks(page)} <= SHELL | LANGUAGES


def test_every_reason_is_needed():
    everything = [
        command for page, block in SHELL_BLOCKS if name_of(page) not in ELSEWHERE for command in commands(block)
    ]
    for pattern in NOT_RUN:
        assert any(re.match(pattern, command) for command in everything), pattern
    for name, word in NOT_RUN_PYTHON:
        assert any(name_of(page) == name and word in block.text for page in PAGES for block in blocks(page))
    for name, test in ELSEWHERE.items():
        assert (REPOSITORY / name).exists()
        assert Path(name).name in (Path(__file__).parent / test).read_text(encoding="utf-8")


def test_commands_that_are_not_run_have_options_that_exist():
    add_plugins()
    group = typer.main.get_command(app)
    checked = 0
    for page, block in SHELL_BLOCKS:
        for command in commands(block):
            words = shlex.split(command)
            if words[0] != "clausal" or reason(command) is None:
                continue
            found, parsed = group, words[1:]
            while hasattr(found, "commands") and parsed and parsed[0] in found.commands:
                found, parsed = found.commands[parsed[0]], parsed[1:]
            found.make_context("clausal", parsed).close()
            checked += 1
            assert found is not group, f"{name_of(page)}:{block.line}: {command}"
    assert checked > 20


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages") / "scene"
    folder.mkdir()
    scene.build(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        scene.train_runs(folder)
    return folder


@pytest.fixture
def folder(prepared, tmp_path, monkeypatch):
    folder = scene.fresh(tmp_path / "page", prepared)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("CLAUSAL_DATA", str(folder / "data"))
    return folder


@pytest.mark.parametrize("page", HERE, ids=name_of)
def test_the_blocks_of_a_page_run(page, folder, monkeypatch):
    quicken(monkeypatch)
    if name_of(page) in MADE:
        shutil.rmtree(folder / MADE[name_of(page)])
    names = {"clausal": package}
    for block in blocks(page):
        where = f"{name_of(page)}:{block.line}"
        if block.language in SHELL:
            for command in commands(block):
                if reason(command) is None:
                    run_command(command, where)
        elif block.language == "python" and reason_of_python(page, block) is None:
            if "import clausal" not in block.text and "graph" not in names:
                names |= {"graph": package.load_graph("GRAPH"), "clauses": package.read_clauses("clauses.txt")}
                names |= {"run": package.load("RUN")}
            exec(compile(block.text, where, "exec"), names)
        elif block.language == "clauses":
            assert parse_clauses(block.text)
        elif block.language == "toml":
            (folder / "settings.toml").write_text(block.text)
            Settings.load(folder / "settings.toml")


def run_command(command, where):
    """Run a command in this process, or by a shell where it needs one; what it writes may be there already."""
    words = shlex.split(command)
    if words[0] == "clausal" and not set("|>$") & set(command):
        done = clausal(*quick(words[1:]))
        code, said = done.code, done.stderr
    elif words[0] == "cat" or words[0] in ("cp", "grep") or "||" in command:
        here = Path(sys.executable).parent
        environment = os.environ | {"PATH": f"{here}{os.pathsep}{os.environ['PATH']}", "OMP_NUM_THREADS": "1"}
        result = subprocess.run(["bash", "-c", command], env=environment, capture_output=True, text=True, timeout=120)
        code, said = result.returncode, result.stderr
    else:
        pytest.fail(f"{where}: neither run nor named with a reason: {command}")
    allowed = {0, 1} if "--require" in words else {0}  # a model that is trained for a moment keeps no promise
    assert code in allowed, f"{where}: {command}\n{said}"


def quick(words):
    """Return the words of a command with sizes of tests, and without what is in its way."""
    for option, size in (("--trials", "2"), ("--minutes", "0.02")):
        if option in words:
            words[words.index(option) + 1] = size
    if words[0] == "train":
        words += [part for one in scene.QUICK for part in ("--set", one)]
    if words[0] in ("train", "search", "partition") and "--out" in words and "--resume" not in words:
        out = Path(words[words.index("--out") + 1])
        if out.exists():
            shutil.rmtree(out)
    return words


def quicken(monkeypatch):
    """Let trainings and searches in Python take a moment, too."""
    from clausal import search

    train, searched = package.train, search.search

    def quick_train(graph, clauses=(), settings=None, **options):
        changed = (settings or Settings()).to_toml()
        Path("quick.toml").write_text(changed, encoding="utf-8")
        shorter = [one for one in scene.QUICK if not one.startswith("model.dim")]
        if "out" in options and Path(options["out"]).exists():
            shutil.rmtree(options["out"])
        return train(graph, clauses, Settings.load(Path("quick.toml"), shorter), **options)

    def quick_search(*given, **named):
        shutil.rmtree(named["out"], ignore_errors=True)
        return searched(*given, **named | {"trials": 1})

    monkeypatch.setattr(package, "train", quick_train)
    monkeypatch.setattr(search, "search", quick_search)
