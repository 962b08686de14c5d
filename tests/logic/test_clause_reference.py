"""The reference page of the clause language says what the parser does."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import clausal.logic
from clausal.errors import InputError
from clausal.logic import parse_clause, parse_clauses

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "clauses.md"


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)


def test_the_page_shows_the_grammar_that_is_used() -> None:
    grammar = Path(clausal.logic.__file__).with_name("grammar.lark").read_text(encoding="utf-8")
    assert blocks("lark") == [grammar]


def test_each_example_on_the_page_is_read() -> None:
    assert sum(len(parse_clauses(block)) for block in blocks("clauses")) == 19


def test_each_operator_in_the_table_is_read_as_its_row_says() -> None:
    table = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| ")][1:]
    for row in table:
        _, written, example, _ = (cell.replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", row)[1:])
        spellings, text = re.findall(r"`([^`]+)`", written), example.strip(" `")
        assert spellings[0] in text
        operator = rf"(?<![XYZ]){re.escape(spellings[0])}"  # the comma between X and Y is none
        for spelling in spellings:
            assert parse_clause(re.sub(operator, f"{spelling} ", text)) == parse_clause(text)


def test_the_error_on_the_page_is_the_error_that_is_raised() -> None:
    shown = blocks("text")[0]
    line = shown.split("\n")[1].strip()
    with pytest.raises(InputError) as caught:
        parse_clauses(f"\n\n{line}", "rules.pl")
    assert str(caught.value) == shown.rstrip("\n")
