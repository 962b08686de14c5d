"""``clausal predict``: questions in every direction, with any names."""

import csv
import io

import pytest

import clausal as package
from command_line import clausal, refused
from small_graphs import small_facts, train_options, write_small_graph


def ask(run, query, *options):
    result = clausal("predict", run, query, "--format", "json", *options)
    assert result.code == 0, result.stderr
    return result.json


def test_objects_subjects_relations_and_whole_facts_agree_on_scores(finished):
    objects = {answer["object"]: answer["score"] for answer in ask(finished, "manages(person 01, ?)", "-k", "24")}
    subjects = {answer["subject"]: answer["score"] for answer in ask(finished, "manages(?, person 02)", "-k", "24")}
    relations = {answer["relation"]: answer["score"] for answer in ask(finished, "?(person 01, person 02)")}
    (fact,) = ask(finished, "manages(person 01, person 02)")
    assert len(objects) == len(subjects) == 24
    assert set(relations) == {"manages", "outranks", "works_with"}
    for score in (objects["person 02"], subjects["person 01"], relations["manages"]):
        assert score == pytest.approx(fact["score"], abs=1e-6)
    assert ask(finished, "relation?(person 01, person 02)") == ask(finished, "?(person 01, person 02)")


def test_answers_come_best_first_with_rank_and_split(finished):
    run = package.load(finished)
    answers = ask(finished, "works_with(person 01, ?)", "-k", "24")
    assert [answer["rank"] for answer in answers] == list(range(1, 25))
    assert [answer["score"] for answer in answers] == sorted((answer["score"] for answer in answers), reverse=True)
    for answer in answers:
        row = [run.graph.entities.id("person 01"), run.graph.relations.id("works_with")]
        row.append(run.graph.entities.id(answer["object"]))
        splits = [name for name, facts in run.graph.splits.items() if row in facts.tolist()]
        assert answer["split"] == (splits[0] if splits else None)
        assert answer["known"] is bool(splits)


def test_new_leaves_out_exactly_the_known_facts(finished):
    everything = ask(finished, "manages(?, person 05)", "-k", "100")
    new = ask(finished, "manages(?, person 05)", "-k", "100", "--new")
    expected = [answer["subject"] for answer in everything if not answer["known"]]
    assert [answer["subject"] for answer in new] == expected
    assert len(new) < len(everything)
    assert ask(finished, "manages(person 00, person 01)", "--new") == []


def test_k_is_the_number_of_answers(finished):
    assert len(ask(finished, "manages(person 01, ?)")) == 10
    assert len(ask(finished, "manages(person 01, ?)", "-k", "1")) == 1


def test_csv_and_table_have_the_same_answers(finished):
    answers = ask(finished, "manages(person 01, ?)", "-k", "3")
    printed = clausal("predict", finished, "manages(person 01, ?)", "-k", "3", "--format", "csv").stdout
    rows = list(csv.DictReader(io.StringIO(printed)))
    assert [row["object"] for row in rows] == [answer["object"] for answer in answers]
    assert [float(row["score"]) for row in rows] == [answer["score"] for answer in answers]
    table = clausal("predict", finished, "manages(person 01, ?)", "-k", "3").stdout
    assert all(answer["object"] in table for answer in answers)


@pytest.mark.parametrize(
    ("query", "fragments"),
    [
        ("manages", ["cannot read the query 'manages'", "write relation(subject, ?)"]),
        ("", ["cannot read the query"]),
        ("manages()", ["cannot read the query"]),
        ("manages(person 01)", ["cannot read the query"]),
        ("(person 01, ?)", ["cannot read the query"]),
        ("manages(?, ?)", ["asks for more than one name"]),
        ("?(?, person 01)", ["asks for more than one name"]),
        ("manges(person 01, ?)", ["unknown relation 'manges'", "did you mean 'manages'?"]),
        ("manages(persn 01, ?)", ["unknown entity 'persn 01'", "did you mean 'person 01'?"]),
        ("manages(?, Person 01)", ["unknown entity 'Person 01'", "did you mean 'person 01'?"]),
        ('manages("person, 01", ?)', ["unknown entity 'person, 01'"]),
        ("manages(person 01, ?" + ")" * 2000, []),
        ("(" * 3000 + "," * 3000 + ")", []),
    ],
)
def test_questions_that_cannot_be_answered_are_explained(query, fragments, finished):
    refused(clausal("predict", finished, query), *fragments)


@pytest.mark.parametrize("k", ["0", "-3"])
def test_k_below_one_is_refused(k, finished):
    refused(clausal("predict", finished, "manages(person 01, ?)", "-k", k), "k must be at least 1")


ODD = {
    "person 01": "Washington, D.C.",
    "person 02": "Bob (the builder)",
    "person 03": 'the "great"',
    "person 04": "O'Neil",
    "person 05": '"all quoted"',
    "person 06": "[red]:smile:[/red]\\",
    "person 07": "\x1b[31mred",
    "person 08": "a), (b",
    "manages": "is boss (of)",
    "works_with": "works, with",
}


@pytest.fixture(scope="module")
def odd_run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("odd")
    facts = [tuple(ODD.get(name, name) for name in fact) for fact in small_facts()]
    graph = write_small_graph(folder / "graph", facts)
    (graph / "clauses.txt").write_text('"is boss (of)"(X, Y) => "works, with"(X, Y)\n')
    assert clausal(*train_options(graph), "--out", folder / "run").code == 0
    return folder / "run"


@pytest.mark.parametrize("name", [name for key, name in ODD.items() if key.startswith("person")])
@pytest.mark.parametrize("relation", ["is boss (of)", '"is boss (of)"', "works, with"])
def test_names_with_commas_brackets_and_quotes_need_no_care(name, relation, odd_run):
    escaped = name.replace('"', '\\"')
    for written in (name, f'"{escaped}"'):
        assert {answer["subject"] for answer in ask(odd_run, f"{relation}({written}, ?)")} == {name}
        assert {answer["object"] for answer in ask(odd_run, f"{relation}(?, {written})")} == {name}
        assert ask(odd_run, f"{relation}({written}, {written})")[0]["subject"] == name


def test_names_are_printed_as_they_are_but_cannot_steer_the_terminal(odd_run):
    result = clausal("predict", odd_run, "is boss (of)(person 00, ?)", "-k", "24")
    assert "[red]:smile:[/red]\\ " in result.stdout
    assert "\\x1b[31mred" in result.stdout
    assert "\x1b" not in result.stdout
    assert "\x1b" not in clausal("predict", odd_run, "is boss (of)(\x1b[31mrde, ?)").stderr


@pytest.mark.parametrize("format", ["table", "csv", "json"])
def test_names_beyond_the_terminals_encoding_are_printed_with_escapes(format, tmp_path):
    facts = [tuple(name.replace("person", "людина 🦉") for name in fact) for fact in small_facts()]
    graph = write_small_graph(tmp_path / "graph", facts)
    assert clausal(*train_options(graph, train__epochs=1), "--out", tmp_path / "run").code == 0
    query = "manages(?, людина 🦉 01)"
    result = clausal("predict", tmp_path / "run", query, "--format", format, encoding="ascii")
    assert result.code == 0
    assert "\\u043b\\u044e\\u0434" in result.stdout
