"""Hard clauses hold for every vector of the domain: searches find nothing above the rounding of their arithmetic."""

from __future__ import annotations

import pytest
import torch

from clausal.adversary import certify, group_clauses
from clausal.adversary.hard import find_hard
from clausal.logic import parse_clause
from clausal.model import SCORERS, Ball, Box, Cone, Cube, LinkPredictor, Sphere, Table, Unbounded
from clausal.model.orders import parameter_order
from hard_models import hardened, reciprocal_predictor, worst_found
from random_models import ENTITIES, RELATIONS, random_predictor

STRAIGHT, INVERSE, SYMMETRIC = "p(X, Y) => q(X, Y)", "q(X, Y) => r(Y, X)", "s(X, Y) => s(Y, X)"
EQUIVALENT, CLASSES = "r(X, Y) <=> s(Y, X)", "p(X, e1) => p(X, e2)"
SUBJECTS, SEVERAL = "q(e3, Y) => q(e4, Y)", "p(X, Y) | s(X, Y) => q(X, Y) & r(X, Y)"
ALL = [STRAIGHT, INVERSE, SYMMETRIC, EQUIVALENT, CLASSES, SUBJECTS, SEVERAL]
SCORERS_WITH_ORDERS = ["distmult", "complex", "simple", "rescal", "hole", "cp"]


@pytest.mark.parametrize("reciprocal", [False, True])
@pytest.mark.parametrize("domain", [Cube(), Cone(), Box(0.2, 3.0)], ids=repr)
@pytest.mark.parametrize("scorer", SCORERS_WITH_ORDERS)
def test_no_search_finds_a_violation_of_a_hard_clause(scorer, domain, reciprocal):
    predictor = reciprocal_predictor(scorer, domain) if reciprocal else random_predictor(scorer, domain)
    texts = [text for text in ALL if scorer != "cp" or text in (STRAIGHT, CLASSES, SUBJECTS, SEVERAL)]
    hard = hardened(predictor, *texts)
    assert [str(clause) for clause in hard.clauses] == [str(parse_clause(text)) for text in texts]
    assert not hard.refused
    for group in group_clauses(hard.clauses, ENTITIES, RELATIONS):
        (certificate,) = certify(predictor, [group], region="auto")
        assert certificate.proven.all()
        assert (certificate.bound == 0).all()
        assert (certificate.attained == 0).all()
        assert worst_found(predictor, group, starts=1000 if scorer == "complex" else 100, steps=10) <= 1e-12


def half_free(scorer):
    terms = SCORERS[scorer].terms
    return Cone(0.5, terms.parts if terms else 1)


@pytest.mark.parametrize("texts", [[STRAIGHT, INVERSE, SYMMETRIC, EQUIVALENT, SEVERAL], ALL], ids=["relations", "all"])
@pytest.mark.parametrize("reciprocal", [False, True])
@pytest.mark.parametrize("scorer", ["distmult", "complex", "simple", "rescal", "cp"])
def test_clauses_are_hard_where_some_components_are_free(scorer, reciprocal, texts):
    domain = half_free(scorer)
    predictor = reciprocal_predictor(scorer, domain) if reciprocal else random_predictor(scorer, domain)
    texts = [text for text in texts if scorer != "cp" or text in (STRAIGHT, CLASSES, SUBJECTS, SEVERAL)]
    hard = hardened(predictor, *texts)
    assert not hard.refused
    assert bool((predictor.encode_all() < 0).any())
    for group in group_clauses(hard.clauses, ENTITIES, RELATIONS):
        (certificate,) = certify(predictor, [group], region="auto")
        assert certificate.proven.all()
        assert (certificate.bound == 0).all()
        assert worst_found(predictor, group, starts=300, steps=10) <= 1e-12


@pytest.mark.parametrize("scorer", ["distmult", "complex", "simple", "rescal", "cp"])
def test_free_components_are_equal_and_the_others_ordered(scorer):
    predictor = random_predictor(scorer, half_free(scorer), dtype=torch.float64)
    hardened(predictor, STRAIGHT)
    (group,) = group_clauses([parse_clause(STRAIGHT)], ENTITIES, RELATIONS)
    order = parameter_order(predictor.scorer, predictor.domain.never_negative(4))
    free = [column for one in order.orbits if one.equal for column in one.columns.flatten().tolist()]
    assert 0 < len(free) < predictor.scorer.relation_dim
    for column in range(predictor.scorer.relation_dim):
        for change in (0.3, -0.3)[: 1 + (column in free)]:
            kept = predictor.relations.data.clone()
            predictor.relations.data[0, column] = predictor.relations.data[1, column] + change
            assert worst_found(predictor, group, starts=200) > 0
            assert not certify(predictor, [group], region="auto")[0].proven.any()
            predictor.relations.data = kept


