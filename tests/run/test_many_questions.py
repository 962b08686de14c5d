"""Many questions at once have the answers of one by one, and those are the answers of brute force."""

import random

import numpy as np
import pytest
from question_runs import all_questions, brute_force, random_run, strange_graph

import clausal
from clausal.errors import InputError
from clausal.evaluation.calibration import Calibration, Fit

GRAPHS = {
    "usual": {},
    "one entity": {"entities": 1, "relations": 1, "facts": 1},
    "one relation, dense": {"entities": 6, "relations": 1, "facts": 200},
    "many relations": {"entities": 5, "relations": 70, "facts": 100},
}


def names_and_scores(answers):
    return [((one.subject, one.relation, one.object), one.score) for one in answers]


def assert_same(found, expected):
    assert [score for _, score in found] == pytest.approx([score for _, score in expected], rel=1e-4, abs=1e-5)
    for (fact, score), (other, wanted) in zip(found, expected, strict=True):
        assert fact == other or score == pytest.approx(wanted, rel=1e-5, abs=1e-6)


@pytest.mark.parametrize("new", [False, True])
@pytest.mark.parametrize("shape", GRAPHS)
def test_answers_are_those_of_brute_force_on_strange_graphs(shape, new):
    run = random_run(graph=strange_graph(**GRAPHS[shape]))
    questions = all_questions(run.graph)
    for question, answers in zip(questions, run.predict(questions, 4, new=new), strict=True):
        assert_same(names_and_scores(answers), brute_force(run, question, 4, new=new))
        assert [answer.rank for answer in answers] == list(range(1, 1 + len(answers)))


@pytest.mark.parametrize("reciprocal", [False, True])
@pytest.mark.parametrize(
    "scorer", ["distmult", "complex", "cp", "rescal", "hole", "transe", "rotate", "er-mlp", "model-f"]
)
def test_every_model_answers_as_one_by_one_and_as_brute_force(scorer, reciprocal):
    if reciprocal and scorer == "model-f":
        pytest.skip("pairs have no reciprocal relations")
    run = random_run(scorer, reciprocal=reciprocal, ties=True)
    questions = all_questions(run.graph)
    random.Random(0).shuffle(questions)
    for question, answers in zip(questions, run.predict(questions, 5), strict=True):
        assert_same(names_and_scores(answers), brute_force(run, question, 5))
        assert_same(names_and_scores(answers), names_and_scores(run.predict(question, 5)))


@pytest.mark.parametrize("scorer", ["distmult", "complex", "cp"])
@pytest.mark.parametrize("ties", [False, True])
def test_a_question_among_others_has_exactly_the_answers_of_the_same_question_alone(scorer, ties):
    run = random_run(scorer, strange_graph(500, 4, 2000), dim=40, ties=ties)
    questions = [(None, "r1", f"e {i:03}") for i in range(40)] + [(f"e {i:03}", "r2", None) for i in range(40)]
    assert run.predict(questions, 10) == [run.predict(question, 10) for question in questions]
    assert run.predict(questions, 10, new=True) == [run.predict(question, 10, new=True) for question in questions]


def test_text_and_tuples_ask_the_same_and_a_list_of_one_has_a_list_of_one():
    run = random_run()
    assert run.predict("r1(e 001, ?)") == run.predict(("e 001", "r1", None))
    assert run.predict(["r1(e 001, ?)", (None, "r1", "e 001")]) == [
        run.predict("r1(e 001, ?)"),
        run.predict("r1(?, e 001)"),
    ]
    assert run.predict(question for question in ["?(e 001, e 002)"]) == [run.predict("?(e 001, e 002)")]
    assert run.predict([]) == []


@pytest.mark.parametrize(
    ("question", "message"),
    [
        (("e 001", "r1"), "expected the names of subject, relation and object"),
        ((1, "r1", None), "expected the names of subject, relation and object"),
        ((None, None, "e 001"), "more than one name"),
        (("e001", "r1", None), "unknown entity 'e001'; did you mean"),
        ("r1(e 001", "cannot read the query"),
    ],
)
def test_a_question_that_cannot_be_read_is_named_by_its_number(question, message):
    run = random_run()
    with pytest.raises(InputError, match=message):
        run.predict(question)
    with pytest.raises(InputError, match=f"question 2: .*{message}"):
        run.predict(["r1(e 001, ?)", question])


def test_entailed_answers_come_first_in_every_direction_and_new_leaves_out_known_ones():
    run = random_run()
    clauses = clausal.parse_clauses("r0(X, Y) => r1(Y, X)\nr1(X, Y), r2(Y, Z) => r0(X, Z)")
    closure = set(map(tuple, run.closure_under(clauses).facts.tolist()))
    train = set(map(tuple, run.graph.train.tolist()))
    assert closure > train
    questions = all_questions(run.graph)
    for new in (False, True):
        found = run.predict(questions, 6, new=new, ranking="entailed", clauses=clauses)
        for question, answers in zip(questions, found, strict=True):
            assert_same(names_and_scores(answers), brute_force(run, question, 6, new=new, first=closure))
            for answer in answers:
                fact = (
                    run.graph.entities.id(answer.subject),
                    run.graph.relations.id(answer.relation),
                    run.graph.entities.id(answer.object),
                )
                expected = "known" if fact in train else "entailed" if fact in closure else "predicted"
                assert answer.verdict == expected


def test_probabilities_are_those_of_the_facts_that_answer():
    calibration = Calibration(Fit(1.0, 0.5, 0.0, 20), {1: Fit(2.0, -0.5, 0.0, 20)})
    run = random_run(reciprocal=True, calibration=calibration)
    answers = [answer for some in run.predict(all_questions(run.graph), 3) for answer in some]
    scores = run.score([(answer.subject, answer.relation, answer.object) for answer in answers])
    assert [answer.probability for answer in answers] == pytest.approx(scores.probabilities)
    assert [answer.split for answer in answers] == [fact.split for fact in scores]
    relations = np.array([run.graph.relations.id(answer.relation) for answer in answers])
    expected = 1 / (1 + np.exp(-np.where(relations == 1, 2 * scores.scores - 0.5, scores.scores + 0.5)))
    assert scores.probabilities == pytest.approx(expected)
