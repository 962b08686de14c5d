"""On a reciprocal model each clause is read both ways, as written by hand here with p_ for the reciprocal of p."""

from __future__ import annotations

import itertools

import pytest
import torch
from searching import largest_found

from clausal.adversary import by_clause, certify, group_clauses, readings_of
from clausal.adversary.build import check_closed_forms, make_adversary, make_groups
from clausal.adversary.reciprocal import all_readings
from clausal.adversary.semantics import Godel
from clausal.config import ClauseSettings, ModelSettings, Settings
from clausal.evaluation.entities import check_entities
from clausal.graph import Graph, Names, dataset_clauses, load_graph
from clausal.logic import Variable, parse_clause, parse_clauses, read_clauses
from clausal.model.build import build_predictor
from clausal.observer import Calling
from clausal.training import prepare
from random_models import ENTITIES, RELATIONS, godel_violation, groups_of, one_by_one

READINGS = {
    "p(X,Y) => q(X,Y)": ("p(X,Y) => q(X,Y)", "p_(Y,X) => q_(Y,X)"),
    "p(X,Y) => q(Y,X)": ("p_(Y,X) => q(Y,X)", "p(X,Y) => q_(X,Y)"),
    "p(X,Y), q(Y,Z) => r(X,Z)": ("p(X,Y), q(Y,Z) => r(X,Z)", "q_(Z,Y), p_(Y,X) => r_(Z,X)"),
    "p(Y,X), q(Z,Y) => r(X,Z)": ("p_(X,Y), q_(Y,Z) => r(X,Z)", "q(Z,Y), p(Y,X) => r_(Z,X)"),
    "p(X,Y), q(X,Z), r(Y,Z) => s(X,Z)": (  # from X, both Y and Z are one step away: r as written
        "p(X,Y), q(X,Z), r(Y,Z) => s(X,Z)",
        "p_(Y,X), q_(Z,X), r_(Z,Y) => s_(Z,X)",
    ),
    "p(X,'e1') => q('e1',X)": ("p_('e1',X) => q('e1',X)", "p(X,'e1') => q_(X,'e1')"),
    "p(X,X) => q(X,Y)": ("p(X,X) => q(X,Y)", "p_(X,X) => q_(Y,X)"),
    "p(X,Y), q(Y,X) => false": ("p(X,Y), q(Y,X) => false", "p_(Y,X), q_(X,Y) => false"),
    "p(X,Y) => q(Y,X) | r(X,Y)": ("p(X,Y) => q(Y,X) | r(X,Y)", "p_(Y,X) => q_(X,Y) | r_(Y,X)"),
    "p(X,Y) <=> q(Y,X)": ("p(X,Y) <=> q(Y,X)", "p_(Y,X) <=> q_(X,Y)"),
}
ROWS = Names([*RELATIONS, *(f"{name}_" for name in RELATIONS)], "relation")


def reciprocal_predictor(scorer="complex", domain="none", seed=0, dim=4):
    settings = ModelSettings(scorer=scorer, dim=dim, domain=domain, reciprocal=True)
    predictor = build_predictor(settings, len(ENTITIES), len(RELATIONS))
    generator = torch.Generator().manual_seed(seed)
    predictor.encoder.weight.data = predictor.domain.sample(predictor.encoder.weight.shape, generator)
    predictor.relations.data.normal_(generator=generator)
    return predictor


def violation_by_hand(predictor, text, binding):
    """The violation of one reading in plain Python, for entities by the name of the variable."""

    def score(atom):
        subject, object = (
            predictor.encoder.weight[binding[term.name] if isinstance(term, Variable) else ENTITIES.id(term.name)]
            for term in atom.terms
        )
        return predictor.scorer.score(subject, predictor.relations[ROWS.id(atom.relation)], object).item()

    return godel_violation(parse_clause(text).formula, score)


def assignments(text):
    clause = parse_clause(text)
    names = dict.fromkeys(term.name for atom in clause.atoms for term in atom.terms if isinstance(term, Variable))
    for ids in itertools.product(range(len(ENTITIES)), repeat=len(names)):
        yield dict(zip(names, ids, strict=True))


@pytest.mark.parametrize("text", READINGS)
def test_both_readings_are_those_written_by_hand(text):
    predictor = reciprocal_predictor()
    readings = readings_of(groups_of(text), predictor)
    assert [reading.clauses for reading in readings] == [(parse_clause(text),)] * 2
    for reading, by_hand in zip(readings, READINGS[text], strict=True):
        for binding in itertools.islice(assignments(text), 0, None, 5):
            vectors = predictor.encode(torch.tensor([*binding.values()]))[None, None]
            found = reading.violation(predictor, Godel(), vectors).item()
            assert found == pytest.approx(violation_by_hand(predictor, by_hand, binding), abs=1e-5)