def test_where_free_numbers_meet_all_parameters_nothing_can_be_ordered():
    hard = hardened(random_predictor("hole", half_free("hole")), STRAIGHT, EQUIVALENT)
    assert [str(clause) for clause in hard.clauses] == [EQUIVALENT]


@pytest.mark.parametrize("scorer", SCORERS_WITH_ORDERS)
def test_a_model_that_is_not_kept_inside_is_not_proven(scorer):
    predictor = random_predictor(scorer, Cube())
    groups = group_clauses([parse_clause(text) for text in (STRAIGHT, INVERSE)], ENTITIES, RELATIONS)
    for certificate, group in zip(certify(predictor, groups), groups, strict=True):
        assert not certificate.proven.any()
        assert certificate.attained.max() > 0
        assert worst_found(predictor, group, starts=300) > 0


@pytest.mark.parametrize("scorer", SCORERS_WITH_ORDERS)
@pytest.mark.parametrize("domain", [Cube(), Cone()], ids=repr)
def test_the_order_of_parameters_is_needed_too(scorer, domain):
    """Leave the set by a little in one parameter, and some vector breaks the clause."""
    predictor = random_predictor(scorer, domain, dtype=torch.float64)
    hardened(predictor, STRAIGHT)
    (group,) = group_clauses([parse_clause(STRAIGHT)], ENTITIES, RELATIONS)
    for column in range(predictor.relations.shape[1]):
        kept = predictor.relations.data.clone()
        predictor.relations.data[0, column] = predictor.relations.data[1, column] + 0.3
        assert worst_found(predictor, group, starts=200) > 0
        assert not certify(predictor, [group])[0].proven.any()
        predictor.relations.data = kept


@pytest.mark.parametrize("domain", [Sphere(), Ball(), Box(-1.0, 2.0), Unbounded()], ids=repr)
@pytest.mark.parametrize("scorer", ["distmult", "complex", "simple", "rescal", "hole"])
def test_where_vectors_can_be_negative_equivalences_alone_are_hard(scorer, domain):
    predictor = random_predictor(scorer, domain)
    hard = hardened(predictor, STRAIGHT, SYMMETRIC, EQUIVALENT, CLASSES)
    assert [str(clause) for clause in hard.clauses] == [SYMMETRIC, EQUIVALENT]
    reasons = {str(clause): reason for clause, reason in hard.refused}
    assert "force both relations to be equal" in reasons[STRAIGHT]
    assert "without negative numbers" in reasons[CLASSES]
    for group in group_clauses(hard.clauses, ENTITIES, RELATIONS):
        assert certify(predictor, [group], region="auto")[0].proven.all()
        assert worst_found(predictor, group, starts=100) <= 1e-12


def test_inverses_in_both_directions_are_an_equivalence_on_the_sphere():
    predictor = random_predictor("complex", Sphere())
    both = "p(X, Y) => q(Y, X)", "q(X, Y) => p(Y, X)"
    assert len(hardened(predictor, *both, "r(X, Y) => s(X, Y)").clauses) == 2
    real, imaginary = predictor.relations.data.chunk(2, -1)
    assert torch.equal(real[0], real[1])
    assert torch.equal(imaginary[0], -imaginary[1])


