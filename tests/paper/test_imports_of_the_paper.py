"""``clausal_paper`` is a user of ``clausal``: it imports public names only, so that anyone could make the tables."""

import ast
from importlib import import_module
from pathlib import Path

import pytest

import clausal_paper

ROOT = Path(clausal_paper.__file__).parent
PUBLIC = (
    "clausal",
    "clausal.adversary",
    "clausal.cli",
    "clausal.config",
    "clausal.errors",
    "clausal.evaluation",
    "clausal.fast",
    "clausal.files",
    "clausal.graph",
    "clausal.logic",
    "clausal.model",
    "clausal.observer",
    "clausal.run",
    "clausal.search",
    "clausal.training",
)


def public_names(module):
    """The names in ``__all__``, or those without an underscore that a module without it defines itself."""
    loaded = import_module(module)
    if hasattr(loaded, "__all__"):
        return set(loaded.__all__) | ({"__version__"} if module == "clausal" else set())
    own = (name for name, value in vars(loaded).items() if getattr(value, "__module__", None) == module)
    return {name for name in own if not name.startswith("_")}


def used_names(program):
    """Yield each name of clausal that a program uses as (module, name, line): imported, or an attribute of clausal."""
    for node in ast.walk(ast.parse(program)):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"line {node.lineno}: a relative import"
            if node.module.split(".")[0] == "clausal":
                yield from ((node.module, alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from ((alias.name, "*", node.lineno) for alias in node.names if alias.name.startswith("clausal."))
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "clausal":
            yield "clausal", node.attr, node.lineno


def private_names(program):
    """Return what a program uses of clausal that is not public."""
    return [
        f"{module}.{name}, line {line}"
        for module, name, line in used_names(program)
        if module not in PUBLIC or name not in public_names(module)
    ]


def test_the_reproduction_imports_public_names_only():
    found = {path: private_names(path.read_text(encoding="utf-8")) for path in ROOT.rglob("*.py")}
    assert {str(path.relative_to(ROOT)): names for path, names in found.items() if names} == {}


def test_private_names_are_found_however_they_are_imported():
    program = """
from clausal import Graph, cli
from clausal.logic.closure import close
from clausal.model import _secret, LinkPredictor
import clausal.run.run
import clausal
clausal.train, clausal.training
def inside():
    from clausal.config import tomllib, Settings
"""
    assert sorted(name.partition(",")[0] for name in private_names(program)) == [
        "clausal.cli",
        "clausal.config.tomllib",
        "clausal.logic.closure.close",
        "clausal.model._secret",
        "clausal.run.run.*",
        "clausal.training",
    ]


@pytest.mark.parametrize("module", PUBLIC)
def test_public_names_are_there(module):
    assert [name for name in public_names(module) if not hasattr(import_module(module), name)] == []
