"""Clauses checked over all real entities, in blocks and pruned, equal the definition on every assignment."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch
from all_assignments import (
    RELATIONS,
    atom_array,
    entity_names,
    score_table,
    small_predictor,
    variables_of,
    violations,
)
from torch import nn

from clausal.adversary import group_clauses
from clausal.adversary.semantics import Godel, Lukasiewicz, Product, Sum, Threshold
from clausal.errors import RunError
from clausal.evaluation.entities import check_entities
from clausal.fast import FormChoice
from clausal.logic import Falsum, horn_parts, parse_clause
from clausal.logic.shape import shape_of
from clausal.model import SCORERS, LinkPredictor
from recording import Recorder

ONE_AND_TWO_VARIABLES = [
    "p(X,Y) => q(X,Y)",
    "p(X,Y) => q(Y,X)",
    "p(X,Y), q(Y,X) => r(X,Y)",
    "p(X,X) => q(X,X)",
    "p(X,X) => q(X,Y)",
    "p(Y,Y), q(X,Y) => r(Y,X)",
    "p(X,'e3') => q('e0',X)",
    "p(X,'e3'), q(Y,X) => r('e1','e2')",
    "p('e0','e1') => q('e2','e1')",
    "p(X,Y)",
    "p(X,Y) => q(X,Y) | r(Y,X)",
    "p(X,Y), ~q(Y,X) => r(X,X)",
    "p(X,Y), q(X,Y) => false",
    "p(X,Y) <=> q(Y,X)",
]
CHAINS = [
    *(
        f"p({first}), q({second}) => r({head})"
        for first, second, head in itertools.product(("X,Y", "Y,X"), ("Y,Z", "Z,Y"), ("X,Z", "Z,X"))
    ),
    "p(X,Y), p(Y,Z) => p(X,Z)",
    "q(Y,Z), p(X,Y) => r(X,Z)",
    "p(X,Y), q(Y,Z), s(Y,X) => r(X,Z)",
    "p(X,Y), q(Y,Z), s(Y,Y), t(Z,'e1') => r(X,Z)",
    "p(X,Y), q(Y,Z) => false",
    "p(X,Y), q(Y,Z) => r(X,Z) | s(Z,X)",
    "p(X,Y), q(Y,Z) => r(X,'e2')",
    "p(X,Y), q(Y,Z), r(Z,U) => s(X,U)",
    "p(Y,X), q(Y,Z), r(U,Z) => s(U,X)",
    "p(X,Y), q(Y,Z), r(Z,U), s(U,V) => t(X,V)",
]
TINY = 2**12
"""Bytes that hold little more than a row or two, so that everything is done in many blocks."""


def check(predictor, text, **options):
    groups = group_clauses([parse_clause(text)], entity_names(predictor.num_entities), RELATIONS)
    (found,) = check_entities(predictor, groups, **options)
    return found


@pytest.fixture(params=[False, True], ids=["torch", "compiled"])
def products(request):
    """Products of chains by torch, and by the kernels."""
    with FormChoice("auto" if request.param else "eager", kernels_loaded=True).in_use():
        yield


by_both = pytest.mark.usefixtures("products")


def at(array, clause, worst):
    """The entry of an array with one axis for each variable where these entities are."""
    return array[tuple(worst[variable.name] for variable in variables_of(clause))]


def assert_found(found, expected, tolerance=1e-4):
    """Compare with violations by definition, one for each assignment that counts."""
    assert found.reason is None
    assert found.checked == expected.size
    assert found.violated == (expected > tolerance).sum()
    assert found.rate == found.violated / max(1, found.checked)
    assert found.mean == pytest.approx(expected.sum() / max(1, expected.size), rel=1e-5, abs=1e-7)
    assert found.largest == pytest.approx(expected.max(initial=0), rel=1e-5, abs=1e-6)


@pytest.mark.parametrize("scorer", sorted(set(SCORERS) - {"model-f"}))
@pytest.mark.parametrize("text", ONE_AND_TWO_VARIABLES)
def test_every_assignment_to_two_variables_is_checked(text, scorer):
    predictor, clause = small_predictor(scorer, entities=7, seed=3), parse_clause(text)
    expected = violations(clause, score_table(predictor), entity_names(7))
    for memory in (2**20, TINY // 4):
        found = check(predictor, text, memory=memory)
        assert_found(found, expected)
        if found.largest > 0:
            assert at(expected, clause, found.worst) == pytest.approx(found.largest, rel=1e-5)


def by_ends(clause, array):
    """The largest entry over the middle variables; chains here lead from X to the last of Z, U, V."""
    names = [variable.name for variable in variables_of(clause)]
    last = max(names, key="XYZUV".index)
    return array.max(axis=tuple(i for i, name in enumerate(names) if name not in ("X", last)))


@pytest.mark.parametrize("text", CHAINS)
@by_both
def test_chains_are_checked_with_their_best_middle_in_every_direction(text):
    clause, entities = parse_clause(text), 6 if "V" in text else 9
    for seed, scorer in enumerate(["complex", "rescal", "complex", "transe"]):
        predictor = small_predictor(scorer, entities, seed)
        every = violations(clause, score_table(predictor), entity_names(entities))
        for memory in (2**22, TINY):
            found = check(predictor, text, memory=memory)
            assert_found(found, by_ends(clause, every))
            if found.largest > 0:
                assert at(every, clause, found.worst) == pytest.approx(found.largest, rel=1e-5)


@pytest.mark.parametrize("thresholds", [(0.0, 0.0), (-1.0, 1.0), (2.0, -1.0)], ids=str)
@pytest.mark.parametrize("text", ["p(X,Y) => q(Y,X)", "p(X,Y), q(Y,X) => r(X,Y)", *(c for c in CHAINS if "|" not in c)])
@by_both
def test_thresholds_ask_for_a_head_where_the_body_is_predicted(text, thresholds):
    """[min(body − τ, τ′ − head)]₊ on whole arrays."""
    clause, entities, (least, most) = parse_clause(text), 6 if "V" in text else 9, thresholds
    predictor = small_predictor("complex", entities, seed=5)
    table = score_table(predictor)
    body, head = horn_parts(clause)

    def scores(atom):
        return atom_array(clause, atom, table, entity_names(entities))

    short = [] if head == Falsum() else [most - scores(head)]
    every = np.minimum.reduce(np.broadcast_arrays(*(scores(atom) - least for atom in body), *short)).clip(0)
    for memory in (2**22, TINY):
        found = check(predictor, text, memory=memory, semantics=Threshold(*thresholds))
        assert_found(found, by_ends(clause, every) if len(variables_of(clause)) > 2 else every)
        if found.largest > 0:
            assert at(every, clause, found.worst) == pytest.approx(found.largest, rel=1e-5)


def violations_by(semantics, clause, predictor):
    """The violation of every assignment, by the semantics' own arithmetic on one table for each atom."""
    shape = shape_of(clause)[0]
    entities = predictor.num_entities
    table, whole = score_table(predictor), [entities] * len(variables_of(clause))
    scores = [np.broadcast_to(atom_array(clause, atom, table, entity_names(entities)), whole) for atom in clause.atoms]
    return semantics.violation(shape.formula, torch.from_numpy(np.stack(scores, -1))).numpy()


