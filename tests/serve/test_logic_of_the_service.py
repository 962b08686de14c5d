"""Proofs, clauses, certificates and what-if over HTTP."""

import json
import time

import pytest

from clausal.logic.closure import close


def test_a_proof_has_its_steps_and_the_numbers_of_clauses(service, run_paths):
    found = service.post("/v1/prove", {"fact": "located_in(Madrid, Southern Europe)"})
    assert found["status"] == "entailed"
    assert found["proof"]["size"] == 2
    assert [one["clause_id"] for one in found["proof"]["steps"]] == [0, 2, None, None]
    assert str(run_paths[0].parent) not in json.dumps(found)
    given = service.post("/v1/prove", {"fact": {"subject": "Madrid", "relation": "capital_of", "object": "Spain"}})
    assert given["status"] == "known"
    assert [one["clause"] for one in given["proof"]["steps"]] == [None]


def test_a_fact_by_a_rule_with_exceptions_says_how_sure_it_is(service):
    found = service.post("/v1/prove", {"fact": "neighbor(Spain, Portugal)"})
    assert found["status"] == "rule"
    assert found["fact"]["confidence"] == 0.8


def test_without_a_proof_it_is_said_what_is_missing(service):
    found = service.post("/v1/prove", {"fact": "located_in(Paris, Southern Europe)", "most": 2})
    assert found["proof"] is None
    assert 1 <= len(found["near"]) <= 2
    assert all(one["missing"] and one["clause_id"] in (0, 2) for one in found["near"])
    without = service.post("/v1/prove", {"run": "large", "fact": "r0(entity 1, entity 2)"})
    assert without["near"] == []


def test_clauses_are_counted_in_train(service, run):
    found = service.get("/v1/clauses")["clauses"]
    assert [one["clause"] for one in found] == [str(clause) for clause in run.clauses]
    assert [(one["support"], one["predictions"], one["exceptions"]) for one in found] == [
        (0, 3, 3),
        (0, 2, 2),
        (0, 3, 3),
    ]
    assert [one["certainty"] for one in found] == [1, 0.8, 1]
    assert service.get("/v1/clauses", run="large")["clauses"] == []


def test_a_clause_shows_instances_that_train_does_not_have(service):
    found = service.get("/v1/clauses/2")
    heads = {(one["head"]["subject"], one["head"]["object"]) for one in found["uses"]}
    assert heads == {("Madrid", "Spain"), ("Paris", "France"), ("Lisbon", "Portugal")}
    assert all(one["body"][0]["relation"] == "capital_of" for one in found["exceptions_shown"])
    assert service.get("/v1/clauses/3", 404)["status"] == 404
    assert service.get("/v1/clauses/-1", 422)["status"] == 422


def what_if(service, **changes):
    return service.post("/v1/whatif", changes)


def facts_of(rows):
    return {(one["subject"], one["relation"], one["object"]) for one in rows}


def test_what_if_a_clause_is_off(service, run):
    found = what_if(service, clauses_off=[0], query="located_in(Madrid, ?)", k=3)
    graph = run.graph

    def named(clauses):
        return {
            (graph.entities[s], graph.relations[r], graph.entities[o])
            for s, r, o in close(graph, clauses).facts.tolist()
        }

    lost = named(run.clauses) - named([one for number, one in enumerate(run.clauses) if number])
    assert facts_of(found["lost"]) == lost
    assert found["lost_total"] == len(lost)
    assert found["before"] - found["entailed"] == len(lost)
    assert found["gained"] == []
    assert [one["object"] for one in found["answers_before"]] == [
        one.object for one in run.predict("located_in(Madrid, ?)", 3, ranking="entailed")
    ]
    assert next(one["status"] for one in found["answers_after"]) == "known"
    assert found["answers_after"] != found["answers_before"]


def test_what_if_facts_and_clauses_are_added(service):
    fact = {"subject": "Europe", "relation": "located_in", "object": "Paris"}
    found = what_if(service, facts_on=[fact], clauses_on=["located_in(X, Y) => neighbor(X, Y)"])
    assert ("Europe", "located_in", "Paris") in facts_of(found["gained"])
    assert ("Spain", "located_in", "Paris") in facts_of(found["gained"])
    assert ("Spain", "neighbor", "Europe") in facts_of(found["gained"])
    statuses = {(one["subject"], one["relation"], one["object"]): one["status"] for one in found["gained"]}
    assert statuses["Europe", "located_in", "Paris"] == "known"
    assert statuses["Spain", "located_in", "Paris"] == "entailed"
    unsure = what_if(service, clauses_on=["0.5: capital_of(X, Y) => neighbor(X, Y)"])["gained"]
    assert {(one["status"], one["confidence"]) for one in unsure} == {("rule", 0.5)}
    assert found["lost_total"] == 0
    without = what_if(service, facts_off=["located_in(Spain, Southern Europe)"])
    assert ("Spain", "located_in", "Europe") in facts_of(without["lost"])
    nothing = what_if(service, clauses_off=[0, 1, 2], query="located_in(Madrid, ?)")
    assert nothing["entailed"] == 0
    assert len(nothing["answers_after"]) == 10
    assert what_if(service)["lost_total"] == what_if(service)["gained_total"] == 0


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({"clauses_on": ["nonsense"]}, 422),
        ({"clauses_on": ["unheard_of(X, Y) => neighbor(X, Y)"]}, 422),
        ({"clauses_off": [17]}, 404),
        ({"facts_on": ["located_in(Spian, Europe)"]}, 422),
        ({"facts_on": ["located_in(Spain, ?)"]}, 422),
        ({"query": "Spain"}, 422),
    ],
)
def test_what_cannot_be_supposed_is_refused(service, changes, status):
    assert service.post("/v1/whatif", changes, status)["detail"]


def finished(service, job):
    for _ in range(300):
        found = service.get(f"/v1/jobs/{job}")
        if found["state"] not in ("waiting", "running"):
            return found
        time.sleep(0.1)
    raise AssertionError(found)


def test_clauses_are_certified_by_a_job(service, run):
    begun = service.post("/v1/certify", {"clauses": [2, 1]}, 202)
    found = finished(service, begun["job"])
    assert found["state"] == "done"
    assert found["done"] == found["total"]
    expected = run.certify([run.clauses[2], run.clauses[1]]).to_dict()
    for one, two in zip(found["result"]["clauses"], expected["clauses"], strict=True):
        assert one["verdict"] == two["verdict"]
        assert one["attained"] == pytest.approx(two["attained"])
    certificates = [one["certificate"] for one in service.get("/v1/clauses")["clauses"]]
    assert certificates[1]["verdict"] == expected["clauses"][1]["verdict"]
    assert begun["job"] in {one["id"] for one in service.get("/v1/jobs")["jobs"]}


def test_jobs_that_cannot_be_are_refused(service):
    assert "without clauses" in service.post("/v1/certify", {"run": "large"}, 409)["detail"]
    assert service.post("/v1/certify", {"clauses": [9]}, 404)["status"] == 404
    assert service.get("/v1/jobs/nothing", 404)["status"] == 404
    status, _, _ = service.request("DELETE", "/v1/jobs/nothing")
    assert status == 404
