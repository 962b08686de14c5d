"""Votes are those of every rule applied by hand, with the best, the sum and the order of confidences."""

import numpy as np
import pytest
from naive_paths import backwards, edges_of, labelled, path_pairs

from clausal.logic.mining import SOME, RuleVotes, mine_attributes, mine_paths

ENTITIES, RELATIONS = 14, 2


@pytest.fixture(scope="module")
def facts():
    draw = np.random.default_rng(3)
    return [tuple(fact) for fact in draw.integers(0, [ENTITIES, RELATIONS, ENTITIES], (45, 3)).tolist()]


def naive_votes(facts, paths, constants, entity, asked, alone=False):
    """The votes for each answer to one question: kind, confidence and rule."""
    edges, found = labelled(facts, RELATIONS), {}
    back = (asked + RELATIONS) % (2 * RELATIONS)
    for rule, (head, body) in enumerate(zip(paths.heads.tolist(), paths.bodies.tolist(), strict=True)):
        body = tuple(b for b in body if b >= 0)
        if head == asked % RELATIONS:
            body = body if asked < RELATIONS else backwards(body, RELATIONS)
            confidence = paths.answer_confidence[rule, asked // RELATIONS]
            for x, z in path_pairs(edges, body):
                if x == entity:
                    found.setdefault(z, []).append((0, confidence, rule))
    has = {(x, label, y) for x, label, y in edges} | {(x, label, SOME) for x, label, _ in edges}
    for rule, (body, head) in enumerate(zip(constants.bodies, constants.heads, strict=True)):
        (s, d), (r, c) = ((int(constants.attribute_label[a]), int(constants.attribute_entity[a])) for a in (body, head))
        vague = 0 if not alone or d != SOME else 2 if s == r else 1
        confidence = constants.confidence[rule] / 10**vague
        if r == asked and c != entity and ((entity, s, d) in has or (s, d) == (asked, SOME)):
            found.setdefault(c, []).append((1, confidence, len(paths) + rule))
        if (r, c) == (back, entity):
            for z in range(ENTITIES):
                if z != entity and (z, s, d) in has:
                    found.setdefault(z, []).append((2, confidence, len(paths) + len(constants) + rule))
    return found


@pytest.mark.parametrize("alone", [False, True])
def test_votes_are_those_of_all_rules(facts, alone):
    edges = edges_of(facts, ENTITIES, RELATIONS)
    paths, constants = mine_paths(edges, min_support=1), mine_attributes(edges, min_support=1, min_confidence=0)
    entities, labels = (grid.ravel() for grid in np.meshgrid(np.arange(ENTITIES), np.arange(2 * RELATIONS)))
    votes = RuleVotes(edges, paths, constants, alone=alone).votes(entities, labels, top=6)
    for question, (entity, asked) in enumerate(zip(entities.tolist(), labels.tolist(), strict=True)):
        expected = naive_votes(facts, paths, constants, entity, asked, alone)
        rows = range(votes.starts[question], votes.starts[question + 1])
        assert votes.answers[rows.start : rows.stop].tolist() == sorted(expected)
        for row, answer in zip(rows, sorted(expected), strict=True):
            for kind in range(3):
                own = [p for k, p, _ in expected[answer] if k == kind]
                assert votes.best[row, kind] == pytest.approx(max(own, default=0), rel=1e-5)
                assert votes.doubt[row, kind] == pytest.approx(-np.log1p(-np.array(own)).sum(), rel=1e-4)
            ranked = sorted(expected[answer], key=lambda vote: (-np.float32(vote[1]), vote[2]))[:6]
            missing = 6 - len(ranked)
            assert votes.top[row] == pytest.approx([p for _, p, _ in ranked] + [0] * missing, rel=1e-5)
            assert votes.rules[row].tolist() == [rule for *_, rule in ranked] + [-1] * missing


def test_answers_are_compared_by_the_best_rule_then_by_the_next(facts):
    edges = edges_of(facts, ENTITIES, RELATIONS)
    votes = RuleVotes(edges, mine_paths(edges, min_support=1)).votes(np.array([1, 2]), np.array([0, 3]), top=4)
    levels = votes.levels()
    for question in range(2):
        rows = range(votes.starts[question], votes.starts[question + 1])
        distinct = sorted({tuple(votes.top[row]) for row in rows})
        assert [levels[row] for row in rows] == [distinct.index(tuple(votes.top[row])) for row in rows]


def test_no_questions_and_no_rules(facts):
    edges = edges_of(facts, ENTITIES, RELATIONS)
    paths = mine_paths(edges, min_support=1)
    assert len(RuleVotes(edges, paths).votes(np.empty(0, np.int64), np.empty(0, np.int64)).answers) == 0
    none = RuleVotes(edges, paths.select(np.zeros(len(paths), np.bool_)))
    assert none.votes(np.array([0, 1]), np.array([0, 1])).starts.tolist() == [0, 0, 0]
