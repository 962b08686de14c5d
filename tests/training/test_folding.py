"""Folding in: vectors of new entities in the domain, of every kind of model, and nothing else moves."""

import pytest
import torch

from clausal.adversary.clauses import group_clauses
from clausal.adversary.regions import region_of
from clausal.config import Settings
from clausal.errors import InputError
from clausal.graph.graph import Graph
from clausal.logic import parse_clause
from clausal.run.training import train
from clausal.training.folding import Limits, fold_in, refine
from small_graphs import small_facts

KINDS = {
    "cube, hinge": {"model": {"domain": "cube"}},
    "sphere, logistic": {"model": {"domain": "sphere"}, "facts": {"loss": "logistic", "negatives": 3}},
    "reciprocal, softmax": {
        "model": {"domain": "none", "reciprocal": True, "initial_scale": 0.1},
        "facts": {"training": "1-vs-all", "loss": "softmax", "regulariser": "n3", "label_smoothing": 0.1},
    },
    "cone, k-vs-all": {
        "model": {"domain": "cone", "scorer": "distmult"},
        "facts": {"training": "k-vs-all", "loss": "logistic"},
    },
    "distances": {"model": {"domain": "ball", "scorer": "transe"}, "facts": {"loss": "pairwise"}},
    "rotations": {"model": {"domain": "none", "scorer": "rotate"}, "facts": {"loss": "pairwise"}},
    "a network": {"model": {"domain": "box", "scorer": "er-mlp"}},
}
NEW = [("person 01", "works_with", "zoe"), ("zoe", "works_with", "person 01"), ("zoe", "manages", "person 22")]
NEW += [("zoe", "works_with", "max"), ("max", "works_with", "zoe")]


@pytest.fixture(scope="module")
def graph():
    return Graph.from_triples(small_facts())


def trained(graph, kind, epochs=15):
    values = KINDS[kind]
    model = {"dim": 16, **values["model"]}
    about = {"train": {"epochs": epochs, "passes": 5}, "facts": {"batches": 4}}
    settings = Settings.from_mapping({**about, "model": model, "facts": {**about["facts"], **values.get("facts", {})}})
    return train(graph, (), settings)


def new_facts(graph):
    names = {name: place for place, name in enumerate([*graph.entities, "max", "zoe"])}
    rows = [(names[s], graph.relations.id(r), names[o]) for s, r, o in NEW]
    return torch.tensor(rows)


@pytest.mark.parametrize("kind", KINDS)
def test_new_entities_are_solved_for_and_nothing_else_moves(graph, kind):
    run = trained(graph, kind)
    before = {name: value.clone() for name, value in run.predictor.state_dict().items()}
    facts, known = new_facts(graph), len(graph.entities)
    vectors = fold_in(run.predictor, torch.from_numpy(graph.train), facts, 2, run.settings)
    assert vectors.shape == (2, 16)
    assert bool(torch.isfinite(vectors).all())
    assert Limits.of(run.predictor).contain(vectors)
    assert all(torch.equal(before[name], value) for name, value in run.predictor.state_dict().items())
    encoded = torch.cat([run.predictor.encode_all().detach(), vectors])

    @torch.no_grad()
    def mean_score(rows):
        subject, relation, object = encoded[rows[:, 0]], run.predictor.relation(rows[:, 1]), encoded[rows[:, 2]]
        return float(run.predictor.scorer.score(subject, relation, object).mean())

    own = facts.clone()
    others = own.repeat(known, 1)
    others[:, 2] = torch.arange(known).repeat_interleave(len(own))
    assert mean_score(own) > mean_score(others)


def test_the_discs_around_the_entities_stay_the_same(graph):
    run = trained(graph, "reciprocal, softmax")
    group = group_clauses([parse_clause("manages(X, Y) => works_with(X, Y)")], graph.entities, graph.relations)[0]
    region = region_of(run.predictor, group, "discs")
    vectors = fold_in(run.predictor, torch.from_numpy(graph.train), new_facts(graph), 2, run.settings)
    lengths = torch.linalg.vector_norm(run.predictor.scorer.components(vectors), dim=-1)
    assert bool((lengths <= region.radius[0, 0]).all())


def test_entities_without_facts_start_in_the_middle(graph):
    run = trained(graph, "cube, hinge", epochs=2)
    vectors = fold_in(
        run.predictor, torch.from_numpy(graph.train), torch.empty(0, 3, dtype=torch.int64), 1, run.settings
    )
    assert bool(run.predictor.domain.contains(vectors).all())


def test_refining_moves_known_vectors_and_lowers_withdrawn_facts(graph):
    run = trained(graph, "cube, hinge")
    gone = torch.from_numpy(graph.train[:1])
    moving = gone[:, [0, 2]].flatten().long().sort().values
    train_facts = torch.from_numpy(graph.train[1:])
    vectors = refine(run.predictor, train_facts, moving, run.settings, passes=20, withdrawn=gone)
    subject, relation, object = gone.long().unbind(1)
    before = run.predictor.score(subject, relation, object)
    run.predictor.encoder.weight.data[moving] = vectors
    assert bool((run.predictor.score(subject, relation, object) < before).all())


def test_a_model_of_pairs_has_nothing_to_fold_in(graph):
    settings = Settings.from_mapping({"model": {"scorer": "model-f", "dim": 4}, "train": {"epochs": 1, "passes": 1}})
    run = train(graph, (), settings)
    with pytest.raises(InputError, match="vectors of entity pairs"):
        fold_in(run.predictor, torch.from_numpy(graph.train), new_facts(graph), 2, settings)
