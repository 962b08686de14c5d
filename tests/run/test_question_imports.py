"""Asking a run imports neither training nor what only other commands need."""

import subprocess
import sys

import pytest

import clausal

QUERY = "manages(person 01, ?)"
NOT_NEEDED = (
    "clausal.training",
    "clausal.logic.closure",
    "clausal.logic.proofs",
    "clausal.logic.mining",
    "clausal.logic.measures",
    "clausal.search",
    "clausal.demo",
    "duckdb",
    "numba",
    "optuna",
    "pandas",
    "pyarrow.dataset",
    "pyoxigraph",
    "pyspark",
    "scipy",
)
NOT_FOR_A_QUESTION = ("clausal.adversary", "clausal.bounds", "clausal.run.certification", "lark", "torch._dynamo")
BY_COMMAND = "from clausal.cli import main; sys.argv[1:] = {}; main()"
BY_CALL = "import clausal; run = clausal.load({!r}); {}"


def modules_after(program):
    """Return what a new process has imported when it has run a program."""
    code = f"import sys\ntry:\n    {program}\nfinally:\n    print('\\nMODULES', *sys.modules)"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    return set(result.stdout.splitlines()[-1].split()[1:])


def unneeded(modules):
    return sorted(name for name in modules if any(name == part or name.startswith(f"{part}.") for part in NOT_NEEDED))


@pytest.mark.parametrize("arguments", [["predict", "RUN", QUERY], ["certify", "RUN"]], ids=["predict", "certify"])
def test_a_command_that_asks_a_run_imports_no_training(arguments, finished):
    given = [str(finished) if one == "RUN" else one for one in arguments]
    modules = modules_after(BY_COMMAND.format(given))
    assert "clausal.run.run" in modules
    assert unneeded(modules) == []


@pytest.mark.parametrize("call", ["0", f"run.predict({QUERY!r})", "run.certify()"], ids=["load", "predict", "certify"])
def test_asking_a_run_from_python_imports_no_training(call, finished):
    modules = modules_after(BY_CALL.format(str(finished), call))
    assert "clausal.run.run" in modules
    assert unneeded(modules) == []


def test_a_question_needs_neither_certificates_nor_a_parser_of_clauses_nor_a_compiler(finished):
    modules = modules_after(BY_CALL.format(str(finished), f"run.predict({QUERY!r})"))
    assert not set(NOT_FOR_A_QUESTION) & modules


def test_what_is_looked_for_is_what_training_imports():
    """A name that has moved would make the tests above see nothing."""
    names = "import clausal.demo; from clausal.run import train; from clausal.logic import measure_clauses, mine"
    modules = modules_after(names)
    assert {part for part in NOT_NEEDED if part.startswith("clausal")} - {"clausal.search"} <= modules


def test_clauses_of_a_run_are_those_it_was_trained_on(finished, graph_folder):
    clauses = clausal.load(finished).clauses
    assert [str(clause) for clause in clauses] == [
        str(clause) for clause in clausal.read_clauses(graph_folder / "clauses.txt")
    ]
    assert clauses == list(clauses)
    assert repr(clauses) == repr(list(clauses))
