"""The page about the method names files and functions that exist, few enough to read."""

import re
from importlib import import_module
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "explanation" / "method.md"


def tables():
    """The two tables of what to read: rows of a file and the names in it."""
    section = PAGE.read_text(encoding="utf-8").split("## Read it in the code")[1].split("\n## ")[0]
    found = []
    for block in re.findall(r"(?:^\|.*\n)+", section, re.MULTILINE):
        rows = [row.strip().strip("|").split(" | ") for row in block.strip().splitlines()[2:]]
        found.append([(file.strip().strip("`"), re.findall(r"`([\w.]+)`", names)) for file, names in rows])
    return found


def test_algorithm_1_is_read_in_six_files_and_a_closed_form_in_three():
    algorithm, closed_forms = tables()
    assert len({file for file, _ in algorithm}) <= 6
    assert closed_forms[0][0] == "adversary/paper_table.py"
    assert len(closed_forms) - 1 <= 3


@pytest.mark.parametrize(("file", "names"), [row for table in tables() for row in table])
def test_each_name_is_in_its_file(file, names):
    module = import_module(f"clausal.{file.removesuffix('.py').replace('/', '.')}")
    assert names
    for name in names:
        found = module
        for part in name.split("."):
            found = getattr(found, part)
        assert getattr(found, "__module__", module.__name__) == module.__name__, name


def test_every_file_in_backticks_exists():
    package = Path(import_module("clausal").__file__).parent
    for name in re.findall(r"`([\w/]+(?:\.py|/))`", PAGE.read_text(encoding="utf-8")):
        assert (package / name).exists(), name
