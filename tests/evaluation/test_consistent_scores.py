"""Consistent scores equal those by definition, for clauses of all shapes, and keep what they promise."""

from __future__ import annotations

import random
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from all_assignments import RELATIONS, entity_names, score_table, small_predictor
from demanded_scores import demanded, ground_clauses, random_clauses

from clausal.errors import RunError
from clausal.evaluation import evaluate
from clausal.evaluation.consistency import Consistent
from clausal.graph import Graph
from clausal.logic import parse_clause, parse_clauses
from clausal.model import SCORERS, Table
from clausal.model.reciprocal import ReciprocalPredictor
from clausal.observer import Observer


def small_world(seed, texts=None, scorer="complex"):
    """A graph with few entities, a model of small whole numbers and clauses."""
    drawn = random.Random(seed)
    entities = entity_names(drawn.choice([4, 5]))
    clauses = [parse_clause(text) for text in texts or random_clauses(drawn, drawn.choice([1, 3, 6]))]
    predictor = small_predictor(scorer, len(entities), seed, levels=drawn.choice([1, 3, 50]))
    size = (drawn.choice([0, 3, 6]), 3)
    train = np.random.default_rng(seed).integers([0, 0, 0], [len(entities), 5, len(entities)], size=size)
    graph = SimpleNamespace(train=np.unique(train.astype(np.int32), axis=0), entities=entities, relations=RELATIONS)
    return graph, predictor, clauses


@pytest.mark.parametrize("seed", range(40))
def test_scores_are_those_by_definition(seed):
    graph, predictor, clauses = small_world(seed, scorer=["distmult", "complex", "rescal", "transe"][seed % 4])
    expected = demanded(score_table(predictor), clauses, graph.train.tolist(), graph.entities, RELATIONS)
    consistent = Consistent(predictor, graph, clauses)
    if seed % 2:  # whole tables of some relations, rows of others
        count = len(graph.entities)
        facts = [(s, r, o) for r in range(5) for s in range(count) for o in range(count) if r != 1 or s == o == 1]
        consistent.prepare(np.array(facts, np.int32))
    everyone = torch.arange(len(graph.entities))
    some = everyone[[1, 3]]
    for relation in range(5):
        for turned, table in ((False, expected[relation]), (True, expected[relation].T)):
            for ids in (everyone, some):
                assert np.array_equal(consistent.rows(relation, turned, ids).numpy(), table[ids])
        pairs = consistent.score(everyone[:, None], torch.tensor(relation), everyone)
        assert np.array_equal(pairs.numpy(), expected[relation])


@pytest.mark.parametrize("seed", range(40, 46))
def test_no_ground_clause_is_broken(seed):
    graph, predictor, clauses = small_world(seed)
    consistent = Consistent(predictor, graph, clauses)
    everyone = torch.arange(len(graph.entities))
    scores = np.stack([consistent.rows(relation, False, everyone).numpy() for relation in range(5)])
    for body, head in ground_clauses(clauses, graph.entities, RELATIONS):
        least = min((scores[fact] for fact in body), default=np.inf)
        # What constraints forbid is removed, unless train itself entails it.
        assert least in (-np.inf, np.inf) if head is None else scores[head] >= least


def test_answers_are_in_the_order_of_the_scores_and_what_is_certain_in_its_own():
    graph, predictor, clauses = small_world(3, ["p(X, Y) => q(X, Y)", "q(X, Y), r(X, Y) => false"])
    graph.train = np.array([[0, 0, 1], [0, 1, 2], [0, 0, 3]], np.int32)
    consistent = Consistent(predictor, graph, clauses)
    q = RELATIONS.id("q")
    asked = torch.tensor([0]), torch.tensor([q])
    answers = consistent.score_objects(*asked)[0]
    scores, own = consistent.rows(q, False, asked[0])[0], predictor.score_objects(*asked)[0]
    certain = scores.isposinf()
    assert certain.nonzero().flatten().tolist() == [1, 2, 3]
    assert answers[certain].min() > answers[~certain].max()
    assert torch.equal(answers[~certain], scores[~certain])
    above = (answers[certain][:, None] > answers[certain]).equal(own[certain][:, None] > own[certain])
    assert above