@pytest.mark.parametrize(
    ("scorer", "text", "reason"),
    [
        ("distmult", "p(X, Y), q(Y, Z) => r(X, Z)", "different variables.*predict --consistent"),
        ("distmult", "p(X, Y), q(Y, Z) => false", "different variables"),
        ("distmult", "p(X, Y) => q(X, X)", "different variables"),
        ("distmult", "p(X, X) => q(X, Y)", "different variables"),
        ("distmult", "p(X, Y) => !(q(X, Y) & r(X, Y))", "atoms alone"),
        ("distmult", "p(X, Y), p(Y, X) => false", "never scores above 0"),
        ("distmult", "p(X, X) => false", "never scores above 0"),
        ("cp", "p(X, X) => false", "never scores above 0"),
        ("distmult", "p(X, Y) <=> q(X, Y) & r(X, Y)", "force its relations to be equal"),
        ("distmult", "p(X, e1) => q(X, e2)", "one relation"),
        ("distmult", "p(X, e1) => p(e2, X)", "one place"),
        ("distmult", "p(e1, e2) => p(e1, e3)", "constants"),
        ("transe", STRAIGHT, "TransE has no order"),
        ("rotate", STRAIGHT, "RotatE has no order"),
        ("cp", INVERSE, "reads subject and object differently"),
        ("cp", SYMMETRIC, "reads subject and object differently"),
        ("model-f", INVERSE, "differently"),
        ("model-f", "p(X, e1) => p(X, e2)", "vectors that are trained"),
    ],
)
def test_what_cannot_be_hard_is_named_with_the_reason(scorer, text, reason):
    import re

    hard = hardened(random_predictor(scorer, Cube()), text)
    assert not hard.clauses
    assert hard.feasible is None
    ((clause, said),) = hard.refused
    assert re.search(reason, said)
    assert str(clause) in hard.describe()


def test_model_f_obeys_a_straight_clause():
    predictor = random_predictor("model-f", Cube())
    assert len(hardened(predictor, STRAIGHT, "q(X, Y) => r(X, Y)").clauses) == 2
    assert (predictor.relations[0] <= predictor.relations[1]).all()
    assert (predictor.relations[1] <= predictor.relations[2]).all()


@pytest.mark.parametrize("scorer", SCORERS_WITH_ORDERS)
def test_the_order_of_parameters_is_that_of_matrices(scorer):
    """M is read off scores of unit vectors: ``below`` holds for all entries exactly where parameters are ordered."""
    dim = 4
    model = SCORERS[scorer](dim).double()
    unit = torch.eye(dim, dtype=torch.float64)

    def matrix(relation):
        return model.score(unit.unsqueeze(1), relation, unit)

    order = parameter_order(model, torch.ones(dim, dtype=torch.bool))
    assert sorted(torch.cat([one.columns.flatten() for one in order.orbits]).tolist()) == list(
        range(model.relation_dim)
    )
    generator = torch.Generator().manual_seed(0)
    relation = torch.randn(model.relation_dim, generator=generator, dtype=torch.float64)
    for orbits in order.orbits:
        for column in orbits.columns.flatten().tolist():
            more = relation.clone()
            more[column] += 1
            grows = matrix(more) - matrix(relation)
            assert grows.max() > 0
            assert (grows.min() < -1e-9) == orbits.equal
    if order.transposes:
        turned = relation.clone()
        for orbits in order.orbits:
            turned[orbits.columns] = orbits.sign * relation[orbits.columns.flip(0)]
        torch.testing.assert_close(matrix(turned), matrix(relation).T)


def test_unmarked_clauses_and_those_without_weight_are_left_alone():
    predictor = random_predictor("distmult", Cube())
    clauses = [parse_clause(f"{STRAIGHT} <hard>"), parse_clause(INVERSE), parse_clause(f"{SYMMETRIC} <0>")]
    found = {
        wanted: [str(clause) for clause in find_hard(clauses, ENTITIES, RELATIONS, predictor, wanted).clauses]
        for wanted in ("none", "marked", "all")
    }
    assert found == {"none": [], "marked": [f"{STRAIGHT} <hard>"], "all": [f"{STRAIGHT} <hard>", INVERSE]}


def test_rounding_in_single_precision_is_no_excuse():
    """Numbers of very different sizes, whose sums are rounded, still certify with a bound of 0."""
    predictor = random_predictor("complex", Cube(), dim=32, seed=5)
    predictor.relations.data *= 10 ** torch.linspace(-9, 6, 32)
    hard = hardened(predictor, STRAIGHT, INVERSE, SYMMETRIC, EQUIVALENT)
    copy = LinkPredictor(Table(6, 32), predictor.scorer, num_entities=6, num_relations=4, domain=Cube())
    copy.load_state_dict(predictor.state_dict())
    for certificate in certify(copy, group_clauses(hard.clauses, ENTITIES, RELATIONS)):
        assert (certificate.bound == 0).all()
