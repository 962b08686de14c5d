"""``clausal clauses``: what it prints about a file of rules, and what it converts."""

import csv
import io

import pytest

from clausal.logic import read_clauses
from command_line import clausal, refused
from small_graphs import train_options

RULES = """\
manages(X, Y) => works_with(X, Y) <0.9>
works_with(X, Y) => works_with(Y, X)
works_with(A, B) => works_with(B, A) <0.5>
manages(X, Y), works_with(X, Y) => false
mangaes(X, Y) => outranks(X, 'person 1')
"""


@pytest.fixture
def rules(tmp_path):
    path = tmp_path / "rules.txt"
    path.write_text(RULES)
    return path


def test_the_report_says_what_was_understood(rules, graph_folder):
    result = clausal("clauses", rules, "--graph", graph_folder, "--format", "json")
    assert result.code == 0
    assert "5 clauses, read as clausal" in result.stderr
    report = result.json
    assert report["shapes"][:2] == [
        {"shape": "r0(X, Y) => r0(Y, X)", "clauses": 2, "counted": 2, "hold": 0},
        {"shape": "r0(X, Y) => r1(X, Y)", "clauses": 1, "counted": 1, "hold": 0},
    ]
    relation, constant, variable = report["unknown"][0], report["unknown"][1], report["unknown"][2:]
    assert "rules.txt:5:1: unknown relation 'mangaes'; did you mean 'manages'?" in relation["message"]
    assert "unknown constant 'person 1'" in constant["message"]
    assert variable == []
    assert report["duplicates"] == [
        {
            "clauses": [
                "line 2: works_with(X, Y) => works_with(Y, X)",
                "line 3: works_with(A, B) => works_with(B, A) <0.5>",
            ],
            "weights": [1.0, 0.5],
            "contradictory": True,
        }
    ]
    (conflict,) = report["conflicts"]
    assert conflict["constraint"].startswith("line 4:")
    assert conflict["clauses"][0].startswith("line 1:")
    assert report["cycles"] == [["works_with"]]


def test_the_measures_are_those_of_the_train_facts(rules, graph_folder):
    train = {tuple(line.split("\t")) for line in (graph_folder / "train.tsv").read_text().splitlines()}
    managed = {(s, o) for s, r, o in train if r == "manages"}
    works = {(s, o) for s, r, o in train if r == "works_with"}
    row = clausal("clauses", rules, "--graph", graph_folder, "--format", "json").json["rules"][0]
    assert (row["graph_support"], row["body"]) == (len(managed & works), len(managed))
    assert row["graph_confidence"] == len(managed & works) / len(managed)


def test_the_table_shows_shapes_measures_and_what_is_wrong(rules, graph_folder):
    shown = clausal("clauses", rules, "--graph", graph_folder).stdout
    for part in ("r0(X, Y) => r0(Y, X)", "pca confidence", "unknown names", "did you mean 'manages'?", "conflicts:"):
        assert part in shown
    assert "their weights contradict each other" in shown
    without = clausal("clauses", rules).stdout
    assert "conflicts:" in without
    assert "pca confidence" not in without


def test_csv_has_a_row_for_each_clause(rules, graph_folder):
    rows = list(
        csv.DictReader(io.StringIO(clausal("clauses", rules, "--graph", graph_folder, "--format", "csv").stdout))
    )
    assert [row["line"] for row in rows] == ["1", "2", "3", "4", "5"]
    assert rows[4]["graph_support"] == ""
    assert set(rows[0]) > {"clause", "shape", "weight", "confidence", "support", "pca_confidence", "holds"}


def test_conversion_goes_to_stdout_or_to_a_new_file(tmp_path):
    mined = tmp_path / "mined"
    mined.write_text("20\t18\t0.9\tworks_with(X,Y) <= manages(Y,X)\n")
    expected = "works_with(X, Y) :- manages(Y, X) <0.9>\n"
    result = clausal("clauses", mined, "--to", "prolog")
    assert (result.code, result.stdout) == (0, expected)
    out = tmp_path / "rules.pl"
    result = clausal("clauses", mined, "--to", "prolog", "--out", out, "--format", "json")
    assert (result.json["format"], out.read_text()) == ("anyburl", expected)
    refused(clausal("clauses", mined, "--to", "prolog", "--out", out), "exists already")


def test_a_graph_counts_what_a_conversion_needs(tmp_path, graph_folder):
    rules = tmp_path / "rules"
    rules.write_text("works_with(X, Y) => works_with(Y, X)\n")
    counted = clausal("clauses", rules, "--graph", graph_folder, "--format", "json").json["rules"][0]
    predictions, support, confidence, text = clausal(
        "clauses", rules, "--graph", graph_folder, "--to", "anyburl"
    ).stdout.rstrip("\n").split("\t")  # fmt: skip
    assert (int(predictions), int(support)) == (counted["body"], counted["graph_support"])
    assert float(confidence) == counted["graph_confidence"]
    assert text == "works_with(X,Y) <= works_with(Y,X)"


