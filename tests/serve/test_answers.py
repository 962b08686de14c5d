"""Questions and scores over HTTP are those of the run, each with its status."""

import itertools
import json
import threading
from functools import cache

import pytest

from clausal.logic.closure import close


@cache
def consequences(run):
    """What follows by sure clauses, and by all."""
    sure = [one for one in run.clauses if one.weight == 1]
    return [set(map(tuple, close(run.graph, clauses).facts.tolist())) for clauses in (sure, run.clauses)]


def status_of(run, fact):
    """The status by brute force."""
    graph = run.graph
    ids = (graph.entities.id(fact[0]), graph.relations.id(fact[1]), graph.entities.id(fact[2]))
    if ids in set(map(tuple, graph.known.tolist())):
        return "known"
    entailed, by_rules = consequences(run)
    return "entailed" if ids in entailed else "rule" if ids in by_rules else "predicted"


@pytest.mark.parametrize("ranking", ["model", "entailed"])
@pytest.mark.parametrize("new", [False, True])
def test_answers_are_those_of_the_run_with_their_statuses(service, run, ranking, new):
    questions = ["located_in(Spain, ?)", "neighbor(?, Spain)", "?(Madrid, Spain)", "located_in(Lisbon, Europe)"]
    payload = {"queries": questions, "k": 7, "new": new, "ranking": ranking}
    found = service.post("/v1/predict", payload)
    expected = run.predict(questions, 7, new=new, ranking=ranking)
    for result, answers in zip(found["results"], expected, strict=True):
        assert [
            (
                one["rank"],
                one["subject"],
                one["relation"],
                one["object"],
                one["score"],
                one["probability"],
                one["split"],
            )
            for one in result["answers"]
        ] == [
            (one.rank, one.subject, one.relation, one.object, one.score, one.probability, one.split) for one in answers
        ]
        for one in result["answers"]:
            assert one["status"] == status_of(run, (one["subject"], one["relation"], one["object"]))
            assert one["confidence"] == (0.8 if one["status"] == "rule" else None)


def test_questions_by_names_may_hold_slashes(service, run):
    query = {"subject": "/m/0ab/ñandú", "relation": "located_in", "object": None}
    found = service.post("/v1/predict", {"queries": [query], "k": 1})
    (expected,) = run.predict(("/m/0ab/ñandú", "located_in", None), 1)
    assert found["results"][0]["answers"][0]["object"] == expected.object
    assert found["results"][0]["query"] == query


def test_explanations_hold_proofs_and_no_path_of_the_host(service, run_paths):
    payload = {"queries": ["located_in(Madrid, ?)"], "k": 10, "ranking": "entailed", "explain": True}
    found = service.post("/v1/predict", payload)
    answers = found["results"][0]["answers"]
    proved = [one for one in answers if one["explanation"]["proof"]]
    assert {one["object"] for one in proved} >= {"Spain", "Southern Europe", "Europe"}
    assert all(one["explanation"]["near"] is not None for one in answers)
    assert run_paths[0].parent.name not in json.dumps(found)


def test_many_requests_at_once_get_each_its_own_answers(service, run):
    names = list(run.graph.entities)
    asked = [(subject, relation) for subject in names for relation in run.graph.relations]
    found = {}

    def ask(some):
        for subject, relation in some:
            k = 1 + len(subject) % 5
            payload = {"queries": [{"subject": subject, "relation": relation}], "k": k}
            found[subject, relation] = service.post("/v1/predict", payload)["results"][0]["answers"]

    threads = [threading.Thread(target=ask, args=(asked[start::8],)) for start in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for (subject, relation), answers in found.items():
        expected = run.predict((subject, relation, None), 1 + len(subject) % 5)
        assert [one["object"] for one in answers] == [one.object for one in expected]
    assert len(found) == len(asked)


def test_large_batches_come_in_their_order(service):
    queries = [{"subject": f"entity {number}", "relation": f"r{number % 7}"} for number in range(300)]
    found = service.post("/v1/predict", {"run": "large", "queries": queries, "k": 1})
    assert [one["query"]["subject"] for one in found["results"]] == [query["subject"] for query in queries]
    assert [one["answers"][0]["subject"] for one in found["results"]] == [query["subject"] for query in queries]
    assert found["results"][0]["answers"][0]["probability"] is None


def test_scores_are_those_of_the_run(service, run):
    names = ["Spain", "Europe", "Madrid", "/m/0ab/ñandú"]
    facts = [[s, r, o] for s, r, o in itertools.product(names, run.graph.relations, names)]
    found = service.post("/v1/score", {"facts": facts})
    expected = list(run.score(facts))
    assert [one["score"] for one in found["facts"]] == [one.score for one in expected]
    assert [one["probability"] for one in found["facts"]] == [one.probability for one in expected]
    assert [one["status"] for one in found["facts"]] == [status_of(run, fact) for fact in facts]


def test_unknown_names_are_refused_or_skipped(service):
    facts = [["Spain", "located_in", "Europe"], ["Spian", "located_in", "Europe"]]
    refused = service.post("/v1/score", {"facts": facts}, 422)
    assert "Spian" in refused["detail"]
    assert "Spain" in refused["detail"]
    found = service.post("/v1/score", {"facts": facts, "unknown": "skip"})
    assert found["skipped"] == 1
    assert found["facts"][1] is None
    assert service.post("/v1/score", {"facts": []})["facts"] == []


def test_a_hundred_thousand_facts_are_scored_in_one_request(service):
    facts = [[f"entity {number % 2000}", f"r{number % 7}", f"entity {number * 7 % 2000}"] for number in range(100_000)]
    found = service.post("/v1/score", {"run": "large", "facts": facts})
    assert len(found["facts"]) == 100_000
    assert found["facts"][-1]["subject"] == facts[-1][0]
    assert "100000" in service.post("/v1/score", {"run": "large", "facts": [*facts, facts[0]]}, 422)["detail"]


@pytest.mark.parametrize(
    ("payload", "said"),
    [
        ({"queries": ["located_in(Spian, ?)"]}, "did you mean 'Spain'"),
        ({"queries": ["Spain"]}, "relation(subject, ?)"),
        ({"queries": ["located_in(?, ?)"]}, "one at a time"),
        ({"queries": [{}]}, "one at a time"),
        ({"queries": []}, "queries"),
        ({"queries": ["located_in(Spain, ?)"], "k": 0}, "k: "),
        ({"queries": ["located_in(Spain, ?)"], "k": 1001}, "k: "),
        ({"queries": ["located_in(Spain, ?)"], "ranking": "best"}, "ranking: "),
        ({"queries": ["located_in(Spain, ?)"], "newest": True}, "newest: "),
        ({"queries": ["located_in(Spain, ?)"] * 51, "k": 1, "explain": True}, "50 answers"),
    ],
)
def test_bad_questions_are_told_what_is_wrong(service, payload, said):
    found = service.post("/v1/predict", payload, 422)
    assert said in found["detail"]
    assert found["status"] == 422


def test_rankings_that_a_run_does_not_have_are_refused(service):
    assert (
        "model, entailed"
        in service.post("/v1/predict", {"queries": ["located_in(Spain, ?)"], "ranking": "fused"}, 409)["detail"]
    )
