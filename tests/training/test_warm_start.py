"""A warm start: what is known by name comes along, what is new is folded in, and it gets there sooner."""

import json

import numpy as np
import pytest
import torch

from clausal import Graph, InputError, Settings, load, resume, train
from clausal.training import prepare
from clausal.training.warm_start import SHORTER, WarmStart
from small_graphs import small_facts

ABOUT = {"model": {"dim": 16}, "train": {"epochs": 6, "passes": 5}, "facts": {"batches": 4}, "evaluate": {"every": 3}}
NEW = [("Zoe", "works_with", "person 02"), ("person 02", "works_with", "Zoe"), ("Zoe", "likes", "person 03")]


@pytest.fixture(scope="module")
def earlier():
    return train(Graph.from_triples(small_facts()).split(), (), Settings.from_mapping(ABOUT))


def grown_graph():
    return Graph.from_triples([*reversed(NEW), *small_facts()])


@pytest.mark.parametrize("reciprocal", [False, True])
def test_vectors_and_relations_come_by_name(reciprocal):
    settings = Settings.from_mapping({**ABOUT, "model": {"dim": 16, "reciprocal": reciprocal}})
    run, graph = train(Graph.from_triples(small_facts()), (), settings), grown_graph()
    start = WarmStart(run.predictor, run.graph.entities, run.graph.relations)
    new = prepare(graph, (), settings, start=start).predictor
    for name in run.graph.entities:
        old_row, row = run.graph.entities.id(name), graph.entities.id(name)
        assert torch.equal(new.encoder.weight[row], SHORTER * run.predictor.encoder.weight[old_row])
    for name in run.graph.relations:
        for half in range(1 + reciprocal):
            row = graph.relations.id(name) + half * len(graph.relations)
            old_row = run.graph.relations.id(name) + half * len(run.graph.relations)
            assert torch.equal(new.relations[row], SHORTER * run.predictor.relations[old_row])
    random = prepare(graph, (), settings).predictor
    zoe, likes = graph.entities.id("Zoe"), graph.relations.id("likes")
    assert not torch.equal(new.encoder.weight[zoe], random.encoder.weight[zoe])  # folded in
    assert torch.equal(new.relations[likes], random.relations[likes])
    assert bool(new.domain.contains(new.encoder.weight).all())


def test_a_short_warm_training_gets_as_far_as_a_long_one():
    from clausal.demo import SETTINGS, world

    graph, clauses = world()
    rows = np.sort(np.random.default_rng(0).permutation(len(graph.train))[: int(0.9 * len(graph.train))])
    values = SETTINGS.model_dump(exclude_none=True)
    fewer = Settings.from_mapping({**values, "train": {**values["train"], "epochs": SETTINGS.train.epochs // 5}})
    part = Graph(graph.entities, graph.relations, graph.train[rows], graph.valid, graph.test)
    whole = Graph(graph.entities, graph.relations, graph.train, graph.valid, graph.test)
    full, early = train(whole, clauses, SETTINGS), train(part, clauses, SETTINGS)
    warm, cold = train(whole, clauses, fewer, start=early), train(whole, clauses, fewer)

    def mrr(run):
        return run.metrics["valid"]["filtered"]["both"]["mrr"]

    assert mrr(warm) >= mrr(full) - 0.005
    assert mrr(cold) < mrr(warm)


@pytest.mark.parametrize(
    ("model", "named"),
    [
        ({"dim": 8}, "model.dim"),
        ({"scorer": "distmult", "dim": 16}, "model.scorer"),
        ({"reciprocal": True, "dim": 16}, "model.reciprocal"),
    ],
)
def test_another_kind_of_model_is_refused(earlier, model, named):
    settings = Settings.from_mapping({**ABOUT, "model": model})
    with pytest.raises(InputError, match=f"{named}: the run to start from has"):
        train(grown_graph(), (), settings, start=earlier)


def test_a_graph_of_other_names_is_refused(earlier):
    with pytest.raises(InputError, match="knows none of its entities"):
        train(Graph.from_triples([("a", "works_with", "b")]), (), Settings.from_mapping(ABOUT), start=earlier)


def test_a_warm_training_is_resumed_from_its_first_pass_on(earlier, tmp_path):
    from clausal.observer import Observer

    class Stop(Observer):
        def __init__(self, after):
            self.left = after

        def passed(self, report):
            self.left -= 1
            if self.left < 0:
                raise KeyboardInterrupt

    settings = Settings.from_mapping(ABOUT)
    graph = grown_graph()
    whole = train(graph, (), settings, start=earlier, out=tmp_path / "whole")
    with pytest.raises(KeyboardInterrupt):
        train(graph, (), settings, start=earlier, out=tmp_path / "cut", observer=Stop(1))
    assert json.loads((tmp_path / "cut" / "run.json").read_text())["start"] == earlier.graph.name
    resumed = resume(tmp_path / "cut")
    assert torch.equal(resumed.predictor.encoder.weight, whole.predictor.encoder.weight)
    with pytest.raises(KeyboardInterrupt):
        train(graph, (), settings, start=earlier, out=tmp_path / "sooner", observer=Stop(0))
    with pytest.raises(InputError, match="stopped before its first pass"):
        resume(tmp_path / "sooner")
    assert load(tmp_path / "whole").graph.entities == graph.entities
