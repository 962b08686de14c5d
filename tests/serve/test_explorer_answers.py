"""What the explorer asks beside all others, compared with brute force."""

from itertools import product

import numpy as np
import pytest


def _scored(run, fact):
    return float(run.score([fact]).scores[0])


def _rows(graph, facts):
    return {(graph.entities[s], graph.relations[r], graph.entities[o]) for s, r, o in facts.tolist()}


@pytest.mark.parametrize("number", [0, 1, 2])
def test_violations_are_those_of_all_instances(service, run, number):
    graph = run.graph
    train = _rows(graph, graph.train)
    bodies = [
        lambda x, y, z: [(x, "located_in", y), (y, "located_in", z)],
        lambda x, y, z: [(x, "neighbor", y)],
        lambda x, y, z: [(x, "capital_of", y)],
    ]
    heads = [
        lambda x, y, z: (x, "located_in", z),
        lambda x, y, z: (y, "neighbor", x),
        lambda x, y, z: (x, "located_in", y),
    ]
    names = list(graph.entities)
    places = product(names, repeat=3) if number == 0 else ((x, y, None) for x, y in product(names, repeat=2))
    broken, found = [], set()
    for x, y, z in places:
        body = bodies[number](x, y, z)
        if set(body) <= train:
            head = heads[number](x, y, z)
            found.add(head)
            broken.append(max(0.0, min(_scored(run, fact) for fact in body) - _scored(run, head)))
    answer = service.get(f"/v1/clauses/{number}/violations")
    tolerance = answer["bins"][0]["to"]
    assert answer["checked"] == len(broken) == sum(one["count"] for one in answer["bins"])
    assert answer["broken"] == sum(one > tolerance for one in broken)
    expected = sorted((one for one in broken if one > tolerance), reverse=True)[:10]
    assert [one["violation"] for one in answer["worst"]] == pytest.approx(expected, abs=1e-5)
    held = _rows(graph, np.concatenate([graph.valid, graph.test]))
    assert answer["heads"] == {
        "train": len(found & train),
        "held_back": len((found & held) - train),
        "nowhere": len(found - train - held),
    }


def test_no_clause_has_that_number(service):
    assert service.get("/v1/clauses/99/violations", status=404)["status"] == 404


def test_suggestions_follow_and_are_not_in_train(service, run):
    graph = run.graph
    train, closure = _rows(graph, graph.train), _rows(graph, run.closure.facts)
    held = _rows(graph, np.concatenate([graph.valid, graph.test]))
    facts = service.get("/v1/suggestions")["facts"]
    keys = {(one["subject"], one["relation"], one["object"]) for one in facts}
    assert keys == (closure - train) & held  # all that are known to be true, as there are some
    for one in facts:
        answers = run.predict((one["subject"], one["relation"], None), len(graph.entities))
        own = next(answer for answer in answers if answer.object == one["object"])
        assert one["rank"] == 1 + sum(answer.score > own.score for answer in answers if not answer.known)


def test_a_run_without_clauses_suggests_nothing(service):
    assert service.get("/v1/suggestions", run="large")["facts"] == []


def test_facts_of_a_relation(service, run):
    graph = run.graph
    answer = service.get("/v1/relation", name="located_in")
    known = {row for row in _rows(graph, graph.known) if row[1] == "located_in"}
    assert {(one["subject"], one["relation"], one["object"]) for one in answer["facts"]} == known
    assert answer["total"] == len(known)
    few = service.get("/v1/relation", name="located_in", limit=2)
    assert len(few["facts"]) == 2
    assert service.get("/v1/relation", name="nowhere", status=404)["status"] == 404


def test_whether_a_known_fact_follows_from_train(service):
    """One of test that train entails says so; one of train is known."""
    answer = service.post("/v1/prove", {"fact": "located_in(Madrid, Spain)"})
    assert (answer["fact"]["status"], answer["fact"]["split"], answer["fact"]["follows"]) == (
        "known",
        "test",
        "entailed",
    )
