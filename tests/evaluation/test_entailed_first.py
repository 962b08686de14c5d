"""The facts of a closure rank above all others, and both groups keep the order of the model's scores."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from score_tables import TablePredictor, naive_ranks, random_facts, random_table
from torch import nn

from clausal.errors import InputError, RunError
from clausal.evaluation import EntailedFirst, Known, evaluate, rank
from clausal.graph import Graph, Names

RELATIONS, ENTITIES = 3, 11
FLOATS = st.floats(width=32, allow_nan=False) | st.sampled_from([0.0, -0.0, 1e-45, -1e-45, 1.0, 1.0 + 2**-23, -1.0])


def graph_of(train, test):
    names = Names([f"e{number:02}" for number in range(ENTITIES)], "entity")
    return Graph(names, Names(["p", "q", "r"], "relation"), train, test=test)


def by_hand(predictor, closure):
    """The order that is asked for, as pairs that Python compares: whether entailed, then the score."""
    entailed = set(map(tuple, closure.tolist()))
    return [
        [[((s, r, o) in entailed, score) for o, score in enumerate(row)] for s, row in enumerate(table)]
        for r, table in enumerate(predictor.table.tolist())
    ]


@pytest.mark.parametrize("ties", ["realistic", "optimistic", "pessimistic"])
@pytest.mark.parametrize("memory", [1, 10_000])
def test_ranks_are_those_of_a_count_by_hand(ties, memory):
    predictor = random_table(0, RELATIONS, ENTITIES)
    closure = random_facts(1, 60, RELATIONS, ENTITIES)
    facts = random_facts(2, 50, RELATIONS, ENTITIES)
    known = np.concatenate([facts, random_facts(3, 40, RELATIONS, ENTITIES)])
    index = Known(known, ENTITIES, RELATIONS)
    ranks = rank(EntailedFirst(predictor, closure), facts, index, ties=ties, memory=memory)
    expected = naive_ranks(by_hand(predictor, closure), facts.tolist(), set(map(tuple, known.tolist())), ties)
    for (setting, side), values in expected.items():
        assert ranks.of(setting, side).tolist() == values


@settings(deadline=None)
@given(st.lists(FLOATS, min_size=12, max_size=12), st.sets(st.integers(0, 11)))
def test_no_score_is_rounded_however_small_or_far_apart(scores, entailed):
    predictor = TablePredictor(torch.tensor(scores).reshape(1, 1, 12).expand(1, 12, 12))
    closure = np.array([[4, 0, o] for o in sorted(entailed)], dtype=np.int32).reshape(-1, 3)
    row = EntailedFirst(predictor, closure).score_objects(torch.tensor([4]), torch.tensor([0]))[0].tolist()
    pairs = [(place in entailed, score) for place, score in enumerate(predictor.table[0, 0].tolist())]
    for one, first in zip(row, pairs, strict=True):
        for other, second in zip(row, pairs, strict=True):
            assert (one > other, one == other) == (first > second, first == second)


def test_facts_score_the_same_one_by_one_and_among_all():
    predictor = random_table(4, RELATIONS, ENTITIES)
    ranker = EntailedFirst(predictor, random_facts(5, 80, RELATIONS, ENTITIES))
    facts = torch.from_numpy(random_facts(6, 70, RELATIONS, ENTITIES)).long()
    subjects, relations, objects = facts.unbind(1)
    scores = ranker.score(subjects, relations, objects)
    assert ranker.score_objects(subjects, relations)[range(len(facts)), objects].equal(scores)
    assert ranker.score_subjects(relations, objects)[range(len(facts)), subjects].equal(scores)


def test_without_a_closure_the_model_ranks():
    predictor, facts = random_table(7, RELATIONS, ENTITIES), random_facts(8, 50, RELATIONS, ENTITIES)
    graph = graph_of(facts[::2], facts[1::2])
    plain = evaluate(predictor, graph).to_dict()
    wrapped = evaluate(EntailedFirst(predictor, facts[:0]), graph).to_dict()
    assert wrapped == plain | {"ranking": "entailed first"}


def test_an_evaluation_says_which_ranking_it_is_of():
    predictor, facts = random_table(7, RELATIONS, ENTITIES), random_facts(8, 50, RELATIONS, ENTITIES)
    graph = graph_of(facts[::2], facts[1::2])
    assert evaluate(predictor, graph).ranking == "model"
    entailed = evaluate(EntailedFirst(predictor, facts), graph).with_ties("optimistic")
    assert entailed.ranking == entailed.to_dict()["ranking"] == "entailed first"
    assert entailed.filtered["both"]["mrr"] == 1  # all entailed facts are known here


def test_a_model_in_training_mode_is_scored_in_evaluation_mode():
    class Forgetful(TablePredictor, nn.Module):
        def __init__(self, table):
            nn.Module.__init__(self)
            TablePredictor.__init__(self, table)

        def score_objects(self, subjects, relations):
            return super().score_objects(subjects, relations) * (-1 if self.training else 1)

    forgetful = Forgetful(random_table(9, RELATIONS, ENTITIES).table).train()
    query = torch.tensor([1]), torch.tensor([2])
    ranker = EntailedFirst(forgetful, random_facts(1, 60, RELATIONS, ENTITIES))
    assert (
        ranker.score_objects(*query)
        .argsort()
        .equal(
            EntailedFirst(forgetful.eval(), random_facts(1, 60, RELATIONS, ENTITIES)).score_objects(*query).argsort()
        )
    )


def test_what_cannot_be_ranked_is_refused():
    predictor, facts = random_table(7, RELATIONS, ENTITIES), random_facts(8, 50, RELATIONS, ENTITIES)
    with pytest.raises(InputError, match="knows 11 entities"):
        EntailedFirst(predictor, np.array([[0, 0, ENTITIES]], dtype=np.int32))
    with pytest.raises(RunError, match="not numbers"):
        evaluate(
            EntailedFirst(TablePredictor(predictor.table * float("nan")), facts), graph_of(facts[::2], facts[1::2])
        )
    with pytest.raises(InputError, match="as float32"):
        EntailedFirst(TablePredictor(predictor.table.double()), facts).score_objects(
            torch.tensor([0]), torch.tensor([0])
        )
