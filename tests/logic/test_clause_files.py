"""The rule files of the published data sets, read as they are; and reading itself."""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from clausal.logic import Clause, parse_clauses, read_clauses, shape_of


@pytest.fixture
def rule_files() -> Path:
    """The folder with the data sets' rule files."""
    folder = Path(os.environ.get("CLAUSAL_DATA") or Path(__file__).parents[3] / "shared" / "data")
    if not (folder / "fb122" / "clauses.pl").is_file() or not (folder / "wn18" / "clauses.pl").is_file():
        pytest.skip(f"the rule files of FB122 and WN18 are not in {folder}; set CLAUSAL_DATA to their folder")
    return folder


def meanings(clauses: list[Clause]) -> set[tuple[object, ...]]:
    return {shape_of(clause) for clause in clauses}


@pytest.mark.parametrize(
    ("name", "count"),
    [
        ("fb122/clauses.pl", 47),
        ("fb122/clauses-simple.pl", 38),
        ("fb122/fb122_rule", 47),
        ("fb122/fb122_rules", 47),
        ("wn18/clauses.pl", 14),
        ("wn18/wn18_rule", 14),
        ("wn18/wn18_rules", 14),
    ],
)
def test_published_files_have_their_number_of_clauses(rule_files: Path, name: str, count: int) -> None:
    clauses = read_clauses(rule_files / name)
    assert len(clauses) == len(meanings(clauses)) == count
    assert all(shape.constants == 0 for shape, _, _ in map(shape_of, clauses))
    assert [clause.line for clause in clauses] == list(range(1, count + 1))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("fb122/clauses.pl", "fb122/fb122_rule"),
        ("fb122/clauses.pl", "fb122/fb122_rules"),
        ("wn18/clauses.pl", "wn18/wn18_rule"),
        ("wn18/clauses.pl", "wn18/wn18_rules"),
    ],
)
def test_both_notations_of_a_data_set_mean_the_same_clauses(rule_files: Path, one: str, other: str) -> None:
    assert meanings(read_clauses(rule_files / one)) == meanings(read_clauses(rule_files / other))


def test_the_simple_clauses_of_fb122_are_those_with_one_atom_in_the_body(rule_files: Path) -> None:
    every = read_clauses(rule_files / "fb122" / "clauses.pl")
    simple = read_clauses(rule_files / "fb122" / "clauses-simple.pl")
    assert meanings(simple) == meanings([clause for clause in every if len(clause.atoms) == 2])


def test_a_compressed_file_reads_like_the_plain_one(tmp_path: Path) -> None:
    text = "p(X, Y) => q(X, Y)\r\n# comment\r\nq(X, Y) => r(Y, X) <0.5>\r\n"
    (tmp_path / "rules").write_bytes(text.encode())
    (tmp_path / "rules.gz").write_bytes(gzip.compress(text.encode()))
    plain, compressed = read_clauses(tmp_path / "rules"), read_clauses(str(tmp_path / "rules.gz"))
    assert plain == compressed
    assert [clause.line for clause in compressed] == [1, 3]
    assert compressed[0].source == str(tmp_path / "rules.gz")


def test_a_byte_order_mark_is_not_part_of_the_first_name(tmp_path: Path) -> None:
    (tmp_path / "rules").write_bytes(b"\xef\xbb\xbfp(X, Y)\n")
    assert [str(clause) for clause in read_clauses(tmp_path / "rules")] == ["p(X, Y)"]


def test_thousands_of_clauses_are_read_in_seconds() -> None:
    text = "\n".join(f"/r/{n}./s(X,Z) :- /p/{n}(X,Y), /q/{n}(Y,Z)" for n in range(5000))
    start = time.process_time()
    assert len(parse_clauses(text)) == 5000
    assert time.process_time() - start < 5  # about half a second; the bound is for slow machines


def test_importing_the_package_imports_neither_the_parser_generator_nor_torch() -> None:
    code = "import sys, clausal.logic; print([m for m in ('lark', 'torch', 'numpy') if m in sys.modules])"
    output = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert output.strip() == "[]"
