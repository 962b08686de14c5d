"""What a user reads when a clause cannot be accepted: where, what is wrong, and the spot."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clausal.errors import InputError
from clausal.logic import And, Atom, Clause, Variable, parse_clause, parse_clauses, read_clauses

TWO = "but a relation takes two, a subject and an object"
ATOM = "expected an atom such as p(X, Y)"
SECOND_ARROW = "a second arrow; put one of the two implications in parentheses"
FUNCTION = "a term in a term; clauses are function-free, so an argument is a variable or a constant"
ESCAPES = r"these are known: \\ \' \" \n \r \t \uXXXX \UXXXXXXXX"
OPERATOR = "expected an operator (',', '|', '=>', ':-') or the end of the clause"


@pytest.mark.parametrize(
    ("text", "column", "problem"),
    [
        ("q(X, Y), p(X)", 10, f"wrong arity: 'p' has 1 argument, {TWO}"),
        ("p(X, Y, Z)", 1, f"wrong arity: 'p' has 3 arguments, {TWO}"),
        ("p()", 1, f"wrong arity: 'p' has 0 arguments, {TWO}"),
        ("p => q", 3, "expected '(' after the relation's name, found '=>'"),
        ("a\tb\tc", 3, "expected '(' after the relation's name, found 'b'"),
        ("p(X Y)", 5, "expected ',' or ')', found 'Y'"),
        ("p(X, Y", 7, "expected ',' or ')', found the end of the line"),
        ("p(, Y)", 3, "expected a variable or a constant, found ','"),
        ("p(X, ?)", 6, "expected a variable or a constant, found '?'"),
        ("p(X, ?_)", 6, "'?_' is not a variable; write '_' for a new one"),
        ("(p(X, Y)", 9, "expected ')', found the end of the line"),
        ("p(X, Y))", 8, "a ')' without its '('"),
        ("p(X, Y) =>", 11, f"{ATOM}, found the end of the line; a clause stays on one line"),
        ("p(X, Y), % q", 9, f"{ATOM}, found the end of the line; a clause stays on one line"),
        ("=> p(X, Y)", 1, f"{ATOM}, found '=>'"),
        ("p(X, Y) and q(X, Y)", 9, f"{OPERATOR}, found 'and'"),
        ("p(X, Y) => q(X, Y) => r(X, Y)", 20, SECOND_ARROW),
        ("(p(X, Y) :- q(X, Y) :- r(X, Y))", 21, SECOND_ARROW),
        ("p(f(X), Y)", 4, FUNCTION),
        ("p(X, U.S.)", 9, "a name that ends with '.' needs quotes"),
        ("p.(X, Y)", 2, "a name that ends with '.' needs quotes"),
        ("http://x.org/#p(X, Y)", 14, "a name with '#' in it needs quotes"),
        ("p(X, a@b)", 7, "a name with '@' in it needs quotes"),
        ("p(X, 'a b)", 6, "the quote ' that opens here is not closed"),
        ('"p(X, Y)', 1, 'the quote " that opens here is not closed'),
        (r"p(X, 'a\q')", 6, rf"a wrong escape in 'a\q'; {ESCAPES}"),
        (r"'\Uffffffff'(X, Y)", 1, rf"a wrong escape in '\Uffffffff'; {ESCAPES}"),
        ("p(X, Y) <-1>", 9, "a weight must be a finite number of at least 0, not -1"),
        ("p(X, Y) <inf>", 9, "a weight must be a finite number of at least 0, not inf"),
        ("p(X, Y) <nan>", 9, "a weight must be a finite number of at least 0, not nan"),
        ("p(X, Y) <1e999>", 9, "a weight must be a finite number of at least 0, not 1e999"),
        ("p(X, Y) <high>", 9, "a weight is a number, as in <0.9>, or <hard>, not 'high'"),
        ("p(X, Y) <0.9", 9, "a weight is a number, as in <0.9>, or <hard>"),
        ("0.5::p(X, Y) <0.9>", 14, "a clause has one weight, and this is its second"),
        ("p(X, Y) <0.5> <0.9>", 15, "a clause has one weight or <hard>, and this is its second"),
        ("p(X, Y) <hard> <0.9>", 16, "a clause has one weight or <hard>, and this is its second"),
        ("p(X, Y). q(X, Y).", 10, "the clause has ended; the next one goes on a line of its own"),
        ("\x00", 1, f"{ATOM}, found '\\x00'"),
        ("", 1, f"{ATOM}, found the end of the line; a clause stays on one line"),
        ("~" * 500 + "p(X, Y)", 1, "a formula nested more than 100 levels deep; write it in a flatter way"),
    ],
)  # fmt: skip
def test_each_mistake_is_named_at_its_column(text: str, column: int, problem: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_clause(text)
    assert str(caught.value).split("\n")[0] == f"column {column}: {problem}"


@settings(deadline=None)
@given(st.text(max_size=12) | st.text("pX_x,.()'\"\\~=<>:-|&;%#?0 \n\t", max_size=16))
def test_any_text_is_read_or_refused_at_a_place_inside_it(text: str) -> None:
    try:
        assert isinstance(parse_clause(text), Clause)
    except InputError as error:
        column = int(str(error).split(":")[0].removeprefix("column "))
        assert 1 <= column <= len(text) + 1


def test_the_place_is_as_exact_as_what_is_known() -> None:
    for source, where in ((None, "line 2, column 3"), ("rules.pl", "rules.pl:2:3")):
        with pytest.raises(InputError) as caught:
            parse_clauses("p(X, Y)\n  q(X)", source)
        assert str(caught.value).startswith(f"{where}: wrong arity: 'q'")


def test_the_line_is_shown_with_a_caret_under_the_spot(tmp_path: Path) -> None:
    path = tmp_path / "rules.pl"
    path.write_bytes(b"\xef\xbb\xbfp(X, Y)\r\n\tp(X, Y) => q(X)\r\n")
    with pytest.raises(InputError) as caught:
        read_clauses(path)
    assert str(caught.value) == (
        f"{path}:2:13: wrong arity: 'q' has 1 argument, but a relation takes two, a subject and an object\n"
        "    \tp(X, Y) => q(X)\n"
        "    \t           ^"
    )
    assert caught.value.exit_code == 2


def test_a_long_line_is_cut_around_the_spot() -> None:
    text = ", ".join(["p(X, Y)"] * 1000) + ", q(X), " + ", ".join(["p(X, Y)"] * 1000)
    with pytest.raises(InputError) as caught:
        parse_clause(text)
    _, shown, caret = str(caught.value).split("\n")
    assert len(shown) < 110
    assert shown.strip().startswith("…")
    assert shown.endswith("…")
    assert shown[caret.index("^")] == "q"


@pytest.mark.parametrize(
    ("bad", "rest"),
    [
        (5, None),
        (6, "and 1 more line that cannot be read"),
        (8, "and 3 more lines that cannot be read"),
        (1000, "and at least 995 more lines that cannot be read"),
        (5000, "and at least 995 more lines that cannot be read"),
    ],
)
def test_the_first_five_bad_lines_are_shown_and_the_rest_counted(bad: int, rest: str | None) -> None:
    with pytest.raises(InputError) as caught:
        parse_clauses("good(X, Y)\n" + "bad\n" * bad, "f")
    lines = str(caught.value).split("\n")
    assert [line.split(":")[1] for line in lines if line.startswith("f:")] == ["2", "3", "4", "5", "6"]
    assert len(lines) == (15 if rest is None else 16)
    assert rest is None or lines[-1] == rest


def test_files_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    missing, folder, empty, latin, broken, cut = (
        tmp_path / name for name in ("missing.pl", "folder", "empty.pl", "latin.pl", "broken.pl.gz", "cut.pl.gz")
    )
    folder.mkdir()
    empty.write_text("% nothing\n\n")
    latin.write_bytes(b"p(X, Y)\ncaf\xe9(X, Y)\n")
    broken.write_bytes(b"p(X, Y)")
    cut.write_bytes(gzip.compress(b"p(X, Y)\n" * 100)[:-12])
    expected = {
        missing: f"{missing}: no such file",
        folder: f"{folder}: a folder; expected a file",
        empty: f"{empty}: no clauses in this file; write one per line, as in p(X, Y) => q(X, Y)",
        latin: f"{latin}:2: not UTF-8 text (byte 0xe9); save it as UTF-8",
        broken: f"{broken}: not a gzip file, or a damaged one (Not a gzipped file (b'p(')); copy or download it again",
        cut: f"{cut}: the gzip file ends too early; copy or download it again",
    }
    for path, message in expected.items():
        with pytest.raises(InputError) as caught:
            read_clauses(path)
        assert str(caught.value) == message


def test_nodes_that_mean_nothing_cannot_be_built() -> None:
    atom = Atom("p", Variable("X"), Variable("Y"))
    with pytest.raises(InputError, match="two or more formulas, not 1"):
        And((atom,))
    for weight in (float("nan"), float("inf"), -0.5):
        with pytest.raises(InputError, match=f"finite number of at least 0, not {weight}"):
            Clause(atom, weight)
    for name in ("", "_", "a b", "a-b"):
        with pytest.raises(InputError, match="cannot name a variable"):
            Variable(name)