def test_ids_are_named_by_a_dictionary_in_the_folder_of_the_graph(tmp_path, graph_folder):
    (tmp_path / "rules").write_text("0 1\n")
    refused(clausal("clauses", tmp_path / "rules"), "relations.dict")
    (tmp_path / "graph").mkdir()
    (tmp_path / "graph" / "train.tsv").write_bytes((graph_folder / "train.tsv").read_bytes())
    (tmp_path / "graph" / "relations.dict").write_text("0\tworks_with\n1\tmanages\n")
    report = clausal("clauses", tmp_path / "rules", "--graph", tmp_path / "graph", "--format", "json").json
    assert report["rules"][0]["clause"] == "manages(X, Y) => works_with(X, Y)"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["missing.txt"], "missing.txt: no such file"),
        (["RULES", "--from", "amei"], "unknown rule format 'amei'; did you mean 'amie'?"),
        (["RULES", "--from", "anyburl"], "rules.txt:1:1: expected four columns"),
        (["RULES", "--to", "amie"], "the format 'amie' is only read"),
        (["RULES", "--to", "kale"], "cannot write"),
        (["RULES", "--graph", "nowhere"], "nowhere: no such file or folder"),
    ],
)
def test_bad_input_is_one_message(arguments, message, rules):
    refused(clausal("clauses", *(rules if word == "RULES" else word for word in arguments)), message)


def test_mined_rules_of_another_program_train(graph_folder, tmp_path):
    rules = tmp_path / "mined.tsv"
    rules.write_text("?b  manages  ?a   => ?a  works_with  ?b\t0.9\n")
    options = train_options(graph_folder)
    options[options.index("--clauses") + 1] = rules
    result = clausal(*options, "--out", tmp_path / "run")
    assert result.code == 0, result.stderr
    assert "<0.9>" in (tmp_path / "run" / "clauses.txt").read_text()


def test_clauses_that_say_nothing_are_reported_and_noted_in_training(graph_folder, tmp_path):
    rules = tmp_path / "rules.txt"
    rules.write_text("manages(X, Y) => works_with(X, Y)\nmanages(X, Y), outranks(Y, Z) => manages(X, Y)\n")
    assert clausal("clauses", rules, "--format", "json").json["tautologies"] == [
        "line 2: manages(X, Y), outranks(Y, Z) => manages(X, Y)"
    ]
    assert "saying nothing" in clausal("clauses", rules).stdout
    options = train_options(graph_folder)
    options[options.index("--clauses") + 1] = rules
    said = clausal(*options, "--out", tmp_path / "run", "--valid", "0.2").stderr
    assert "note: 'manages(X, Y), outranks(Y, Z) => manages(X, Y)' says nothing" in said
    assert "'manages(X, Y) => works_with(X, Y)' says nothing" not in said
    assert f"note: --valid did nothing: {graph_folder.name} comes with its own splits" in said


def test_training_says_what_it_read(graph_folder, tmp_path):
    rules = tmp_path / "mined"
    rules.write_text("20\t18\t0.9\tworks_with(X,Y) <= manages(Y,X)\n20\t5\t0.25\tworks_with(X,Y) <= manages(X,Y)\n")
    options = train_options(graph_folder)
    options[options.index("--clauses") + 1] = rules
    said = clausal(*options, "--out", tmp_path / "run").stderr
    assert "mined: 2 clauses, read as anyburl, with weights from 0.25 to 0.9" in said


def test_clauses_are_written_with_their_confidence_as_weight(rules, graph_folder, tmp_path):
    confidences = [
        row["graph_confidence"]
        for row in clausal("clauses", rules, "--graph", graph_folder, "--format", "json").json["rules"]
    ]
    out = tmp_path / "weighed.clauses"
    assert clausal("clauses", rules, "--graph", graph_folder, "--weigh", "--out", out).code == 0
    weights = [clause.weight for clause in read_clauses(out)]
    given = [0.9, 1.0, 0.5, 1.0, 1.0]
    assert weights == [
        weight if confidence is None else round(confidence, 4)
        for weight, confidence in zip(given, confidences, strict=True)
    ]
    assert weights != given


def test_clauses_of_low_confidence_are_left_out(rules, graph_folder):
    every = clausal("clauses", rules, "--graph", graph_folder, "--min-confidence", 0)
    some = clausal("clauses", rules, "--graph", graph_folder, "--min-confidence", 1)
    assert len(every.stdout.splitlines()) == 5
    assert "of 5 clauses have a confidence of at least 1" in some.stderr
    assert "manages(X, Y) => works_with(X, Y)" not in some.stdout


def test_weighing_needs_a_graph(rules):
    refused(clausal("clauses", rules, "--weigh"), "name one with --graph")
