"""Runs with described entities: trained, kept, resumed, and asked about entities that nobody has seen."""

import numpy as np
import pytest
import torch

import clausal
from clausal.errors import InputError
from command_line import clausal as command
from command_line import refused
from described import KINDS, animal_graph, animal_texts, settings_with, train_described, write_texts


@pytest.fixture(scope="module")
def texts(tmp_path_factory):
    return write_texts(tmp_path_factory.mktemp("texts") / "descriptions.tsv", animal_texts())


@pytest.fixture(scope="module")
def run(texts, tmp_path_factory):
    return train_described(texts, out=tmp_path_factory.mktemp("runs") / "described", clauses="")


@pytest.mark.parametrize("kind", KINDS)
def test_an_unseen_animal_is_answered_for_by_its_text(run, kind):
    answers = run.predict(f'is_a("a green {kind} that lives on a farm", ?)', k=3)
    assert answers[0].object == kind
    assert answers[0].subject == f"a green {kind} that lives on a farm"
    assert [answer.rank for answer in answers] == [1, 2, 3]


def test_a_described_entity_is_asked_about_and_an_answer(run):
    described = run.describe({"rex": "a brave dog that lives on a farm", "tom": "a lazy cat"})
    assert described.predict("is_a(rex, ?)", k=1)[0].object == "dog"
    assert "rex" in {answer.subject for answer in described.predict("is_a(?, dog)", k=12)}
    assert len(run.graph.entities) == len(described.graph.entities) - 2
    together = described.predict(["is_a(rex, ?)", "is_a(?, cat)", "eats(red_dog, ?)"], k=4)
    assert together[2][0] == run.predict("eats(red_dog, ?)", k=1)[0]
    assert described.score([("rex", "is_a", "dog"), ("rex", "is_a", "fish")]).scores.argmax() == 0


def test_answers_about_a_text_leave_out_the_text_itself(run):
    for question in ('kin(?, "a loud dog")', 'kin("a loud dog", ?)'):
        answers = run.predict(question, k=60)
        found = {answer.subject if "?," in question else answer.object for answer in answers}
        assert found == set(run.graph.entities)


def test_a_loaded_run_answers_in_the_same_numbers(run):
    loaded = clausal.load(run.path)
    question = 'is_a("a green dog", ?)'
    assert loaded.predict(question) == run.predict(question)
    assert loaded.evaluate("train").filtered == run.evaluate("train").filtered
    torch.testing.assert_close(loaded.predictor.encode_all(), run.predictor.encode_all(), rtol=0, atol=0)


def test_a_run_with_a_hidden_layer_is_kept_described_and_updated(tmp_path):
    graph = animal_graph()
    drawn = dict(zip(graph.entities, np.random.default_rng(0).normal(size=(len(graph.entities), 6)), strict=True))
    drawn = {name: drawn[name.split("_")[-1]] + 0.1 * vector for name, vector in drawn.items()}  # like its kind's
    path = tmp_path / "vectors.parquet"
    pandas = pytest.importorskip("pandas")
    pandas.DataFrame({"name": list(drawn), "vector": [row.tolist() for row in drawn.values()]}).to_parquet(path)
    settings = settings_with(descriptions={"vectors": str(path), "hidden": 16}, train={"optimizer": "adam"})
    run = clausal.train(graph, (), settings, out=tmp_path / "run")
    loaded = clausal.load(tmp_path / "run")
    torch.testing.assert_close(loaded.predictor.encode_all(), run.predictor.encode_all(), rtol=0, atol=0)
    described = loaded.describe({"rex": drawn["dog"]})
    assert described.predict("is_a(rex, ?)", k=1)[0].object == "dog"
    updated = loaded.update([("rex", "is_a", "dog")], descriptions={"rex": drawn["cat"]}, refine=0, out=tmp_path / "2")
    assert updated.predict("eats(rex, ?)", k=1)[0].object == "dog food"  # facts say more than a description
    again = clausal.load(tmp_path / "2").predictor.encode_all()
    torch.testing.assert_close(again, updated.predictor.encode_all(), rtol=0, atol=0)


