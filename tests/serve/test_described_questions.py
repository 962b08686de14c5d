"""Questions about texts, and consistent answers, over HTTP are those of the run."""

import pytest
from service import started

from described import animal_texts, train_described, write_texts

REX = {"rex": "a brave dog that lives on a farm"}


@pytest.fixture(scope="module")
def animals(tmp_path_factory):
    folder = tmp_path_factory.mktemp("animals")
    return train_described(write_texts(folder / "texts.tsv", animal_texts()), out=folder / "animals")


@pytest.fixture(scope="module")
def animal_service(animals):
    with started(animals.path, "--rate", "0") as found:
        yield found


@pytest.mark.parametrize("consistent", [False, True])
def test_described_entities_are_asked_about_and_scored(animal_service, animals, consistent):
    described = animals.describe(REX)
    questions = ["is_a(rex, ?)", "kin(?, dog)"]
    payload = {"queries": questions, "k": 60, "describe": REX, "consistent": consistent}
    found = animal_service.post("/v1/predict", payload)["results"]
    for result, answers in zip(found, described.predict(questions, 60, consistent=consistent), strict=True):
        assert [(one["subject"], one["object"]) for one in result["answers"]] == [
            (one.subject, one.object) for one in answers
        ]
    about_rex = [one for one in found[1]["answers"] if one["subject"] == "rex"]
    assert [one["status"] for one in about_rex] == ["predicted"]
    assert {one["status"] for one in found[1]["answers"]} >= {"entailed", "predicted"}
    facts = [["rex", "is_a", "dog"], ["red_dog", "kin", "dog"]]
    rows = animal_service.post("/v1/score", {"facts": facts, "describe": REX, "consistent": consistent})["facts"]
    first, second = described.score(facts, consistent=consistent).scores
    assert rows[0]["score"] == pytest.approx(first)
    assert rows[1]["score"] == (None if consistent else pytest.approx(second))


def test_a_described_entity_is_forgotten_after_its_request(animal_service):
    animal_service.post("/v1/predict", {"queries": ["is_a(rex, ?)"], "describe": REX})
    animal_service.post("/v1/predict", {"queries": ["is_a(rex, ?)"]}, status=422)


def test_descriptions_that_cannot_be_used_are_refused(animal_service, service):
    for payload in (
        {"describe": {"red_dog": "a dog"}},
        {"describe": {"rex": " "}},
        {"describe": REX, "explain": True},
    ):
        animal_service.post("/v1/predict", {"queries": ["is_a(rex, ?)"], **payload}, status=422)
    without = service.post("/v1/predict", {"queries": ["located_in(rex, ?)"], "describe": REX}, status=422)
    assert "trained without descriptions" in str(without)
