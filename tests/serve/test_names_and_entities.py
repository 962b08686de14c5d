"""Search as one types, and what is around an entity."""

import numpy as np
import pytest
from small_runs import countries

from clausal.graph import Graph
from clausal.serve.names import ServedNames


def found_by_hand(graph, text):
    """Names by the order that the page describes."""
    counts = dict.fromkeys(graph.entities, 0)
    for subject, _, object in graph.known.tolist():
        counts[graph.entities[subject]] += 1
        counts[graph.entities[object]] += 1

    def place(name):
        name, part = name.lower(), text.lower()
        starts = [i for i in range(len(name)) if name.startswith(part, i)]
        if name == part:
            return 0
        if 0 in starts:
            return 1
        return 2 if any(name[i - 1] in " _./#:()-\t" for i in starts) else 3

    names = [name for name in graph.entities if text.lower() in name.lower()]
    return sorted(names, key=lambda name: (place(name), -counts[name], graph.entities.id(name)))


STRANGE = Graph.from_triples(
    train=[
        (a, "r", b)
        for a, b in [
            ("a.b(c", "A.B"),
            ("a|b", "x a|b"),
            ("[x]*", "\\d"),
            ("Über", "über"),
            ("q", "q"),
            ("日本", "日"),
            ("_a", "b_a"),
        ]
    ]
)


@pytest.mark.parametrize("graph", [countries(), STRANGE], ids=["countries", "strange"])
@pytest.mark.parametrize("text", ["a", "eu", "SP", "a.b(", "a|b", "[x]", "\\d", "ü", "日", "zzz", "l", "an"])
def test_names_are_found_as_by_hand(graph, text):
    search = ServedNames(graph).entities
    ids, total = search.find(text, 100)
    expected = found_by_hand(graph, text)
    assert [graph.entities[one] for one in ids] == expected
    assert total == len(expected)
    assert search.find(text, 2, 1)[0] == ids[1:3]


def test_search_over_http(service):
    found = service.get("/v1/entities", q="eur", limit=2)
    assert [one["name"] for one in found["entities"]] == ["Europe", "Southern Europe"]
    assert found["total"] == 3
    assert service.get("/v1/relations", q="cap")["relations"][0]["name"] == "capital_of"
    assert service.get("/v1/entities", run="large", limit=3)["total"] == 2000
    assert service.get("/v1/entities", 404, run="no such")["status"] == 404
    assert "has not finished" in service.get("/v1/entities", 409, run="training")["detail"]


def test_an_entity_has_its_known_and_derived_facts(service, run):
    found = service.get("/v1/entity", name="Madrid")
    facts = {(one["relation"], one["object"]): one["status"] for one in found["facts"]}
    assert facts == {
        ("capital_of", "Spain"): "known",
        ("located_in", "Spain"): "known",
        ("located_in", "Southern Europe"): "entailed",
        ("located_in", "Europe"): "entailed",
    }
    assert found["total"] == {"known": 2, "derived": 2}
    assert all(one["score"] is not None and 0 <= one["probability"] <= 1 for one in found["facts"])
    assert len(service.get("/v1/entity", name="Spain", limit=1)["facts"]) == 2


def test_predictions_are_new_and_do_not_follow_and_the_most_probable_come_first(service, run):
    found = service.get("/v1/entity/predicted", name="Madrid", k=8)["facts"]
    assert all(one["status"] == "predicted" and one["split"] is None for one in found)
    assert all("Madrid" in (one["subject"], one["object"]) for one in found)
    probabilities = [one["probability"] for one in found]
    assert probabilities == sorted(probabilities, reverse=True)
    keys = [(one["subject"], one["relation"], one["object"]) for one in found]
    assert len(set(keys)) == len(keys) == 8
    best = max(
        score.probability
        for score in run.score(
            [
                fact
                for other in run.graph.entities
                for relation in run.graph.relations
                for fact in (("Madrid", relation, other), (other, relation, "Madrid"))
                if fact not in {("Madrid", "located_in", "Southern Europe"), ("Madrid", "located_in", "Europe")}
            ]
        )
        if not score.known
    )
    assert probabilities[0] == pytest.approx(best)


def test_neighbours_are_those_of_the_graph(service, run):
    found = service.get("/v1/entity/neighbours", name="Spain")
    assert {one["name"] for one in found["entities"]} == {
        "Spain", "Southern Europe", "Europe", "France", "Portugal", "Madrid",
    }  # fmt: skip
    assert ("Portugal", "located_in", "Southern Europe") in {
        (one["subject"], one["relation"], one["object"]) for one in found["facts"]
    }
    few = service.get("/v1/entity/neighbours", name="Spain", limit=3)
    assert len(few["entities"]) == 3
    assert few["left_out"] == 3
    names = {one["name"] for one in few["entities"]}
    assert all({one["subject"], one["object"]} <= names for one in few["facts"])


@pytest.mark.parametrize("metric", ["cosine", "dot", "euclidean"])
def test_nearest_are_those_of_the_run(service, run, metric):
    found = service.get("/v1/entity/nearest", name="Spain", k=4, metric=metric)["nearest"]
    assert [(one["name"], one["score"]) for one in found] == [
        (one.name, one.score) for one in run.nearest("Spain", 4, metric=metric)
    ]


@pytest.mark.parametrize("path", ["", "/predicted", "/neighbours", "/nearest"])
def test_unknown_entities_are_not_found(service, path):
    assert "/v1/entities?q=" in service.get(f"/v1/entity{path}", 404, name="Spian")["detail"]


def test_facts_around_an_entity_are_all_that_it_is_in():
    from clausal.run.known_facts import SortedFacts

    rng = np.random.default_rng(0)
    facts = np.unique(
        np.stack([rng.integers(9, size=60), rng.integers(3, size=60), rng.integers(9, size=60)], 1), axis=0
    )
    index = SortedFacts(facts, 9, 3)
    for entity in range(9):
        expected = {tuple(row) for row in facts.tolist() if entity in (row[0], row[2])}
        found = [tuple(row) for row in index.around(entity).tolist()]
        assert set(found) == expected
        assert len(found) == len(expected)
