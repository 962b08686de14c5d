"""Scores and ranks by votes are those of plain Python that enumerates paths and attributes."""

import numpy as np
import pytest
import torch
from by_hand import all_features, measured_path, strange_graph
from score_tables import TablePredictor, naive_ranks, random_table

from clausal.evaluation import evaluate
from clausal.fusion import FEATURES, Fused, RulesAlone, VotingRules, contributions
from clausal.fusion.evidence import Evidence
from clausal.fusion.measuring import measure_paths
from clausal.logic.mining import Edges, mine_attributes, mine_paths


def mined(graph):
    edges = Edges(graph.train, len(graph.entities), len(graph.relations))
    return VotingRules(mine_paths(edges, min_support=2), mine_attributes(edges, min_support=2))


def made(seed):
    graph = strange_graph(seed)
    rules = mined(graph)
    keep = np.arange(0, len(rules.paths), max(1, len(rules.paths) // 40))  # by hand, paths of three atoms take long
    rules = VotingRules(rules.paths.select(keep), rules.attributes)
    return graph, rules, Evidence(graph.train, len(graph.entities), len(graph.relations), rules)


@pytest.fixture(scope="module", params=[0, 1])
def case(request):
    graph, rules, evidence = made(request.param)
    table = random_table(request.param, len(graph.relations), len(graph.entities)).table
    return graph, rules, evidence, table, all_features(graph, rules, table)


def weights_of(graph, seed=3):
    return np.random.default_rng(seed).normal(size=(2 * len(graph.relations), len(FEATURES)))


def test_fused_scores_are_the_weighted_features(case):
    graph, _, evidence, table, features = case
    weights = weights_of(graph)
    ranker = Fused(TablePredictor(table), evidence, weights)
    entities, relations = len(graph.entities), len(graph.relations)
    asked = torch.arange(entities)
    for relation in range(relations):
        for label, scores in (
            (relation, ranker.score_objects(asked, torch.full((entities,), relation))),
            (relation + relations, ranker.score_subjects(torch.full((entities,), relation), asked)),
        ):
            np.testing.assert_allclose(scores.numpy(), features[label] @ weights[label], rtol=1e-4, atol=1e-4)


def test_the_score_of_a_fact_is_the_mean_of_its_two_sides(case):
    graph, _, evidence, table, features = case
    weights, relations = weights_of(graph), len(graph.relations)
    scores = Fused(TablePredictor(table), evidence, weights).score(*torch.from_numpy(graph.test.astype(np.int64)).T)
    for (s, r, o), score in zip(graph.test, scores.tolist(), strict=True):
        sides = features[r, s, o] @ weights[r], features[r + relations, o, s] @ weights[r + relations]
        assert score == pytest.approx(sum(sides) / 2, rel=1e-4, abs=1e-4)


def test_contributions_sum_to_the_score_and_name_rules_that_vote(case):
    graph, _, evidence, table, features = case
    weights = weights_of(graph)
    ranker = Fused(TablePredictor(table), evidence, weights)
    clauses = 0
    for s, r, o in graph.test.tolist():
        for question in ((s, r, o), (o, r + len(graph.relations), s)):
            parts = contributions(ranker, graph, *question)
            entity, label, answer = question
            assert sum(part.value for part in parts) == pytest.approx(
                features[label, entity, answer] @ weights[label], rel=1e-4, abs=1e-4
            )
            clauses += sum(part.clause is not None for part in parts)
            for part in parts:
                known = {(fact.subject, fact.relation, fact.object) for fact in part.facts}
                train = {(graph.entities[a], graph.relations[b], graph.entities[c]) for a, b, c in graph.train}
                assert known <= train
    assert clauses > 5


def test_ranks_by_votes_equal_those_of_a_dense_table(case):
    graph, _, evidence, table, features = case
    weights = np.tile(weights_of(graph)[:1], (2 * len(graph.relations), 1)).round(1)
    found = evaluate(Fused(TablePredictor(table), evidence, weights), graph)
    relations = len(graph.relations)
    known = {tuple(map(int, fact)) for fact in graph.known}
    facts = [tuple(map(int, fact)) for fact in graph.test]
    dense = features @ weights[0]
    for side, by_subject in (
        ("object", dense[:relations]),
        ("subject", dense[relations:].transpose(0, 2, 1)),
    ):
        expected = naive_ranks(by_subject.round(4).tolist(), facts, known, "realistic")
        assert found.ranks.of("filtered", side).tolist() == expected["filtered", side]


def test_rules_alone_compare_the_best_rule_first(case):
    graph, rules, evidence, table, beside = case
    features = all_features(graph, rules, table, alone=True)
    assert (features[..., 1:4] > beside[..., 1:4]).any()
    scores = RulesAlone(evidence, torch.device("cpu")).score_objects(torch.arange(7), torch.zeros(7, dtype=torch.int64))
    best = np.expm1(features[0, :7, :, 1:4].max(axis=2)) / 100
    assert np.all(np.abs(scores.numpy() - best) < 2**-15)
    assert evaluate(RulesAlone(evidence, torch.device("cpu")), graph).ranking == "rules"


@pytest.mark.parametrize("seed", range(3))
def test_given_rules_are_counted_as_by_hand(seed):
    graph = strange_graph(seed)
    rng = np.random.default_rng(seed)
    labels = [rng.integers(6, size=length).tolist() for length in (1, 2, 3) for _ in range(8)]
    heads = rng.integers(3, size=len(labels))
    bodies = np.array([[*one, *[-1] * (3 - len(one))] for one in labels])
    counts = measure_paths(Edges(graph.train, len(graph.entities), 3), heads, bodies)
    for row, (head, one) in enumerate(zip(heads.tolist(), labels, strict=True)):
        support, pairs, at_subject, at_object = measured_path(graph, head, one)
        assert (counts[0][row], counts[1][row]) == (support, pairs)
        assert counts[2][row].tolist() == [at_subject, at_object]