@pytest.mark.parametrize("scorer", ["complex", "transe"])
def test_a_reciprocal_model_has_the_mean_of_both_readings(scorer):
    graph, _, clauses = small_world(5, ["p(X, Y) => q(Y, X)", "q(X, Y), p(Y, Z) => r(X, Z)"])
    predictor = ReciprocalPredictor(
        Table(len(graph.entities), 4), SCORERS[scorer](4), num_entities=len(graph.entities), num_relations=5
    )
    expected = demanded(score_table(predictor), clauses, graph.train.tolist(), graph.entities, RELATIONS)
    consistent = Consistent(predictor, graph, clauses)
    everyone = torch.arange(len(graph.entities))
    for relation in range(5):
        for turned in (False, True):
            rows = (
                consistent.rows(relation, turned, everyone).T if turned else consistent.rows(relation, turned, everyone)
            )
            np.testing.assert_allclose(rows.detach().numpy(), expected[relation], rtol=1e-4, atol=1e-5)


def test_votes_have_the_mean_of_both_questions():
    class Votes:
        """Scores a fact otherwise as the answer for its subject than as that for its object."""

        per_question = True
        num_entities, num_relations, device = 5, 5, torch.device("cpu")
        objects = torch.randn(5, 5, 5, generator=torch.Generator().manual_seed(0))
        subjects = torch.randn(5, 5, 5, generator=torch.Generator().manual_seed(1))

        def score_objects(self, subjects, relations):
            return self.objects[relations, subjects].clone()

        def score_subjects(self, relations, objects):
            return self.subjects[relations, :, objects].clone()

        def score(self, subjects, relations, objects):
            return (self.objects[relations, subjects, objects] + self.subjects[relations, subjects, objects]) / 2

    entities = entity_names(5)
    clauses = parse_clauses("p(X, Y) => q(Y, X)\nq(X, Y), q(Y, Z) => q(X, Z)\ns(X, Y), q(X, Y) => false")
    graph = SimpleNamespace(train=np.array([[0, 0, 1]], np.int32), entities=entities, relations=RELATIONS)
    table = ((Votes.objects + Votes.subjects) / 2).double().numpy()
    expected = demanded(table, clauses, graph.train.tolist(), entities, RELATIONS)
    told = []
    observer = Observer()
    observer.advanced = lambda *progress: told.append(progress)
    consistent = Consistent(Votes(), graph, clauses, observer=observer)
    everyone = torch.arange(5)
    for relation in (0, 1, 3):  # that clauses speak of
        np.testing.assert_allclose(consistent.rows(relation, False, everyone).numpy(), expected[relation], rtol=1e-5)
    assert [one[1:] for one in told if one[0] == "asking"] == [(5 * n, 30, "questions") for n in range(1, 7)]
    asked = torch.full((5,), 4)
    assert torch.equal(consistent.score_subjects(asked, everyone), Votes().score_subjects(asked, everyone))
    known = np.array([[0, 1, 2], [1, 4, 2], [2, 3, 3]], np.int32)
    names = [(f"e{s}", RELATIONS[r], f"e{o}") for s in range(5) for r in range(5) for o in range(5)]
    ranked = evaluate(consistent, Graph.from_triples(names), split=known)
    assert ranked.ranking == "model, consistent"
    assert len(ranked.ranks) == 3


def test_tables_that_do_not_fit_are_refused_with_what_to_do():
    graph, predictor, clauses = small_world(1, ["r(X, Y), r(Y, Z) => r(X, Z)"])
    consistent = Consistent(predictor, graph, clauses, memory=10)
    with pytest.raises(RunError, match=r"need 9 tables more.*name fewer clauses"):
        consistent.prepare(np.array([[0, RELATIONS.id("r"), 0]], np.int32))


def test_clauses_that_choose_between_facts_are_left_out():
    graph, predictor, clauses = small_world(1, ["p(X, Y) => q(X, Y) | r(X, Y)", "p(X, Y) => q(X, Y)"])
    consistent = Consistent(predictor, graph, clauses)
    assert [str(clause) for clause, _ in consistent.left_out] == ["p(X, Y) => q(X, Y) | r(X, Y)"]
