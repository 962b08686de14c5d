"""``clausal prove``: a proof in every format, what is missing, and exit codes that scripts can branch on."""

import csv
import io

import pytest

from command_line import clausal, refused
from small_graphs import write_facts

CLAUSES = """\
manages(X, Y) => works_with(X, Y)
works_with(X, Y) => works_with(Y, X)
manages(X, Y), manages(Y, Z) => outranks(X, Z)
"""


@pytest.fixture
def company(tmp_path):
    folder = tmp_path / "company"
    folder.mkdir()
    train = [
        ("ann", "manages", "bob"),
        ("bob", "manages", "cy"),
        ("cy", "outranks", "dee"),
        ("dee", "works_with", "ann"),
    ]
    write_facts(folder / "train.tsv", train)
    write_facts(folder / "test.tsv", [("cy", "manages", "dee")])
    (tmp_path / "rules.txt").write_text(CLAUSES)
    return folder


@pytest.fixture
def prove(company, monkeypatch):
    monkeypatch.chdir(company.parent)
    return lambda fact, *options: clausal("prove", "company", fact, "--clauses", "rules.txt", *options)


def test_text_is_the_proof(prove):
    result = prove("works_with(cy, bob)")
    assert result.code == 0
    assert result.stdout == (
        "works_with(cy, bob)  by works_with(X, Y) => works_with(Y, X)  [rules.txt:2]\n"
        "└─ works_with(bob, cy)  by manages(X, Y) => works_with(X, Y)  [rules.txt:1]\n"
        "   └─ manages(bob, cy)  given\n"
    )
    assert "round 1: " in result.stderr


def test_json_has_the_steps(prove):
    result = prove("outranks(ann, cy)", "--format", "json")
    assert result.code == 0
    assert result.json["fact"] == {"subject": "ann", "relation": "outranks", "object": "cy"}
    assert result.json["follows"] is True
    assert result.json["near"] == []
    assert result.json["proof"]["size"] == 1
    assert [step["premises"] for step in result.json["proof"]["steps"]] == [[1, 2], [], []]


def test_csv_has_a_row_for_each_step(prove):
    rows = list(csv.DictReader(io.StringIO(prove("outranks(ann, cy)", "--format", "csv").stdout)))
    assert [(row["step"], row["relation"], row["premises"]) for row in rows] == [
        ("0", "outranks", "1 2"),
        ("1", "manages", ""),
        ("2", "manages", ""),
    ]


def test_what_does_not_follow_ends_with_code_1_and_what_is_missing(prove):
    result = prove("outranks(bob, dee)")
    assert result.code == 1
    assert "error" not in result.stderr
    assert result.stdout == (
        "outranks(bob, dee) does not follow from train; nearest to it:\n"
        "by manages(X, Y), manages(Y, Z) => outranks(X, Z)  [rules.txt:3]\n"
        "├─ manages(bob, cy)  holds\n"
        "└─ manages(cy, dee)  missing\n"
    )
    payload = prove("outranks(bob, dee)", "--format", "json").json
    assert payload["follows"] is False
    assert payload["proof"] is None
    assert payload["near"][0]["missing"] == [{"subject": "cy", "relation": "manages", "object": "dee"}]
    assert prove("outranks(bob, dee)", "--format", "csv").stdout.startswith("step,subject,relation,object,clause,")


def test_without_any_support_it_says_so(prove):
    result = prove("manages(dee, ann)")
    assert result.code == 1
    assert result.stdout == "manages(dee, ann) does not follow from train, and no clause nearly supports it\n"


def test_test_facts_count_only_with_all_splits(prove):
    assert prove("outranks(bob, dee)", "--split", "all").code == 0
    assert prove("manages(cy, dee)").code == 1
    assert prove("manages(cy, dee)", "--split", "test").stdout == "manages(cy, dee)  given\n"


def test_most_bounds_the_near_supports(prove):
    assert prove("outranks(bob, dee)", "--most", 0).stdout.endswith("no clause nearly supports it\n")


@pytest.mark.parametrize(
    ("fact", "fragments"),
    [
        ("works_with(cy, ?)", ["asks a question", "write a whole fact"]),
        ("works_with(cy)", ["cannot read the query"]),
        ("works_wth(cy, bob)", ["unknown relation 'works_wth'", "did you mean 'works_with'?"]),
        ("works_with(cy, rob)", ["unknown entity 'rob'", "did you mean 'bob'?"]),
    ],
)
def test_facts_that_cannot_be_read_are_explained(fact, fragments, prove):
    refused(prove(fact), *fragments)


def test_clauses_that_do_not_fit_are_refused(prove, tmp_path):
    (tmp_path / "wrong.txt").write_text("manges(X, Y) => outranks(X, Y)\n")
    result = clausal("prove", "company", "outranks(ann, cy)", "--clauses", tmp_path / "wrong.txt")
    refused(result, "wrong.txt:1:1", "unknown relation 'manges'")
