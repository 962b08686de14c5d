"""Mined rules as text: a clause file that reads back, weighted, with its measures; and what is refused."""

import pytest

from clausal.errors import InputError
from clausal.graph import Graph
from clausal.logic import parse_clauses
from clausal.logic.mining import mine, print_mined, write_mined
from recording import Recorder

FACTS = [(f"a{n}", "works in", f"b{n % 4}") for n in range(16)] + [
    (f"a{n}", "lives_in", f"b{n % 4}") for n in range(12)
]


@pytest.fixture
def rules():
    found = mine(Graph.from_triples(FACTS))
    assert len(found) > 1
    return found


def test_rules_read_back_with_a_confidence_as_weight(rules):
    read = parse_clauses("\n".join(print_mined(rules, notes=["two\nlines % with signs"])))
    assert [clause.formula for clause in read] == [rule.clause().formula for rule in rules]
    assert [clause.weight for clause in read] == [pytest.approx(rule.confidence, abs=5e-5) for rule in rules]
    assert len({clause.weight for clause in read}) > 1


@pytest.mark.parametrize("measure", ["confidence", "pca_confidence", "lower_bound", None])
def test_the_weight_is_what_was_asked_for(rules, measure):
    read = parse_clauses("\n".join(print_mined(rules, measure)))
    expected = [getattr(rule, measure) if measure else 1 for rule in rules]
    assert [clause.weight for clause in read] == [pytest.approx(value, abs=5e-5) for value in expected]


def test_measures_stand_behind_each_rule(rules):
    (line,) = [line for line in print_mined(rules) if line.startswith("'works in'(X, Y) => lives_in(X, Y)")]
    assert line.endswith(
        "% support 12, head coverage 1.0000, confidence 0.7500 (at least 0.5452), PCA confidence 1.0000"
    )


def test_clauses_keep_what_was_counted(rules):
    clause = rules[0].clause("pca_confidence")
    assert (clause.confidence, clause.support) == (rules[0].confidence, rules[0].support)


def test_the_most_confident_come_first(rules):
    keys = [(-rule.confidence, -rule.support) for rule in rules]
    assert keys == sorted(keys)


def test_a_file_that_is_there_is_not_overwritten(rules, tmp_path):
    target = tmp_path / "rules.txt"
    write_mined(target, rules)
    first = target.read_text()
    with pytest.raises(InputError, match="exists already"):
        write_mined(target, rules[:1])
    assert target.read_text() == first
    assert [path.name for path in tmp_path.iterdir()] == ["rules.txt"]


def test_progress_reaches_the_end_of_all_counts():
    seen = Recorder()
    mine(Graph.from_triples(FACTS), max_body=3, constants=True, observer=seen)
    last = {stage: (done, total) for stage, done, total, _ in seen.of("advanced")}
    assert last == {"paths of 2": (4, 4), "paths of 3": (4, 4), "constants": (1, 1)}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"min_support": 0}, "at least 1, not 0"),
        ({"max_body": 4}, "one, two or three body atoms, not 4"),
        ({"seconds": 0}, "a number above 0, not 0"),
        ({"min_confidence": 1.5}, "least confidence is a share between 0 and 1, not 1.5"),
        ({"min_head_coverage": -0.1}, "least head coverage is a share between 0 and 1, not -0.1"),
        ({"min_pca_confidence": float("nan")}, "least PCA confidence is a share between 0 and 1, not nan"),
    ],
)
def test_thresholds_out_of_range_are_refused(options, message):
    with pytest.raises(InputError, match=message):
        mine(Graph.from_triples(FACTS), **options)


def test_a_relation_without_train_facts_is_in_no_rule():
    graph = Graph.from_triples(FACTS, valid=[("a1", "only_in_valid", "b1")])
    assert not [rule for rule in mine(graph, min_support=1) if "only_in_valid" in str(rule)]
