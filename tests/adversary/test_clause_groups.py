"""Groups of clauses, scored in one operation, equal each clause scored alone in plain Python."""

from __future__ import annotations

import math

import pytest
import torch

from clausal.adversary import POOLINGS, SEMANTICS, group_clauses
from clausal.errors import InputError
from clausal.logic import parse_clause, parse_clauses
from clausal.model import SCORERS
from random_models import ENTITIES, RELATIONS, godel_violation, groups_of, one_by_one, random_predictor

SETS = 5
SHAPES = {
    "implications": ["p(X,Y) => q(X,Y)", "r(X,Y) => s(X,Y) <2>", "s(A,B) => p(A,B)"],
    "inverses": ["p(X,Y) => q(Y,X)", "p(X,Y) => p(Y,X)"],
    "chains": ["p(X,Y), q(Y,Z) => r(X,Z)", "s(X,Y), s(Y,Z) => s(X,Z)"],
    "constants": ["p(X, 'e3') => q(X, 'e0')", "r(X, 'e1') => q(X, 'e5')"],
    "one constant twice": ["p(X, 'e3') => q('e3', X)", "q(X, 'e2') => q('e2', X)"],
    "repeated variables": ["p(X,X) => q(X,X)", "r(X,X) => s(X,X)"],
    "variable and itself": ["p(X,X) => q(X,Y)"],
    "only constants": ["p('e0','e1') => q('e2','e1')", "r('e4','e5') => q('e1','e5')"],
    "an atom": ["p(X,Y)", "q(X,Y)"],
    "disjunctive heads": ["p(X,Y) => q(X,Y) | r(Y,X)"],
    "constraints": ["p(X,Y), q(X,Y) => false", "r(X,Y), s(X,Y) => false"],
    "equivalences": ["p(X,Y) <=> q(Y,X)"],
    "negations": ["p(X,Y), ~q(Y,X) => r(X,X)"],
}


@pytest.mark.parametrize("scorer", SCORERS)
@pytest.mark.parametrize("texts", SHAPES.values(), ids=SHAPES)
def test_a_group_is_violated_as_its_clauses_are_one_by_one(texts, scorer):
    predictor = random_predictor(scorer, seed=3)
    (group,) = groups_of(*texts)
    slots = group.slots(predictor)
    generator = torch.Generator().manual_seed(7)
    entities = torch.randint(len(ENTITIES), (len(texts), SETS, group.shape.variables), generator=generator)
    vectors = pair_vectors(predictor, group, entities) if scorer == "model-f" else predictor.encode(entities)
    assert vectors.shape[2] == slots.free
    violations = group.violation(predictor, SEMANTICS["godel"](), vectors)
    expected = [
        [one_by_one(predictor, clause, ids, godel_violation) for ids in rows]
        for clause, rows in zip(group.clauses, entities.tolist(), strict=True)
    ]
    torch.testing.assert_close(violations.detach(), torch.tensor(expected), rtol=1e-4, atol=1e-5)


def pair_vectors(predictor, group, entities):
    """The vectors of the distinct pairs that hold a variable, by first occurrence, for entities of the variables."""
    rows = []
    for constants, ids in zip(group.constants, entities, strict=True):
        pairs = dict.fromkeys(atom.slots for atom in group.shape.atoms)
        free = [pair for pair in pairs if any(slot.kind == "variable" for slot in pair)]
        columns = []
        for pair in free:
            subject, object = (
                ids[:, slot.index] if slot.kind == "variable" else constants[slot.index].expand(SETS) for slot in pair
            )
            columns.append(predictor.pair_vectors(subject, object))
        rows.append(torch.stack(columns, 1) if columns else torch.zeros(SETS, 0, predictor.scorer.dim))
    return torch.stack(rows)


def test_clauses_of_one_shape_are_one_group_whatever_their_names_and_weights():
    groups = groups_of("p(X,Y) => q(X,Y)", "p(X,Y) => q(Y,X)", "r(A,B) => s(A,B) <0.5>", "q(X,X) => q(X,X)")
    assert [[str(clause) for clause in group.clauses] for group in groups] == [
        ["p(X, Y) => q(X, Y)", "r(A, B) => s(A, B) <0.5>"],
        ["p(X, Y) => q(Y, X)"],
        ["q(X, X) => q(X, X)"],
    ]
    assert groups[0].relations.tolist() == [[0, 1], [2, 3]]
    assert groups[0].weights.tolist() == [1.0, 0.5]


def test_a_pair_of_constants_that_model_f_has_no_vector_for_scores_zero():
    predictor = random_predictor("model-f")  # every second pair has a vector: (e0, e0) has, (e0, e1) has not
    (group,) = groups_of("p('e0','e0') => q('e0','e1')")
    vectors = torch.zeros(1, 3, 0, 4)
    violation = group.violation(predictor, SEMANTICS["godel"](), vectors)
    known = predictor.score(torch.tensor(0), torch.tensor(0), torch.tensor(0)).item()
    assert known != 0
    torch.testing.assert_close(violation.detach(), torch.full((1, 3), max(0.0, known)))


def test_gradients_reach_relations_and_the_vectors_of_constants():
    predictor = random_predictor("complex", seed=1)
    (group,) = groups_of("p(X, 'e3') => q(X, 'e3')")
    every_entity = predictor.encode(torch.arange(len(ENTITIES))).detach().reshape(1, -1, 1, 4)
    violation = group.violation(predictor, SEMANTICS["godel"](), every_entity)
    assert violation.sum() > 0
    violation.sum().backward()
    assert predictor.relations.grad[[0, 1]].abs().sum() > 0
    assert predictor.relations.grad[[2, 3]].abs().sum() == 0
    moved = predictor.encoder.weight.grad.abs().sum(1) > 0
    assert moved.tolist() == [False, False, False, True, False, False]


def test_unknown_names_are_input_errors():
    for text, complaint in (
        ("p(X,Y) => t(X,Y)", "unknown relation 't'"),
        ("p(X,'e9') => q(X,'e9')", "unknown entity 'e9'"),
    ):
        with pytest.raises(InputError, match=complaint):
            groups_of(text)


def test_a_clause_that_never_holds_is_refused_with_its_place():
    clauses = parse_clauses("% a comment\np(X,Y) & false\n", "rules.txt")
    with pytest.raises(InputError, match=r"^rules\.txt:2: 'p\(X, Y\), false' never holds"):
        group_clauses(clauses, ENTITIES, RELATIONS)
    with pytest.raises(InputError, match=r"^'p\(X, Y\), false' never holds"):
        group_clauses([parse_clause("p(X,Y) & false")], ENTITIES, RELATIONS)


def test_poolings_by_hand():
    violations = torch.tensor([[0.0, 1.0, 3.0], [2.0, 2.0, 2.0]])
    expected = {
        "sum": [4.0, 6.0],
        "mean": [4 / 3, 2.0],
        "max": [3.0, 2.0],
        "logsumexp": [3.169846 - math.log(3), 2.0],  # log((1 + e + e³) / 3), 2
    }
    assert set(expected) == set(POOLINGS)
    for name, values in expected.items():
        assert POOLINGS[name](violations).tolist() == pytest.approx(values, rel=1e-5)
