"""Votes and fused scores by plain Python: every path and every attribute of a small graph is enumerated."""

from __future__ import annotations

import math
from itertools import product

import numpy as np

from clausal.fusion.evidence import FEATURES
from clausal.graph import Graph, Names
from clausal.logic.mining import SOME


def strange_graph(seed, entities=9, relations=3, train=40, valid=25, test=12):
    """A random graph with loops, repeated facts, and entities that train has never seen."""
    rng = np.random.default_rng(seed)

    def facts(count, most):
        columns = rng.integers(most, size=count), rng.integers(relations, size=count), rng.integers(most, size=count)
        return np.stack(columns, 1).astype(np.int32)

    return Graph(
        Names([f"e{number}" for number in range(entities)], "entity"),
        Names([f"r{number}" for number in range(relations)], "relation"),
        np.concatenate([facts(train, entities - 2), np.array([[0, 0, 0], [1, 1, 1]], np.int32)]),
        valid=facts(valid, entities) if valid else np.empty((0, 3), np.int32),
        test=facts(test, entities) if test else np.empty((0, 3), np.int32),
    )


def edges_of(graph):
    """The edges (source, label, target) of train, both ways."""
    relations = len(graph.relations)
    forward = {tuple(map(int, fact)) for fact in graph.train}
    return forward | {(o, r + relations, s) for s, r, o in forward}


def reached(edges, start, labels):
    """The ends of all paths along labels whose entities are all different."""
    paths = [[start]]
    for label in labels:
        steps = [(path, target) for path in paths for source, b, target in edges if source == path[-1] and b == label]
        paths = [[*path, target] for path, target in steps if target not in path]
    return {path[-1] for path in paths}


def measured_path(graph, head, labels):
    """Support, pairs, and pairs at known subjects and objects, of one rule."""
    edges, entities = edges_of(graph), range(len(graph.entities))
    pairs = {(x, z) for x in entities for z in reached(edges, x, labels)}
    facts = {(s, o) for s, r, o in edges if r == head}
    at_subject = sum(any(s == x for s, o in facts if s != o) for x, _ in pairs)
    at_object = sum(any(o == z for s, o in facts if s != o) for _, z in pairs)
    return len(pairs & facts), len(pairs), at_subject, at_object


def backwards(labels, relations):
    return [(label + relations) % (2 * relations) for label in reversed(labels)]


def frequency(edges, label, entity):
    """The share of the entities with some edge of a label that have it to this entity."""
    holders = {(source, target) for source, one, target in edges if one == label and source != target}
    return sum(target == entity for _, target in holders) / max(1, len({source for source, _ in holders}))


def features(graph, rules, entity, label, answer, score, alone=False):
    """The features of one answer, by their definitions.

    Of rules with constants all vote where they are alone, but vague bodies count a tenth or a hundredth.
    """
    edges, relations = edges_of(graph), len(graph.relations)
    confidences = [[], [], []]
    paths = rules.paths
    for row in range(len(paths)):
        labels = [int(one) for one in paths.bodies[row] if one >= 0]
        if paths.heads[row] == label % relations:
            own = labels if label < relations else backwards(labels, relations)
            if answer in reached(edges, entity, own):
                confidences[0].append(paths.answer_confidence[row, label // relations])
    back = (label + relations) % (2 * relations)
    attributes = rules.attributes
    for rule, body in enumerate(attributes.bodies):
        pair = attributes.attribute_label[body], attributes.attribute_entity[body]
        head = attributes.attribute_label[attributes.heads[rule]], attributes.attribute_entity[attributes.heads[rule]]
        if entity == answer or not (alone or attributes.confidence[rule] > frequency(edges, *head)):
            continue
        vague = 0 if not alone or pair[1] != SOME else 2 if pair[0] == head[0] else 1
        confidence = attributes.confidence[rule] / 10**vague
        if head == (label, answer) and has(edges, entity, *pair, asked=label):
            confidences[1].append(confidence)
        if head == (back, entity) and has(edges, answer, *pair):
            confidences[2].append(confidence)
    often = sum(one == label and target == answer for _, one, target in edges)
    best = [math.log1p(100 * max(own, default=0.0)) for own in confidences]
    every = [math.log1p(sum(-math.log1p(-p) for p in own)) for own in confidences]
    linked = any(source == entity and target == answer for source, _, target in edges)
    found = [score, *best, *every, float(often > 0), math.log1p(often), float(linked)]
    assert len(found) == len(FEATURES)
    return found


def has(edges, holder, label, entity, asked=None):
    """Whether an entity has an attribute; whoever is asked for an answer has some answer."""
    if entity == SOME:
        known = any(one == label for _, one, _ in edges)
        return (label == asked and known) or any(s == holder and one == label and t != holder for s, one, t in edges)
    return entity != holder and (holder, label, entity) in edges


def all_features(graph, rules, table, alone=False):
    """Features of every answer to every question: [2 · relations, entities, entities, features]."""
    relations, entities = len(graph.relations), len(graph.entities)
    found = np.zeros((2 * relations, entities, entities, len(FEATURES)))
    for label, entity, answer in product(range(2 * relations), range(entities), range(entities)):
        subject, object = (entity, answer) if label < relations else (answer, entity)
        score = float(table[label % relations, subject, object])
        found[label, entity, answer] = features(graph, rules, entity, label, answer, score, alone)
    return found
