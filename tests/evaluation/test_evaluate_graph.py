"""Evaluation of a graph: filters, parts, relations, and the shape of its JSON."""

from __future__ import annotations

import json

import numpy as np
import pytest
from score_tables import naive_ranks, random_facts, random_table

from clausal.errors import InputError
from clausal.evaluation import Known, evaluate, metrics, rank
from clausal.graph.graph import Graph
from clausal.graph.vocabulary import Names

N, R = 15, 3
SIDE_KEYS = {"mrr", "hits@1", "hits@3", "hits@5", "hits@10", "mean_rank", "median_rank", "count"}


@pytest.fixture
def predictor():
    return random_table(3, relations=R, entities=N, levels=6)


@pytest.fixture
def graph():
    facts = random_facts(7, 300, relations=R, entities=N)
    np.random.default_rng(0).shuffle(facts)
    train, valid, test = facts[:120], facts[120:150], facts[150:]
    order = np.random.default_rng(1).permutation(len(test))
    parts = {"test-I": test[order[:30]], "test-II": test[order[30:]]}
    return Graph(names("e", N, "entity"), names("r", R, "relation"), train, valid, test, parts, name="small")


def names(letter, count, kind):
    return Names([f"{letter}{number}" for number in range(count)], kind)


def naive_mrr(predictor, facts, known, ties="realistic"):
    rows, filter_facts = map(tuple, facts.tolist()), set(map(tuple, np.concatenate(known).tolist()))
    ranks = naive_ranks(predictor.table.tolist(), list(rows), filter_facts, ties)
    return np.mean([1 / value for side in ("subject", "object") for value in ranks["filtered", side]])


def test_json_has_the_documented_shape(predictor, graph):
    found = json.loads(json.dumps(evaluate(predictor, graph, per_relation=True).to_dict(), allow_nan=False))
    assert list(found) == ["filtered", "raw", "parts", "relations", "ties", "filter", "split", "ranking"]
    assert (found["ties"], found["filter"], found["split"]) == ("realistic", "full", "test")
    assert list(found["parts"]) == ["test-I", "test-II"]
    for block in (found, *found["parts"].values()):
        for setting in ("filtered", "raw"):
            assert list(block[setting]) == ["both", "subject", "object"]
            assert all(set(side) == SIDE_KEYS for side in block[setting].values())
    assert list(found["relations"]) == ["r0", "r1", "r2"]
    assert all(set(relation) == SIDE_KEYS for relation in found["relations"].values())


@pytest.mark.parametrize("split", ["valid", "test", "train"])
def test_the_full_filter_holds_every_split(predictor, graph, split):
    found = evaluate(predictor, graph, split=split)
    expected = naive_mrr(predictor, graph.splits[split], [graph.train, graph.valid, graph.test])
    assert found.filtered["both"]["mrr"] == pytest.approx(expected)
    assert bool(found.parts) == (split == "test")


def test_facts_given_as_an_array_join_the_filter(predictor, graph):
    known = set(map(tuple, graph.known.tolist()))
    new = [fact for fact in random_facts(99, 200, R, N).tolist() if tuple(fact) not in known][:20]
    facts = np.array(new, dtype=np.int32)
    found = evaluate(predictor, graph, split=facts)
    assert found.filtered["both"]["mrr"] == pytest.approx(naive_mrr(predictor, facts, [graph.known, facts]))
    assert (found.split, found.parts) == ("facts", {})


def test_parts_under_the_full_filter_average_to_the_whole(predictor, graph):
    found = evaluate(predictor, graph)
    weights = [len(part) for part in graph.parts.values()]
    mrrs = [part["filtered"]["both"]["mrr"] for part in found.parts.values()]
    assert np.average(mrrs, weights=weights) == pytest.approx(found.filtered["both"]["mrr"])
    known = Known(graph.known, N, R)
    for name, part in graph.parts.items():
        assert found.parts[name] == metrics(rank(predictor, part, known))


def test_the_partial_filter_leaves_out_the_other_part(predictor, graph):
    full, partial = evaluate(predictor, graph), evaluate(predictor, graph, filter="partial")
    assert partial.filtered == full.filtered
    assert partial.filter == "partial"
    for name, part in graph.parts.items():
        expected = naive_mrr(predictor, part, [graph.train, graph.valid, part])
        assert partial.parts[name]["filtered"]["both"]["mrr"] == pytest.approx(expected)
        assert partial.parts[name]["filtered"]["both"]["mrr"] < full.parts[name]["filtered"]["both"]["mrr"]
        assert partial.parts[name]["raw"] == full.parts[name]["raw"]


def test_relations_are_measured_on_their_own_facts(predictor, graph):
    found = evaluate(predictor, graph, per_relation=True)
    for number in range(R):
        facts = graph.test[graph.test[:, 1] == number]
        relation = found.relations[f"r{number}"]
        assert relation["mrr"] == pytest.approx(naive_mrr(predictor, facts, [graph.known]))
        assert relation["count"] == len(facts)


@pytest.mark.parametrize("ties", ["optimistic", "pessimistic"])
def test_an_evaluation_can_be_read_under_another_tie_policy(predictor, graph, ties):
    direct = evaluate(predictor, graph, ties=ties, filter="partial", per_relation=True)
    reread = evaluate(predictor, graph, filter="partial", per_relation=True).with_ties(ties)
    assert reread.to_dict() == direct.to_dict()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"split": "tests"}, "unknown split 'tests'; did you mean 'test'"),
        ({"filter": "ful"}, "unknown filter 'ful'; did you mean 'full'"),
        ({"ties": "mean"}, "unknown tie policy 'mean'"),
        ({"split": np.empty((0, 3), dtype=np.int32)}, "no facts to evaluate: 'facts' of small is empty"),
    ],
)
def test_bad_settings_are_refused(predictor, graph, settings, message):
    with pytest.raises(InputError, match=message):
        evaluate(predictor, graph, **settings)


def test_a_predictor_of_another_vocabulary_is_refused(graph):
    with pytest.raises(InputError, match="knows 16 entities and 3 relations, but small has 15 and 3"):
        evaluate(random_table(0, relations=R, entities=N + 1), graph)


def test_a_part_outside_the_test_split_is_refused(predictor, graph):
    graph = Graph(
        graph.entities,
        graph.relations,
        graph.train,
        test=graph.test,
        parts={"odd": graph.train[:2]},
        name="small",
    )
    with pytest.raises(InputError, match="part 'odd' has 2 facts outside of the test split"):
        evaluate(predictor, graph)