@pytest.mark.parametrize("semantics", [Sum(), Product(), Lukasiewicz()], ids=lambda one: one.name)
@pytest.mark.parametrize("text", [CHAINS[0], CHAINS[6], *CHAINS[10:15], CHAINS[16]])
def test_chains_under_other_semantics_have_their_worst_middle(text, semantics):
    predictor, clause = small_predictor("complex", entities=6, seed=4), parse_clause(text)
    every = violations_by(semantics, clause, predictor)
    for memory in (2**22, TINY):
        found = check(predictor, text, memory=memory, semantics=semantics)
        assert_found(found, by_ends(clause, every))
        if found.largest > 0:
            assert at(every, clause, found.worst) == pytest.approx(found.largest, rel=1e-5)


@pytest.mark.parametrize("levels", [1, 50])
@pytest.mark.parametrize("memory", [2**13, 2**16, 2**18, 2**24])
@by_both
def test_pruning_loses_nothing_on_larger_graphs(memory, levels):
    """From keeping hardly any candidate to keeping all, with most scores tied and with few."""
    predictor = small_predictor("complex", entities=70, seed=levels, dim=6, levels=levels)
    table = score_table(predictor)
    for text in ("p(X,Y), q(Y,Z) => r(X,Z)", "p(X,Y), q(Z,Y) => r(Z,X)"):
        clause = parse_clause(text)
        found = check(predictor, text, memory=memory)
        every = violations(clause, table, entity_names(70))
        assert_found(found, every.max(axis=1))
        assert at(every, clause, found.worst) == found.largest > 0


