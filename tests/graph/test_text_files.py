"""Facts come out of text files as written, whatever the delimiter, quoting, line ends and compression."""

import csv
import io
import string

import pytest
from graph_files import FACTS, lines, named, write
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from clausal.graph import load_graph
from clausal.graph.odd_names import MISSING

WORDS = [
    ("anna", "knows", "bob"),
    ("bob", "knows", "carla"),
    ("carla", "likes", "a,b"),
    ("x/y", "knows", "anna"),
]


def load_all(path, **options):
    graph = load_graph(path, valid=0, test=0, **options)
    return named(graph, graph.train)


def as_csv(facts):
    text = io.StringIO()
    csv.writer(text, lineterminator="\r\n").writerows(facts)
    return text.getvalue()


@pytest.mark.parametrize("gz", ["", ".gz"])
@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("facts.tsv", lines(FACTS)),
        ("facts.tab", lines(FACTS)),
        ("facts.txt", lines(FACTS)),
        ("facts", lines(FACTS)),
        ("facts.data", lines(FACTS)),
        ("facts.csv", lines(FACTS, ",")),
        ("facts.txt", lines(FACTS, ",")),
        ("facts.csv", as_csv(FACTS)),
    ],
)
def test_each_ending_and_delimiter_gives_the_same_facts(tmp_path, name, content, gz):
    assert load_all(write(tmp_path / (name + gz), content)) == FACTS


@pytest.mark.parametrize("gz", ["", ".gz"])
def test_spaces_separate_when_there_are_no_tabs(tmp_path, gz):
    ragged = "anna knows  bob\n  bob \t knows carla \n\ncarla likes a,b   \r\nx/y knows anna"
    assert load_all(write(tmp_path / f"facts.txt{gz}", ragged)) == WORDS


def test_csv_quoting_holds_commas_quotes_and_newlines(tmp_path):
    facts = [("a,b", 'say "hi"', "two\nlines"), ("plain", "r", "in  between")]
    assert load_all(write(tmp_path / "facts.csv", as_csv(facts))) == facts


@pytest.mark.parametrize("name", ["facts.tsv", "facts.txt"])
def test_quotes_are_ordinary_characters_between_tabs(tmp_path, name):
    facts = [('"a', "r", 'b"'), ('"', "r", '"c"'), ("it's", '""', "d")]
    assert load_all(write(tmp_path / name, lines(facts))) == facts


def test_quotes_are_ordinary_characters_between_spaces(tmp_path):
    facts = [('"a', "r", 'b"'), ("c", '"', "d,e")]
    assert load_all(write(tmp_path / "facts.txt", lines(facts, " "))) == facts


@pytest.mark.parametrize("delimiter", ["\t", ",", " "])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_line_ends_byte_order_mark_and_blank_lines_do_not_matter(tmp_path, delimiter, end):
    facts = [fact for fact in WORDS if "," not in fact[2]]
    text = end * 2 + (end + "  " + end).join(delimiter.join(fact) for fact in facts)
    assert load_all(write(tmp_path / "facts.txt", b"\xef\xbb\xbf" + text.encode())) == facts


@pytest.mark.parametrize("order", ["sro", "sor", "rso", "ros", "osr", "ors"])
def test_columns_say_which_column_is_which(tmp_path, order):
    shuffled = [tuple(fact["sro".index(letter)] for letter in order) for fact in FACTS]
    assert load_all(write(tmp_path / "facts.tsv", lines(shuffled)), columns=order) == FACTS


@pytest.mark.parametrize("header", ["subject,relation,object", "Head,Relation,Tail", "subject,predicate,object"])
def test_a_header_is_no_fact(tmp_path, header):
    assert load_all(write(tmp_path / "facts.csv", header + "\n" + lines(FACTS, ","))) == FACTS


def test_a_header_after_a_byte_order_mark_is_no_fact(tmp_path):
    content = b"\xef\xbb\xbfsubject,relation,object\r\n" + lines(FACTS, ",", "\r\n").encode()
    assert load_all(write(tmp_path / "facts.csv", content)) == FACTS


def test_a_header_decides_the_order_of_columns(tmp_path):
    turned = [(o, r, s) for s, r, o in FACTS]
    assert load_all(write(tmp_path / "facts.tsv", "tail\trelation\thead\n" + lines(turned))) == FACTS


@pytest.mark.parametrize("name", ["BASE", "prefix", "@base"])
def test_words_of_turtle_can_be_names(tmp_path, name):
    facts = [(name, "knows", "bob"), ("bob", "knows", name)]
    assert load_all(write(tmp_path / "facts.tsv", lines(facts))) == facts


def test_the_vocabulary_is_sorted_by_name_over_all_splits(tmp_path):
    write(tmp_path / "train.tsv", "z\tr2\tm\n")
    write(tmp_path / "valid.tsv", "b\tr1\tz\n")
    write(tmp_path / "test.tsv", "é\tr3\tB\n")
    graph = load_graph(tmp_path)
    assert list(graph.entities) == sorted({"z", "m", "b", "é", "B"})
    assert list(graph.relations) == ["r1", "r2", "r3"]


def test_files_of_several_blocks_are_read_in_order(tmp_path):
    facts = [(f"entity number {i % 1013} of the graph", f"r{i % 7}", f"e{i}") for i in range(300_000)]
    path = write(tmp_path / "facts.tsv", lines(facts))
    assert path.stat().st_size > 8 << 20
    assert load_all(path) == facts


NAMES = st.text(st.characters(exclude_characters="\t\n\r", exclude_categories=["Cs"]), min_size=1).filter(
    lambda name: name == name.strip() and not name.startswith(("#", "\ufeff")) and name not in MISSING
)


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    facts=st.lists(st.tuples(NAMES, NAMES, NAMES), min_size=1, unique=True),
    ending=st.sampled_from(["tsv", "txt"]),
)
def test_any_unicode_names_survive_a_tsv_file(tmp_path, facts, ending):
    path = tmp_path / f"facts.{ending}"
    assert load_all(write(path, lines(facts)), header="no") == facts


@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    facts=st.lists(
        st.tuples(
            *[st.text(string.ascii_letters + '",;\t\n é', min_size=1).filter(lambda name: name == name.strip())] * 3
        ),
        min_size=1,
        unique=True,
    )
)
def test_names_with_commas_quotes_and_newlines_survive_a_csv_file(tmp_path, facts):
    path = tmp_path / "facts.csv"
    assert load_all(write(path, "sep=,\r\n" + as_csv(facts)), header="no") == facts
