"""Names from files are printed as they are: nothing in them means anything to the terminal or to rich."""

import pytest

from command_line import clausal, clausal_process
from small_graphs import quick, write_facts

CLAUSES = "p(X, ':smile:') => q(X, ':smile:')\np(X, Y) => '[bold]'(X, Y)\nunknown(X, ':heart:') => p(X, ':heart:')\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("odd")
    facts = [(":smile:", r, f"e{n}") for n in range(6) for r in ("p", "q", "[bold]")]
    write_facts(folder / "train.tsv", facts + [(o, r, s) for s, r, o in facts])
    (folder / "clauses.txt").write_text("".join(CLAUSES.splitlines(keepends=True)[:2]))
    return folder


def test_certify_prints_names_as_they_are(folder, tmp_path):
    options = ["--clauses", folder / "clauses.txt", *quick(train__epochs=1), "--out", tmp_path / "run"]
    assert clausal_process("train", folder, *options).returncode == 0
    printed = clausal_process("certify", tmp_path / "run").stdout
    assert "1. p(X, :smile:) => q(X, :smile:)" in printed
    assert "2. p(X, Y) => '[bold]'(X, Y)" in printed


def test_clauses_prints_names_as_they_are(folder, tmp_path):
    (tmp_path / "rules.txt").write_text(CLAUSES)
    printed = clausal_process("clauses", tmp_path / "rules.txt", "--graph", folder).stdout
    assert "p(X, :smile:) => q(X, :smile:)" in printed
    assert "unknown constant ':heart:'" in printed
    assert "😄" not in printed


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252", "utf-8", "UTF8"])
def test_json_is_json_in_every_encoding(encoding, tmp_path):
    (tmp_path / "facts.tsv").write_text("Zoë 😀\tknows\tcafé\n", encoding="utf-8")
    (tmp_path / "clauses.txt").write_text("knows(X, Y) => knows(Y, X)\n")
    arguments = ["prove", tmp_path / "facts.tsv", "knows(café, Zoë 😀)", "--clauses", tmp_path / "clauses.txt"]
    result = clausal(*arguments, "--format", "json", encoding=encoding)
    assert result.code == 0, result.stderr
    assert result.json["fact"] == {"subject": "café", "relation": "knows", "object": "Zoë 😀"}
    assert result.stdout.isascii() == (encoding.lower() not in ("utf-8", "utf8"))