@by_both
def test_candidates_that_are_all_useless_are_seen_through():
    """The best of the first link are the worst of the second, so that the order of candidates misleads."""
    entities = 80
    predictor = small_predictor("distmult", entities, seed=0, dim=2)
    rank = torch.arange(entities, dtype=torch.float32)
    predictor.encoder.weight.data = torch.stack([torch.ones(entities), rank], 1)
    predictor.relations.data[:3] = torch.tensor([[0.0, 1.0], [4000.0, -1.0], [0.0, 0.0]])
    every = violations(parse_clause("p(X,Y), q(Y,Z) => r(X,Z)"), score_table(predictor), entity_names(entities))
    for memory in (2**14, 2**17, 2**18, 2**19, 2**24):
        assert_found(check(predictor, "p(X,Y), q(Y,Z) => r(X,Z)", memory=memory), every.max(axis=1))


def test_violations_within_the_tolerance_do_not_count():
    predictor, clause = small_predictor("complex", entities=8, seed=1), parse_clause("p(X,Y) => q(X,Y)")
    expected = violations(clause, score_table(predictor), entity_names(8))
    assert len(np.unique(expected)) > 4
    for tolerance in np.unique(expected):
        assert_found(check(predictor, "p(X,Y) => q(X,Y)", tolerance=float(tolerance)), expected, tolerance)


def test_a_clause_that_holds_has_no_worst_assignment():
    found = check(small_predictor("complex", entities=5, seed=1), "p(X,Y) => p(X,Y)")
    assert (found.checked, found.violated, found.mean, found.largest, found.worst) == (25, 0, 0, 0, {})


NO_CHAINS = [
    "p(X,Y), q(X,Z), r(X,U) => s(Y,U)",  # a star
    "p(X,Y), q(Y,Z), r(Z,X) => s(X,Z)",  # a ring
    "p(X,Y), q(Y,Z) => r(X,Y)",  # the head is not on the ends
    "p(X,Y), q(Z,U) => r(X,U)",  # two pieces
    "p(X,Y) | q(Y,Z) => r(X,Z)",
    "p(X,Y) => q(Y,Z)",
    "p(X,Y), q(X,Z), t(Z,Z), s('e1','e2') => r(X,'e3')",
    "p(X,Y) <=> q(Z,X)",
]


@pytest.mark.parametrize("text", NO_CHAINS)
def test_other_clauses_of_many_variables_are_checked_on_every_assignment(text):
    predictor, clause = small_predictor("complex", entities=6, seed=7), parse_clause(text)
    for semantics in (Godel(), Sum(), Threshold(1.0, -1.0)):
        every = violations_by(semantics, clause, predictor)
        for memory in (2**22, TINY):
            found = check(predictor, text, memory=memory, semantics=semantics)
            assert_found(found, every)
            if found.largest > 0:
                assert at(every, clause, found.worst) == pytest.approx(found.largest, rel=1e-5)
    if "<=>" not in text:
        assert_found(check(predictor, text), violations(clause, score_table(predictor), entity_names(6)))


def test_a_walk_beyond_the_limit_is_refused_with_the_reason(monkeypatch):
    monkeypatch.setattr("clausal.evaluation.entities.check.MOST_ASSIGNMENTS", 100)
    predictor = small_predictor("complex", entities=5, seed=1)
    ring, chain = (check(predictor, text, semantics=Sum()) for text in (NO_CHAINS[1], CHAINS[0]))
    assert (ring.checked, ring.worst) == (0, {})
    assert ring.reason == "3 variables, and no chain: 1.2e+02 assignments are more than the 1e+02 that are tried"
    assert chain.reason.startswith("3 variables, and sum semantics: ")
    assert check(predictor, CHAINS[0]).reason is None


def known_pairs(predictor):
    known = np.zeros([predictor.num_entities] * 2, dtype=bool)
    known.reshape(-1)[predictor.pairs.numpy()] = True
    return known


