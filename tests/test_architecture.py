"""Dependencies point downwards only, and importing a part brings in no library that it does not need."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import clausal

ROOT = Path(clausal.__file__).parent
# From the ground up. Packages on one floor do not know each other.
FLOORS = (
    ("errors",),
    ("presets",),
    ("config",),
    ("graph", "kernels"),
    ("logic", "model"),
    ("consistency",),
    ("evaluation",),
    ("training",),
    ("run",),
    ("search",),
    ("experiments",),
    ("cli",),
)
FLOOR_OF = {name: height for height, names in enumerate(FLOORS) for name in names}


def part_of(path):
    """The package, or top-level module, that a file belongs to."""
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def imported_parts(path):
    """Yield the parts of this library that a file imports, wherever in the file, with the line."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: a relative import"
            names = [f"clausal.{alias.name}" for alias in node.names] if node.module == "clausal" else [node.module]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            continue
        for name in names:
            if name.startswith("clausal."):
                yield name.split(".")[1], node.lineno


def test_every_package_has_a_floor():
    packages = {path.parent.name for path in ROOT.glob("*/__init__.py")}
    assert packages == set(FLOOR_OF) - {"errors", "config"}


def test_dependencies_point_downwards():
    wrong = []
    for path in ROOT.rglob("*.py"):
        part = part_of(path)
        if part not in FLOOR_OF:  # the public names and tools around them stand above everything
            continue
        for imported, line in imported_parts(path):
            if imported != part and FLOOR_OF.get(imported, len(FLOORS)) >= FLOOR_OF[part]:
                wrong.append(f"{path.relative_to(ROOT)}:{line}: {part} imports {imported}")
    assert not wrong, "\n".join(wrong)


def test_the_search_for_imports_finds_them():
    found = {name for name, _ in imported_parts(ROOT / "training" / "train.py")}
    assert {"config", "consistency", "errors", "evaluation", "graph", "logic", "model", "training"} == found


def run_python(program):
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)


@pytest.mark.parametrize("module", ["clausal", "clausal.graph", "clausal.logic", "clausal.config", "clausal.errors"])
def test_importing_without_torch(module):
    result = run_python(f"import sys, {module}; sys.exit('torch' in sys.modules)")
    assert result.returncode == 0, result.stderr


BLOCKED = ("pyarrow", "pyoxigraph", "duckdb", "pandas", "typer", "rich")


def test_training_and_evaluation_need_no_library_for_files_or_the_terminal():
    """A model trains and is evaluated on arrays, as a row of a table too, where these cannot be imported at all."""
    program = f"""
import sys
for name in {BLOCKED!r}:
    sys.modules[name] = None  # importing it raises ImportError
import numpy as np
from clausal.config import Settings
from clausal.evaluation import evaluate
from clausal.graph import Graph, Names
from clausal.logic import And, Atom, Clause, Implies, Variable
import clausal_paper.grid
from clausal_paper.tables.rows import BeyondRow, PaperRow
from clausal_paper.tables.run import run_row
from clausal.training import prepare
X, Y = Variable("X"), Variable("Y")
facts = np.array([[0, 0, 1], [1, 0, 2], [2, 1, 0]], dtype=np.int32)
graph = Graph(Names(list("abc"), "entity"), Names(["r", "s", "t"], "relation"), facts, test=facts[:1])
settings = Settings.from_mapping({{"train": {{"epochs": 1, "passes": 1, "device": "cpu"}}, "model": {{"dim": 4}}}})
clauses = [Clause(Implies(Atom("r", X, Y), Atom("s", Y, X)))]
predictor = prepare(graph, clauses, settings).run()
assert 0 < evaluate(predictor, graph).filtered["both"]["mrr"] <= 1
small = ["train.epochs=1", "model.dim=4", "kale.passes=1"]
for model in ("asr-complex", "kale-joint"):
    record = run_row(PaperRow("fb122", model), graph, clauses, changes=small)
    assert 0 < record["metrics"]["full"]["realistic"]["test"]["mrr"] <= 1
record = run_row(BeyondRow("wn18-limited", "all", 0.5), graph, clauses, changes=small, closure=lambda graph: facts)
assert 0 < record["entailed"]["full"]["realistic"]["test"]["mrr"] <= 1
"""
    result = run_python(program)
    assert result.returncode == 0, result.stderr