@pytest.mark.parametrize("domain", ["cube", "box", "ball", "sphere"])
def test_certificates_cover_every_text(texts, domain):
    """A certificate for the domain bounds the violation by any pair of entities, described now or later."""
    run = train_described(
        texts, model={"domain": domain, "dim": 8, "scorer": "distmult"}, train={"epochs": 1, "passes": 3}
    )
    words = ["dog", "cat", "food", "x", "old"]
    new = {f"unseen {n}": " ".join(np.random.default_rng(n).choice(words, 4)) for n in range(30)}
    described = run.describe(new)
    assert run.predictor.domain.contains(described.predictor.encode_all()).all()
    before, after = (one.certify(region="domain").clauses for one in (run, described))
    for old, now in zip(before, after, strict=True):
        assert old.bound == pytest.approx(now.bound, rel=1e-4, abs=1e-5)
        assert now.entities.worst <= old.bound + 1e-4


def test_an_interrupted_training_ends_as_if_it_had_not_been(texts, tmp_path):
    class Stop(clausal.Observer):
        def epoch(self, record):
            if record["epoch"] == 2:
                raise KeyboardInterrupt

    clauses = clausal.parse_clauses("is_a(X, Y) => kin(X, Y)")
    settings = settings_with(descriptions={"text": str(texts)}, train={"checkpoint_seconds": 0, "epochs": 3})
    copied = tmp_path / "texts.tsv"
    copied.write_bytes(texts.read_bytes())
    whole = clausal.train(animal_graph(), clauses, settings)
    other = settings_with(descriptions={"text": str(copied)}, train={"checkpoint_seconds": 0, "epochs": 3})
    with pytest.raises(KeyboardInterrupt):
        clausal.train(animal_graph(), clauses, other, out=tmp_path / "run", observer=Stop())
    copied.unlink()  # the run directory holds the features
    resumed = clausal.resume(tmp_path / "run")
    torch.testing.assert_close(resumed.predictor.encode_all(), whole.predictor.encode_all(), rtol=0, atol=0)


def test_entities_that_train_lacks_are_neither_corruptions_nor_candidates(texts):
    """Their rows have no gradient, and stay as they were drawn."""
    from clausal.training import prepare

    facts = animal_graph().split_by_entities(seed=1)
    described = {"text": str(texts), "own_dropout": 0.0}
    for training in ("corruption", "1-vs-all", "k-vs-all"):
        about = {"training": training, "loss": "hinge" if training == "corruption" else "softmax"}
        prepared = prepare(facts, (), settings_with(descriptions=described, facts=about, train={"epochs": 1}))
        prepared.run()
        unseen = np.setdiff1d(np.arange(len(facts.entities)), facts.train[:, [0, 2]])
        assert len(unseen)
        own = prepared.predictor.encoder.own.detach()
        assert (own[unseen] == 0).all()
        assert (own[np.unique(facts.train[:, [0, 2]])] != 0).any(1).all()


def test_drawn_candidates_are_those_of_the_batch_and_some(texts):
    from clausal.training import prepare

    few = prepare(animal_graph(), (), settings_with(facts={"candidates": 5}))
    every = prepare(animal_graph(), (), settings_with(facts={"candidates": "all"}))
    assert few.objective.loss.candidates == 5
    rows = every.objective.facts[:4].long()
    assert few.objective.loss(rows)[0] < every.objective.loss(rows)[0]
    drawn = prepare(animal_graph(), (), settings_with(descriptions={"text": str(texts)}, facts={"candidates": "all"}))
    drawn.predictor.eval()
    whole = drawn.objective.loss(rows)[0]
    table = drawn.predictor.with_table()
    other = type(drawn.objective.loss)(**(vars(drawn.objective.loss) | {"predictor": table}))
    torch.testing.assert_close(other(rows)[0], whole)


