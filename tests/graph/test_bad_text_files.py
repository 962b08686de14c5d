"""A bad file of facts is one message with the file, the line and what was expected."""

import csv
import gzip
import re

import pytest
from graph_files import FACTS, lines, write

from clausal.errors import InputError
from clausal.graph import load_graph

GOOD = lines(FACTS)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        (
            "f.tsv",
            GOOD + "a\tb\n",
            r"f.tsv:5: 2 columns, expected 3 \(subject, relation, object\) separated by tabs",
        ),
        (
            "f.tsv",
            GOOD + "\n\na\tb\tc\td\n",
            r"f.tsv:7: 4 columns, expected 3 .* separated by tabs: 'a\\tb\\tc\\td'",
        ),
        ("f.txt", "a b\n", r"f.txt:1: 2 columns, expected 3 .* separated by spaces: 'a b'"),
        ("f.txt", "a b c\na b c d\n", r"f.txt:2: 4 columns, expected 3 .* separated by spaces"),
        ("f.csv", 'a,"b,c",d\na,b\n', r"f.csv:2: 2 columns, expected 3 .* separated by commas"),
        ("f.csv", 'a,"x\ny",d\na,b\n', r"f.csv:3: 2 columns"),
        ("f.csv", 'a,b,c\n"a,b,c\n', r"f.csv:2: 1 column, expected 3"),
        ("f.tsv", "one line of prose\n", r"f.tsv:1: 1 column, expected 3"),
        ("f.tsv", "a\tr\tb\na\t\tb\n", r"f.tsv:2: the relation is empty: 'a\\t\\tb'"),
        ("f.csv", 'a,r,b\n"",r,b\n', r"f.csv:2: the subject is empty"),
        ("f.tsv", "\t\t\n", r"f.tsv: the file holds no facts"),
        ("f.tsv", "", r"f.tsv: the file holds no facts; expected one per line: subject, relation, object"),
        ("f.tsv", "\n \n\n", r"f.tsv: the file holds no facts"),
        ("f.csv", "subject,relation,object\n", r"f.csv: the file holds no facts"),
        ("f.txt", "", r"f.txt: the file holds no facts"),
        ("f.tsv", GOOD.encode() + b"a\tr\tK\xf6ln\n", r"f.tsv:5: byte 6 of the line \(0xf6\) is not UTF-8"),
        ("f.txt", b"a r \xff\n", r"f.txt:1: byte 5 of the line \(0xff\) is not UTF-8"),
        ("f.tsv", GOOD.encode("utf-16-le"), r"f.tsv: the file looks like UTF-16 without a byte order mark"),
        ("f.tsv", GOOD.encode("utf-32"), r"f.tsv: the file is UTF-32; save it as UTF-8"),
    ],
)
@pytest.mark.parametrize("gz", ["", ".gz"])
def test_the_first_bad_line_is_named(tmp_path, name, content, message, gz):
    path = write(tmp_path / (name + gz), content)
    with pytest.raises(InputError, match=message.replace(name, re.escape(name + gz), 1)) as caught:
        load_graph(path)
    assert "\n" not in str(caught.value)


def test_a_bad_line_after_many_blocks_is_named(tmp_path):
    content = "subject\tsome relation\tobject of the fact\n" * 400_000 + "a\tb\n"
    with pytest.raises(InputError, match=r"f\.tsv:400001: 2 columns"):
        load_graph(write(tmp_path / "f.tsv", content))


def test_a_long_bad_line_is_shown_in_part(tmp_path):
    with pytest.raises(InputError) as caught:
        load_graph(write(tmp_path / "f.tsv", "x" * 100_000 + "\n"))
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize(
    ("name", "pattern"),
    [
        ("f.tsv.gz", "e{}\tr\te{}\n"),
        ("f.txt.gz", "e{} r e{}\n"),
        ("f.csv.gz", "e{},r,e{}\n"),
        ("f.nt.gz", "<http://e/{}> <http://r> <http://e/{}> .\n"),
        ("f.parquet.gz", "{} {}"),
    ],
)
@pytest.mark.parametrize("share", [0.01, 0.5, 0.999])
def test_a_truncated_gzip_file_is_said_to_end_too_early(tmp_path, name, pattern, share):
    content = "".join(pattern.format(i * 7919 % 10007, i) for i in range(20_000))
    whole = gzip.compress(content.encode())
    (tmp_path / name).write_bytes(whole[: int(len(whole) * share)])
    with pytest.raises(InputError, match=rf"{re.escape(name)}: the gzip file ends too early"):
        load_graph(tmp_path / name)


@pytest.mark.parametrize("name", ["f.tsv.gz", "f.nt.gz", "f.parquet.gz"])
def test_what_is_no_gzip_file_is_said_to_be_none(tmp_path, name):
    (tmp_path / name).write_bytes(GOOD.encode())
    with pytest.raises(InputError, match="not a gzip file, or a damaged one"):
        load_graph(tmp_path / name)


def test_a_gzip_file_with_a_flipped_byte_is_said_to_be_damaged(tmp_path):
    content = bytearray(gzip.compress(lines([(f"e{i * 7919 % 10007}", "r", f"e{i}") for i in range(5_000)]).encode()))
    content[-6] ^= 0xFF  # in the check sum: the text itself decompresses
    (tmp_path / "f.tsv.gz").write_bytes(content)
    with pytest.raises(InputError, match=r"f\.tsv\.gz: not a gzip file, or a damaged one"):
        load_graph(tmp_path / "f.tsv.gz")


@pytest.mark.parametrize("columns", ["sr", "srx", "sroo", "", "SRO"])
def test_columns_must_be_an_order_of_the_three_letters(tmp_path, columns):
    with pytest.raises(InputError, match=f"columns '{columns}' is not an order .* such as 'sro'"):
        load_graph(write(tmp_path / "f.tsv", GOOD), columns=columns)


def test_a_row_that_is_neither_utf8_nor_three_columns_gets_the_message_alone(tmp_path, monkeypatch):
    noise = []
    monkeypatch.setattr("sys.unraisablehook", noise.append)
    path = tmp_path / "facts.tsv"
    path.write_bytes(b"a\tr\tb\ncaf\xe9;r;b\n")
    with pytest.raises(InputError, match=r"facts.tsv:2"):
        load_graph(path)
    assert not noise


def test_a_long_field_does_not_hide_the_bad_line(tmp_path):
    path = write(tmp_path / "facts.csv", f"a,r,b\n{'x' * 200_000},r,b\nc,r\n")
    with pytest.raises(InputError, match=r"facts\.csv:3: 2 columns, expected 3"):
        load_graph(path)


def test_a_quote_that_is_left_open_is_named_by_its_line(tmp_path):
    path = write(tmp_path / "facts.csv", 'a,r,b\na,"r,b\n' + "a,r,b\n" * 40_000)
    with pytest.raises(InputError, match=r"facts\.csv:2: 2 columns, expected 3 .* is a quote left open\?"):
        load_graph(path)
    assert csv.field_size_limit() == 131_072  # as others may rely on