def test_other_models_read_clauses_as_they_are():
    settings = ModelSettings(scorer="complex", dim=4)
    groups = groups_of(*READINGS)
    assert readings_of(groups, build_predictor(settings, len(ENTITIES), len(RELATIONS))) == groups


def fact_violation(predictor, text, binding):
    """The violation on the model's own scores of facts."""
    return one_by_one(predictor, parse_clause(text), [*binding.values()])


@pytest.mark.parametrize("text", READINGS)
def test_the_check_over_entities_reports_the_worst_reading(text):
    predictor = reciprocal_predictor(seed=3)
    (check,) = check_entities(predictor, groups_of(text), tolerance=1e-6)
    by_reading = {
        name: [(violation_by_hand(predictor, reading, binding), binding) for binding in assignments(text)]
        for name, reading in zip(("object", "subject"), READINGS[text], strict=True)
    }
    by_reading["fact"] = [(fact_violation(predictor, text, binding), binding) for binding in assignments(text)]
    pairs = ((*pair, name) for name, found in by_reading.items() for pair in found)
    largest, worst, reading = max(pairs, key=lambda pair: pair[0])
    assert check.largest == pytest.approx(largest, abs=1e-5)
    assert (check.worst, check.reading) == (worst, reading)
    assert str(check.clause) == str(parse_clause(text))


@pytest.mark.parametrize("text", [text for text in READINGS if "Z" not in text or "X,Y), q(X,Z), r(Y,Z)" in text])
def test_rate_and_mean_are_those_of_fact_scores(text):
    for seed in range(3):
        predictor = reciprocal_predictor(seed=seed)
        (check,) = check_entities(predictor, groups_of(text), tolerance=1e-6)
        violations = [fact_violation(predictor, text, binding) for binding in assignments(text)]
        assert check.checked == len(violations)
        assert check.violated == sum(violation > 1e-6 for violation in violations)
        assert check.mean == pytest.approx(sum(violations) / len(violations), rel=1e-4, abs=1e-7)


def test_the_least_of_two_means_can_exceed_both_least_scores():
    """Fact scores of an exclusive pair that either kind of question hides: 3 and 1 one way, 1 and 3 the other."""
    predictor = reciprocal_predictor("distmult", dim=2)
    predictor.encoder.weight.data.fill_(1.0)
    predictor.relations.data.zero_()
    for row, score in ((0, 3.0), (1, 1.0), (4, 1.0), (5, 3.0)):  # p, q, p⁻¹ and q⁻¹
        predictor.relations.data[row] = score / 2
    (check,) = check_entities(predictor, groups_of("p(X,Y), q(X,Y) => false"))
    assert (check.largest, check.reading, check.rate, check.mean) == (2.0, "fact", 1.0, 2.0)
    (certificate,) = certify(predictor, groups_of("p(X,Y), q(X,Y) => false"), region="hull")
    assert certificate.bound.item() == certificate.attained.item() == pytest.approx(2.0)


CONJUNCTIONS = (
    "p(X,Y), q(X,Y) => false",
    "p(X,Y), q(X,Y) => r(X,Y)",
    "p(X,Y), q(Y,Z) => r(X,Z)",
    "p(X,'e1') => q('e2',X)",
)


@pytest.mark.parametrize(
    ("scorer", "domain"), [("complex", "none"), ("simple", "cube"), ("transe", "sphere"), ("rotate", "cube")]
)
def test_no_vectors_make_fact_scores_exceed_the_bound(scorer, domain):
    predictor = reciprocal_predictor(scorer, domain, seed=1).double()
    for group in groups_of(*CONJUNCTIONS):
        facts = all_readings(group, predictor)["fact"]
        ids = torch.randint(len(ENTITIES), (group.shape.variables,))
        own = one_by_one(predictor, group.clauses[0], ids.tolist())  # by the model's own ``score``
        assert facts.violation(predictor, Godel(), predictor.encode(ids)[None, None]).item() == pytest.approx(own)
        (certificate,) = certify(predictor, [group], region="auto")
        found = largest_found(predictor, facts, region="auto", sets=16, steps=40)
        assert found <= certificate.bound.item() + 1e-9


