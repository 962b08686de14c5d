"""The fast reader of N-Triples and N-Quads says what pyoxigraph says, line by line, whatever the lines hold."""

from __future__ import annotations

import io

import pyoxigraph
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clausal.graph.rdf import lines
from clausal.graph.rdf.lines import LineError, read_lines
from clausal.graph.rdf.statements import join_statements
from clausal.graph.rdf.terms import Naming, tables_of

INSIDE = st.text(st.characters(exclude_characters='<>"{}|^`\\\n\r ', exclude_categories=["Cs", "Cc"]), max_size=6)
ODD = st.sampled_from(
    ["<>", "<a>", "<http://e/a b>", "<http://e/\\u00e9>", "<mailto:x@y.z>", "<HTTP://E/{}>", "<x\\u003ay>", "<ex:>"]
)
IRI = st.one_of(st.builds("<http://e/{}>".format, INSIDE), ODD)
BLANK = st.sampled_from(["_:a", "_:b-1", "_:1.x", "_:é", "_:a_b", "_:_"])
VALUE = st.text(st.characters(exclude_characters='"\\\n\r', exclude_categories=["Cs"]), max_size=8)
ESCAPED = st.sampled_from(["\\n", "\\u00e9", '\\"', "\\\\", "\\t", "\\U0001F600", ""])
SUFFIX = st.one_of(
    st.sampled_from(["", "@en", "@de-CH", "@en-gb-oed", "@en--ltr", "^^<http://www.w3.org/2001/XMLSchema#string>"]),
    st.builds("^^{}".format, IRI),
)
LITERAL = st.builds('"{}{}"{}'.format, VALUE, ESCAPED, SUFFIX)
SPACE = st.sampled_from([" ", "  ", "\t", " \t "])
NO_SPACE = st.sampled_from(["", " ", "\t"])
TRIPLE_TERM = st.just("<<( <http://e/a> <http://e/b> <http://e/c> )>>")
OBJECT = st.one_of(IRI, BLANK, LITERAL, TRIPLE_TERM)
END = st.sampled_from(["\n", "\r\n", " # a comment\n", "\n\n", "\n# a line\n", "\n \t\n"])


def statement(graph):
    return st.builds("{}{}{}{}{}{}{} .{}".format, st.one_of(IRI, BLANK), SPACE, IRI, SPACE, OBJECT, SPACE, graph, END)


TRIPLES = st.lists(statement(st.just("")), min_size=1, max_size=12)
QUADS = st.lists(statement(st.one_of(st.just(""), IRI, BLANK)), min_size=1, max_size=12)
NAMINGS = st.builds(Naming, st.booleans(), st.sampled_from([None, "_:", "_:file2-", "urn:x:"]))


def outcome(statements):
    literals = [] if statements.literals is None else statements.literals.to_pylist()
    return statements.facts.to_pylist(), literals, +statements.left_out, statements.graphs


def read(text, quads, naming):
    return outcome(join_statements(list(read_lines(io.BytesIO(text.encode()), quads, naming, lambda: None))))


def by_pyoxigraph(text, quads, naming):
    format = pyoxigraph.RdfFormat.N_QUADS if quads else pyoxigraph.RdfFormat.N_TRIPLES
    parsed = pyoxigraph.parse(text.encode(), format=format, lenient=True)
    return outcome(tables_of([(q.subject, q.predicate, q.object, q.graph_name) for q in parsed], naming))


@settings(max_examples=150, deadline=None)
@given(text=st.one_of(TRIPLES, QUADS).map("".join), naming=NAMINGS, quads=st.just(True))
@pytest.mark.parametrize("kernel", [True, False])
def test_lines_are_read_as_pyoxigraph_reads_them(text, naming, quads, kernel):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lines, "_WORTH_A_KERNEL", 0 if kernel else 1 << 20)
        patch.setattr(lines, "_BLOCK_BYTES", 200)
        assert read(text, quads, naming) == by_pyoxigraph(text, quads, naming)


@settings(max_examples=100, deadline=None)
@given(text=TRIPLES.map("".join), naming=NAMINGS)
def test_triples_are_read_as_pyoxigraph_reads_them(text, naming):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lines, "_WORTH_A_KERNEL", 0)
        assert read(text, False, naming) == by_pyoxigraph(text, False, naming)


NOISE = st.text(st.sampled_from('<>":/_.@^#ab \t\r\\é'), max_size=12)


@settings(max_examples=200, deadline=None)
@given(good=TRIPLES, noise=NOISE, place=st.integers(0, 12))
def test_what_the_kernel_takes_pyoxigraph_takes_too(good, noise, place):
    """A line that is not N-Triples is refused by both, with the number of the line."""
    place = min(place, len(good))
    text = "".join([*good[:place], noise + "\n", *good[place:]])
    naming = Naming(True, "_:")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lines, "_WORTH_A_KERNEL", 0)
        try:
            expected = by_pyoxigraph(text, False, naming)
        except SyntaxError:
            with pytest.raises(LineError) as caught:
                read(text, False, naming)
            assert caught.value.line == "".join(good[:place]).count("\n") + 1
            return
        try:
            assert read(text, False, naming) == expected
        except LineError:  # pyoxigraph lets a term go on in the next line; N-Triples does not
            assert '"' in noise or "<" in noise


def test_a_term_ends_on_its_line_in_small_and_in_large_blocks(monkeypatch):
    text = '<http://a> <http://b> "x\ny" .\n'
    for least in (0, 1 << 20):
        monkeypatch.setattr(lines, "_WORTH_A_KERNEL", least)
        with pytest.raises(LineError) as caught:
            read(text, False, Naming(True, "_:"))
        assert caught.value.line == 1


def test_bad_lines_of_later_blocks_are_numbered(monkeypatch):
    good = "<http://e/a> <http://e/r> <http://e/b> .\n" * 5_000
    for least in (0, 1 << 20):
        monkeypatch.setattr(lines, "_WORTH_A_KERNEL", least)
        monkeypatch.setattr(lines, "_BLOCK_BYTES", 10_000)
        for bad in ("<a> <b>\n", "<http://e/a> <http://e/r> é\n"):
            with pytest.raises(LineError) as caught:
                read(good + bad + good, False, Naming(False, None))
            assert caught.value.line == 5_001
        with pytest.raises(LineError, match="UTF-8") as caught:
            list(read_lines(io.BytesIO(good.encode() + b'<a:a> <a:b> "\xff" .\n'), False, Naming(False, None), print))
        assert caught.value.line == 5_001


def test_a_line_without_an_end_is_not_waited_for(monkeypatch):
    monkeypatch.setattr(lines, "_BLOCK_BYTES", 100)
    monkeypatch.setattr(lines, "_LONGEST_LINE", 1_000)
    with pytest.raises(LineError, match="a line of more than"):
        read("\n" + "x" * 5_000, False, Naming(False, None))
