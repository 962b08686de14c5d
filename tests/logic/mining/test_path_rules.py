"""Path rules in arrays are exactly those of a naive count, exact or estimated without bias, in a stated order."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive_paths import edges_of, labelled, naive_paths, path_pairs

from clausal.graph import Graph
from clausal.logic.mining import mine, mine_paths, paths
from recording import Recorder

ids = st.integers(0, 5)
triples = st.lists(st.tuples(ids, st.integers(0, 1), ids), max_size=24)


def table(rules, *columns):
    """Columns of each rule, by head and body; no rule comes twice."""
    found = {
        (head, tuple(b for b in body if b >= 0)): tuple(values)
        for head, body, *values in zip(
            rules.heads.tolist(),
            rules.bodies.tolist(),
            *(getattr(rules, column).tolist() for column in columns),
            strict=True,
        )
    }
    assert len(found) == len(rules)
    return found


def some_facts(entities=30, relations=3, facts=150, seed=1):
    """Random facts with a hub."""
    draw = np.random.default_rng(seed)
    found = draw.integers(0, [entities, relations, entities], (facts, 3))
    found[: facts // 5, 2] = 0
    return [tuple(fact) for fact in found.tolist()]


@settings(max_examples=40, deadline=None)
@given(triples)
def test_every_path_rule_is_found_with_its_counts(facts):
    rules = mine_paths(edges_of(facts, 6, 2), min_support=1)
    assert table(rules, "support", "pairs") == naive_paths(facts, 2, 3)
    assert (rules.share == 1).all()
    assert rules.complete


@settings(max_examples=20, deadline=None)
@given(triples)
def test_pairs_are_counted_where_some_fact_is_known_of_their_ends(facts):
    edges = labelled(facts, 2)
    for (head, body), (known,) in table(mine_paths(edges_of(facts, 6, 2), min_support=1), "known").items():
        subjects, objects = ({x for x, label, _ in edges if label == end} for end in (head, head + 2))
        pairs = path_pairs(edges, body)
        assert known == [sum(x in subjects for x, _ in pairs), sum(z in objects for _, z in pairs)]


def test_confidences_are_smoothed_and_corrected():
    facts = [(n, 0, n + 20) for n in range(10)] + [(n, 1, n + 20) for n in range(4)] + [(8, 1, 30)]
    rules = mine_paths(edges_of(facts, 40, 2), max_length=1)
    (place,) = np.flatnonzero((rules.heads == 1) & (rules.bodies[:, 0] == 0))
    assert (rules.support[place], rules.pairs[place]) == (4, 10)
    assert rules.known[place].tolist() == [5, 4]
    assert rules.confidence[place] == pytest.approx(4 / 15)
    assert rules.answer_confidence[place] == pytest.approx([4 / 10, 4 / 9])
    assert 0.15 < rules.lower_bound[place] < 0.2


def test_thresholds_leave_out_rules_and_change_nothing_else():
    edges = edges_of(some_facts(), 30, 3)
    every = mine_paths(edges, min_support=1)
    few = mine_paths(edges, min_support=3, min_confidence=0.1)
    chosen = every.select((every.support >= 3) & (every.confidence >= 0.1))
    assert 0 < len(few) < len(every)
    assert table(few, "support", "known") == table(chosen, "support", "known")
    best = mine_paths(edges, min_support=1, most=7)
    assert np.bincount(best.lengths).tolist() == [0, *(min(7, n) for n in np.bincount(every.lengths)[1:].tolist())]
    longest = every.select(every.lengths == 3)
    assert table(best.select(best.lengths == 3)) == table(longest.select(np.arange(7)))


def test_the_order_is_confidence_support_length():
    rules = mine_paths(edges_of(some_facts(), 30, 3), min_support=1)
    keys = list(zip(-rules.confidence, -rules.support, rules.lengths, rules.heads, rules.bodies.tolist(), strict=True))
    assert keys == sorted(keys)


def test_a_sample_estimates_without_bias_and_says_so():
    edges = edges_of(some_facts(facts=200), 30, 3)
    exact = table(mine_paths(edges, min_support=1), "support", "pairs", "known")
    often = max((rule for rule in exact if len(rule[1]) == 3), key=lambda rule: exact[rule][0])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(paths, "SEEN", 1)
        drawn = [mine_paths(edges, min_support=1, steps=30_000, seed=seed) for seed in range(60)]
    shares = {float(rules.share[rules.lengths == 3].max()) for rules in drawn}
    assert len(shares) == 1
    assert 0.1 < shares.pop() < 0.9
    estimates = [table(rules, "support", "pairs", "known").get(often, (0, 0, [0, 0])) for rules in drawn]
    support, pairs, subject = ([float(np.ravel(row[c])[0]) for row in estimates] for c in range(3))
    for values, truth in zip((support, pairs, subject), (*exact[often][:2], exact[often][2][0]), strict=True):
        error = np.std(values) / np.sqrt(len(values))
        assert abs(np.mean(values) - truth) < 4 * error + 1e-9
    again = mine_paths(edges, min_support=1, steps=30_000, seed=0)
    assert table(again, "support") == table(mine_paths(edges, min_support=1, steps=30_000, seed=0), "support")


def test_a_time_limit_keeps_the_short_rules_and_is_said():
    facts = some_facts()
    edges = edges_of(facts, 30, 3)
    rules = mine_paths(edges, min_support=1, seconds=1e-9)
    assert not rules.complete
    assert table(rules, "support") == table(mine_paths(edges, min_support=1, max_length=1), "support")
    seen = Recorder()
    graph = Graph.from_triples([(str(s), str(r), str(o)) for s, r, o in facts])
    found = mine(graph, min_support=1, min_confidence=0, seconds=1e-9, observer=seen)
    assert {len(rule.body) for rule in found} == {1}
    assert "mining ended after 1e-09 seconds" in seen.of("message")[0][0]


@pytest.mark.parametrize(
    ("facts", "entities", "relations"),
    [
        ([], 0, 0),
        ([], 3, 1),
        ([(0, 0, 0)], 1, 1),
        ([(0, 0, 1), (1, 0, 0), (0, 0, 0), (0, 0, 1)], 2, 1),
        ([(n % 7, n, (n + 1) % 7) for n in range(600)], 7, 600),
    ],
)
def test_strange_graphs_are_mined(facts, entities, relations):
    edges = edges_of(facts, entities, relations)
    rules = mine_paths(edges, min_support=2, max_length=2)
    assert rules.complete
    assert (rules.support <= rules.pairs).all()


def test_paths_are_not_walked_for_heads_of_too_few_facts(monkeypatch):
    """Many relations of few facts cost no more than looking at them once."""
    walked = []
    count = paths.count_two
    monkeypatch.setattr(paths, "count_two", lambda *arrays: walked.append(1) or count(*arrays))
    facts = [(x, 0, x + 1) for x in range(30)] + [(x, 1, x + 2) for x in range(20)]
    few = [(x, 2 + x, 20 - x) for x in range(20)]
    alone = mine_paths(edges_of(facts, 32, 22), max_length=2, min_support=10)
    needed = len(walked)
    assert len(alone) > 0
    walked.clear()
    assert table(mine_paths(edges_of(facts + few, 32, 22), max_length=2, min_support=10), "support") == table(
        alone, "support"
    )
    assert len(walked) <= needed + 1  # b(X, Y), c(Y, Z) begins with any label, but from few entities
    walked.clear()
    assert len(mine_paths(edges_of(few, 32, 22), max_length=2, min_support=2)) == 0
    assert not walked