def test_given_vectors_describe_entities_too(tmp_path):
    graph = animal_graph()
    of_kind = {kind: np.eye(len(KINDS))[place] for place, kind in enumerate(KINDS)}
    vectors = {name: of_kind[kind] for name in graph.entities for kind in KINDS if kind in name}
    path = tmp_path / "vectors.txt"
    path.write_text("".join(f"{name} {' '.join(map(str, one))}\n" for name, one in vectors.items()))
    run = clausal.train(graph, (), settings_with(descriptions={"vectors": str(path)}), out=tmp_path / "run")
    described = clausal.load(run.path).describe({"rex": of_kind["dog"] + 0.1})
    assert described.predict("is_a(rex, ?)", k=1)[0].object == "dog"
    assert not run.describes_texts
    with pytest.raises(InputError, match="expected vectors of 5 numbers, as this model was trained with; got 4"):
        run.describe({"rex": [0.0, 1, 2, 3]})
    new = tmp_path / "new.txt"
    new.write_text("rex 1 0 0 0 0\n")
    assert "rex" in command("predict", run.path, "is_a(rex, ?)", "--describe", new).stdout
    refused(command("predict", run.path, 'is_a("some text", ?)'), "unknown entity 'some text'")


def test_what_is_no_description_is_refused(run, texts):
    with pytest.raises(InputError, match="the text of 'rex' is empty"):
        run.describe({"rex": " "})
    with pytest.raises(InputError, match="'dog' is an entity of the run already"):
        run.describe({"dog": "a dog"})
    with pytest.raises(InputError, match="vector of finite numbers"):
        run.describe({"rex": [1.0, float("nan")]})
    with pytest.raises(InputError, match="describe all by texts, or all by vectors"):
        run.describe({"rex": "a dog", "tom": [1.0]})
    plain = clausal.train(animal_graph(), (), settings_with(train={"epochs": 1}))
    with pytest.raises(InputError, match="trained without descriptions"):
        plain.describe({"rex": "a dog"})
    with pytest.raises(InputError, match="unknown entity 'a dog'"):
        plain.predict('is_a("a dog", ?)')


def test_a_damaged_file_of_features_is_refused(run, tmp_path):
    import shutil

    copy = shutil.copytree(run.path, tmp_path / "copy")
    (copy / "features.safetensors").write_bytes(b"no")
    with pytest.raises(InputError, match=r"features.safetensors: damaged"):
        clausal.load(copy)
    (copy / "features.safetensors").unlink()
    with pytest.raises(InputError, match=r"features.safetensors: missing"):
        clausal.load(copy)


def test_an_update_takes_new_facts_and_texts(tmp_path):
    texts = write_texts(tmp_path / "texts.tsv", animal_texts())
    run = train_described(texts, out=tmp_path / "run")
    facts = [("rex", "is_a", "dog"), ("rex", "eats", "dog food"), ("tom", "is_a", "cat")]
    still = run.update(facts, descriptions={"rex": "a brave dog that lives on a farm"}, refine=0)
    known = run.predictor.num_entities
    assert torch.equal(still.predictor.encode_all()[:known], run.predictor.encode_all())
    updated = run.update(facts, descriptions={"rex": "a brave dog that lives on a farm"}, out=tmp_path / "new")
    again = clausal.load(tmp_path / "new")
    for one in (still, updated, again):
        assert one.predictor.domain.contains(one.predictor.encode_all()).all()
        assert one.predict("is_a(rex, ?)", 1)[0].object == "dog"
        assert one.predict("is_a(tom, ?)", 1)[0].object == "cat"
        assert one.predict('is_a("a green horse that lives on a farm", ?)', 1)[0].object == "horse"
    assert torch.equal(again.predictor.encode_all(), updated.predictor.encode_all())
    before, after = run.certify(entities=False), again.certify(entities=False)
    assert [one.bound for one in before.clauses] == [one.bound for one in after.clauses]
    assert again.update([("max", "is_a", "fish")]).predict("is_a(max, ?)", 1)[0].object == "fish"


@pytest.mark.parametrize(
    ("descriptions", "message"),
    [({"bob": "a dog"}, "'bob' is in no new fact"), ({"dog": "a dog"}, "'dog' is an entity of the run already")],
)
def test_an_update_refuses_descriptions_of_other_names(run, descriptions, message):
    with pytest.raises(InputError, match=message):
        run.update([("rex", "is_a", "dog")], descriptions=descriptions)