@pytest.mark.parametrize("domain", ["none", "cube"])
@pytest.mark.parametrize("text", READINGS)
def test_certificates_hold_for_the_worse_reading(text, domain):
    predictor = reciprocal_predictor(domain=domain, seed=5)
    (certificate,) = certify(predictor, groups_of(text), region="auto")
    rows = [parse_clause(reading) for reading in READINGS[text]]
    plain = certify(
        predictor.with_inverses(), [g for row in rows for g in group_clauses([row], ENTITIES, ROWS)], region="auto"
    )
    assert certificate.attained.item() >= 0.98 * max(one.attained.item() for one in plain)
    assert certificate.bound.item() >= max(one.bound.item() for one in plain) - 1e-4
    assert certificate.bound.isfinite().all()
    worst = max(
        violation(predictor, reading, binding)
        for violation, reading in ((fact_violation, text), *((violation_by_hand, one) for one in READINGS[text]))
        for binding in assignments(text)
    )
    assert certificate.bound.item() >= worst - 1e-6  # the entities are in the region
    found = all_readings(*groups_of(text), predictor).values()
    reached = [one.violation(predictor, Godel(), certificate.vectors.float().unsqueeze(1)).item() for one in found]
    assert max(reached) == pytest.approx(certificate.attained.item(), rel=1e-4)


def test_implications_on_discs_have_the_closed_form_of_both_readings():
    predictor = reciprocal_predictor(dim=8, seed=7)
    real, imaginary = predictor.encoder.weight.data.double().chunk(2, -1)
    radius = (real.square() + imaginary.square()).amax(0)  # ρ²
    rows = torch.complex(*predictor.relations.data.double().chunk(2, -1))
    p, q, p_, q_ = rows[0], rows[1], rows[4], rows[5]
    for text, differences in {
        "p(X,Y) => q(X,Y)": (p - q, p_ - q_),
        "p(X,Y) => q(Y,X)": (p_ - q, p - q_),
    }.items():
        expected = max((radius * difference.abs()).sum().item() for difference in differences)
        (certificate,) = certify(predictor, groups_of(text), region="auto")
        assert certificate.exact
        assert certificate.bound.item() == pytest.approx(expected)


def test_values_of_readings_become_one_for_each_clause():
    predictor = reciprocal_predictor()
    groups = readings_of(groups_of("p(X,Y) => q(X,Y)", "r(X,Y) => s(X,Y)", "p(X,Y) => q(Y,X)"), predictor)
    values = torch.tensor([1.0, 2.0, 3.0, 0.0, 7.0, 5.0])
    assert by_clause(groups, values).tolist() == [3.0, 2.0, 7.0]


def test_training_sums_both_readings_and_reports_clauses():
    graph = Graph.from_triples([("e0", "p", "e1"), ("e1", "q", "e2"), ("e2", "p", "e3")], valid=[("e0", "q", "e1")])
    settings = Settings.from_mapping(
        {
            "model": {"dim": 8, "domain": "none", "reciprocal": True},
            "facts": {"loss": "softmax", "training": "1-vs-all"},
            "clauses": {"adversary": "closed-form", "weight": 0.1},
            "train": {"epochs": 1, "device": "cpu"},
            "evaluate": {"every": 1},
        }
    )
    training, log = prepare(graph, parse_clauses("p(X,Y) => q(X,Y)\np(X,Y) => q(Y,X)"), settings), []
    reports = []
    training.run(Calling(passed=reports.append, epoch=log.append))
    assert reports[-1].violated == log[-1]["certified"]["clauses"] == 2
    training.objective.clause_loss.adopt(training.find_adversarial_set())
    both = training.objective.inconsistency()
    assert len(both) == 4
    certified = training.certify(training.predictor)["certified"]["inconsistency"]
    assert certified == pytest.approx(both.sum().item(), rel=1e-5)


def test_all_clauses_of_fb122_have_bounds_on_discs_for_a_reciprocal_model_without_a_domain(clausal_data):
    graph, clauses = load_graph("fb122"), read_clauses(dataset_clauses("fb122"))
    model = ModelSettings(scorer="complex", dim=4, domain="none", reciprocal=True)
    predictor = build_predictor(model, len(graph.entities), len(graph.relations))
    settings = ClauseSettings(adversary="closed-form", fallback="error")
    groups = make_groups(clauses, graph.entities, graph.relations, predictor)
    adversary = make_adversary(settings, torch.from_numpy(graph.train))
    check_closed_forms(adversary, predictor, groups, settings, pytest.fail)
    inconsistency = by_clause(groups, adversary.inconsistency(predictor, groups, adversary.find(predictor, groups)))
    certificates = certify(predictor, group_clauses(clauses, graph.entities, graph.relations), region="auto")
    attained = torch.cat([certificate.attained for certificate in certificates])
    assert len(inconsistency) == 47
    assert (inconsistency >= attained - 1e-5).all()
    assert inconsistency.sum() <= 1.05 * attained.sum()
