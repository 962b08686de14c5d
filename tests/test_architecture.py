"""Dependencies point one way, as the map of the architecture says, and imports bring in no library without need."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

import clausal

ROOT = Path(clausal.__file__).parent
PAGE = Path(__file__).parents[1] / "docs" / "explanation" / "architecture.md"
REGISTRY = "the registry"
"""What rooms may import of ``fast``: the names of its ``__init__``."""
AROUND = {"__init__", "__main__", "moved"}
"""Modules that stand around the rooms: public names, the command as a module, and names that have moved."""


def room_of(path):
    """The package, or top-level module, that a file belongs to."""
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def imported(path):
    """Yield the modules of this library that a file imports, wherever in the file, with the line.

    A public name that is taken from the package itself, as in ``import clausal; clausal.train``, is its home's.
    """
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: a relative import"
            names = [home(alias.name) for alias in node.names] if node.module == "clausal" else [node.module]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "clausal":
            names = [home(node.attr)]
        else:
            continue
        for name in names:
            if name.startswith("clausal."):
                yield name, node.lineno


def home(name):
    """Where a name that is an attribute of the package comes from."""
    return clausal._MODULE_OF.get(name, f"clausal.{name}" if not name.startswith("__") else "clausal")


@cache
def table_of(heading):
    """The cells of the first table under a heading of the page."""
    text = PAGE.read_text(encoding="utf-8")
    section = text.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    rows = [line for line in section.splitlines() if line.startswith("|")][2:]
    return [[cell.strip() for cell in row.strip("|").split(" | ")] for row in rows]


def rooms_of_the_page():
    """Each room with the rooms that it imports from, in the order of the page."""
    return {row[0].strip("` "): set(re.findall(r"\w+", row[2].strip(" |"))) for row in table_of("Rooms")}


def imports_of_the_code():
    found = {}
    for path in ROOT.rglob("*.py"):
        room = room_of(path)
        if room in AROUND or room == "fast":
            continue
        found.setdefault(room, set())
        for module, _ in imported(path):
            other = module.split(".")[1]
            if other != room and other not in AROUND:
                found[room].add(other)
    return found


def test_the_page_has_the_rooms_and_the_imports_of_the_code():
    assert rooms_of_the_page() == imports_of_the_code()


def test_rooms_import_only_from_rooms_above_them_on_the_page():
    order = list(rooms_of_the_page())
    for room, others in rooms_of_the_page().items():
        assert others - {"fast"} <= set(order[: order.index(room)]), room


def test_rooms_ask_the_registry_and_import_no_fast_form():
    wrong = [
        f"{path.relative_to(ROOT)}:{line}: {module}"
        for path in ROOT.rglob("*.py")
        if room_of(path) != "fast"
        for module, line in imported(path)
        if module.startswith("clausal.fast.")
    ]
    assert not wrong, "\n".join(wrong)


def test_the_registry_imports_nothing_and_fast_forms_no_room_above_training():
    assert [module for module, _ in imported(ROOT / "fast" / "registry.py")] == ["clausal.fast.catalogue"]
    known = {module.split(".")[1] for path in (ROOT / "fast").rglob("*.py") for module, _ in imported(path)}
    assert known - {"fast"} == {"adversary", "bounds", "evaluation", "logic", "model", "training"}


def test_the_page_lists_the_fast_forms():
    from clausal.fast import registered

    listed = [(name, reference.strip("`")) for name, reference in table_of("Fast forms")]
    assert listed == [(form.name, form.reference) for form in registered()]


def test_every_file_that_the_page_names_exists():
    text = PAGE.read_text(encoding="utf-8")
    for name in re.findall(r"`([\w/]+(?:\.py|/))`", text):
        folders = (ROOT, ROOT.parent, PAGE.parents[2])
        assert any((folder / name).exists() for folder in folders), name


def test_the_search_for_imports_finds_them(tmp_path):
    file = tmp_path / "some.py"
    file.write_text(
        "import clausal\nfrom clausal import load\nfrom clausal.graph.facts import Facts\n"
        "def f():\n    import clausal.model\n    return clausal.train, clausal.__version__\n"
    )
    assert {module for module, _ in imported(file)} == {
        "clausal.run",
        "clausal.graph.facts",
        "clausal.model",
    }


def run_python(program):
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    "module",
    ["clausal", "clausal.graph", "clausal.logic", "clausal.config", "clausal.errors", "clausal.cli", "clausal.fast"],
)
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
