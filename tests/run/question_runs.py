"""Runs with random models on strange graphs, and their answers by brute force."""

import itertools

import numpy as np
import torch

from clausal import Run, Settings
from clausal.graph import Graph, Names
from clausal.model import SCORERS, LinkPredictor, PairPredictor, Sphere, Table
from clausal.model.reciprocal import ReciprocalPredictor
from clausal.model.scorers import ModelF


def strange_graph(entities=13, relations=3, facts=60, seed=0):
    """A graph with self-loops, duplicates across splits, entities without facts and an empty valid."""
    rng = np.random.default_rng(seed)

    def draw(count):
        columns = [rng.integers(size, size=count) for size in (max(1, entities - 2), relations, max(1, entities - 2))]
        return np.stack(columns, 1).astype(np.int32)

    train = np.unique(draw(facts), axis=0)
    return Graph(
        Names([f"e {i:03}" for i in range(entities)], "entity"),
        Names([f"r{i}" for i in range(relations)], "relation"),
        train,
        test=np.unique(np.concatenate([train[:3], draw(facts // 5)]), axis=0),
    )


def random_run(scorer="complex", graph=None, *, reciprocal=False, dim=4, ties=False, calibration=None):
    """A run whose model has random vectors; with ``ties`` few distinct ones, so that many scores are equal."""
    graph = graph or strange_graph()
    sizes = {"num_entities": len(graph.entities), "num_relations": len(graph.relations), "domain": Sphere()}
    generator = torch.Generator().manual_seed(1)
    if scorer == "model-f":
        predictor = PairPredictor(torch.from_numpy(graph.train[:, [0, 2]]), ModelF(dim), **sizes)
    else:
        kind = ReciprocalPredictor if reciprocal else LinkPredictor
        predictor = kind(Table(len(graph.entities), dim), SCORERS[scorer](dim), **sizes)
    predictor.reset_parameters(generator)
    predictor.relations.data.normal_(generator=generator)
    if ties:
        predictor.encoder.weight.data = predictor.encoder.weight.data[torch.arange(len(predictor.encoder.weight)) % 3]
    return Run(predictor.eval(), graph, (), Settings(), calibration=calibration)


def brute_force(run, question, k, *, new=False, first=()):
    """The names and scores of the best answers, each candidate scored by itself as the model reads the question."""
    graph, predictor = run.graph, run.predictor
    ids = [
        None if name is None else names.id(name)
        for name, names in zip(question, (graph.entities, graph.relations, graph.entities), strict=True)
    ]
    choices = [
        range(len(names)) if one is None else [one]
        for one, names in zip(ids, (graph.entities, graph.relations, graph.entities), strict=True)
    ]
    known = set(map(tuple, graph.known.tolist()))
    rows = []
    for fact in itertools.product(*choices):
        if new and fact in known:
            continue
        score = one_score(predictor, ids, fact)
        rows.append((fact not in first, -score, fact))
    rows.sort()
    names = (graph.entities, graph.relations, graph.entities)
    return [((names[0][fact[0]], names[1][fact[1]], names[2][fact[2]]), -score) for _, score, fact in rows[:k]]


@torch.no_grad()
def one_score(predictor, asked, fact):
    subject, relation, object = (torch.tensor([one]) for one in fact)
    if predictor.rows_per_relation > 1 and asked[0] is None:
        return float(predictor.with_inverses().score(object, predictor.inverse(relation), subject))
    if predictor.rows_per_relation > 1 and asked[2] is None:
        return float(predictor.with_inverses().score(subject, relation, object))
    return float(predictor.score(subject, relation, object))


def all_questions(graph):
    """Every question that can be asked, and some whole facts."""
    entities, relations = list(graph.entities), list(graph.relations)
    found = [(subject, relation, None) for subject in entities for relation in relations]
    found += [(None, relation, object) for relation in relations for object in entities]
    found += [(subject, None, object) for subject in entities[:4] for object in entities]
    return found + [(subject, relations[0], object) for subject in entities[:2] for object in entities]