@pytest.mark.parametrize("text", ONE_AND_TWO_VARIABLES)
def test_model_f_is_checked_where_every_pair_has_a_vector(text):
    predictor, clause = small_predictor("model-f", entities=7, seed=4), parse_clause(text)
    table, known = score_table(predictor), known_pairs(predictor)
    expected = violations(clause, table, entity_names(7))
    tables = np.broadcast_to(known, table.shape)
    exists = [atom_array(clause, atom, tables, entity_names(7)) for atom in clause.atoms]
    exists = np.broadcast_to(np.logical_and.reduce(np.broadcast_arrays(*exists)), expected.shape)
    assert_found(check(predictor, text), expected[exists])


def test_model_f_is_walked_where_every_pair_has_a_vector():
    predictor, clause = small_predictor("model-f", entities=6, seed=4), parse_clause(NO_CHAINS[1])
    tables = np.broadcast_to(known_pairs(predictor), score_table(predictor).shape)
    exists = [atom_array(clause, atom, tables, entity_names(6)) for atom in clause.atoms]
    every = violations(clause, score_table(predictor), entity_names(6))
    assert_found(check(predictor, NO_CHAINS[1]), every[np.logical_and.reduce(np.broadcast_arrays(*exists))])


@pytest.mark.parametrize("text", CHAINS[:8])
@by_both
def test_model_f_takes_middles_whose_pairs_have_a_vector(text):
    predictor, clause = small_predictor("model-f", entities=9, seed=2), parse_clause(text)
    table, known = score_table(predictor), known_pairs(predictor)
    head = atom_array(clause, clause.atoms[-1], np.broadcast_to(known, table.shape), entity_names(9))
    table[:2, ~known] = -np.inf  # the relations of the body
    every = violations(clause, table, entity_names(9))
    exists = by_ends(clause, np.broadcast_to(head, every.shape))
    assert 0 < exists.sum() < exists.size
    assert_found(check(predictor, text), by_ends(clause, every)[exists])


def test_an_encoder_that_is_no_table_is_asked_once():
    class Line(nn.Module):
        asked = 0

        def forward(self, ids):
            self.asked += 1
            return torch.stack([ids.float(), 1 - ids.float()], -1)

    encoder = Line()
    predictor = LinkPredictor(encoder, SCORERS["distmult"](2), num_entities=6, num_relations=5)
    expected = violations(parse_clause("p(X,Y) => q(Y,X)"), score_table(predictor), entity_names(6))
    encoder.asked = 0
    assert_found(check(predictor, "p(X,Y) => q(Y,X)"), expected)
    assert encoder.asked == 1


@by_both
def test_no_block_is_larger_than_the_budget(monkeypatch):
    predictor = small_predictor("complex", entities=120, seed=1)
    sizes = []
    for name in ("score_objects", "score_subjects"):
        score = getattr(predictor, name)

        def measured(*ids, score=score):
            sizes.append(score(*ids).nbytes)
            return score(*ids)

        monkeypatch.setattr(predictor, name, measured)
    for text in ("p(X,Y) => q(Y,X)", "p(X,Y), q(Y,Z) => r(X,Z)", "p(X,Y), q(Y,Z), r(Z,U) => s(X,U)"):
        sizes.clear()
        check(predictor, text, memory=2**16)
        assert 0 < max(sizes) <= 2**16 / 4


def test_progress_ends_at_its_total():
    texts = ["p(X,Y) => q(Y,X)", "p(X,Y), q(Y,Z) => r(X,Z)", "p(X,'e1') => q(X,'e1')", "p(X,Y) => q(Y,Z)"]
    groups = group_clauses([parse_clause(text) for text in texts], entity_names(9), RELATIONS)
    seen = Recorder()
    found = check_entities(small_predictor("complex", 9, 1), groups, memory=TINY, observer=seen)
    calls = [(done, total) for _, done, total, _ in seen.of("advanced")]
    assert [str(check.clause) for check in found] == [str(clause) for group in groups for clause in group.clauses]
    assert calls == sorted(calls)
    assert len(calls) > len(texts)
    assert calls[-1] == (36, 36)


@pytest.mark.parametrize("text", ["p(X,Y) => q(Y,X)", "p(X,Y), q(Y,Z) => r(X,Z)"])
@pytest.mark.parametrize("where", ["relations", "entities"])
@by_both
def test_scores_that_are_not_numbers_are_an_error(text, where):
    predictor = small_predictor("complex", entities=40, seed=1)
    weights = predictor.relations if where == "relations" else predictor.encoder.weight
    weights.data[1] = torch.nan
    with pytest.raises(RunError, match="not numbers"):
        check(predictor, text)
