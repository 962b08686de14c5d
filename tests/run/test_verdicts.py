"""Verdicts say no more than is known, and a requirement is met by those clauses alone that are known to hold."""

import pytest
import torch

from clausal.config import Settings
from clausal.errors import InputError
from clausal.graph import Graph
from clausal.logic import parse_clause
from clausal.model.build import build_predictor
from clausal.run.certification import certify_clauses
from clausal.run.verdicts import ClauseCertificate, Example, check_requirement, unmet, verdict


@pytest.mark.parametrize(
    ("attained", "bound", "worst", "expected"),
    [
        (0.0, 0.0, None, "holds for all"),
        (0.005, 0.01, 0.004, "holds for all"),
        (0.5, 0.6, 0.01, "holds on this graph"),
        (0.0, None, 0.0, "holds on this graph"),
        (0.5, 0.6, 0.02, "violated"),
        (0.0, 0.0, 0.02, "violated"),  # an entity outside the region
        (0.5, 0.6, None, "not for all"),
        (0.5, None, None, "not for all"),
        (0.0, 0.6, None, "unknown"),
        (0.0, None, None, "unknown"),
    ],
)
def test_verdict_by_what_is_known(attained, bound, worst, expected):
    assert verdict(attained, bound, worst, tolerance=0.01) == expected


def certificate(verdict, attained=0.0, bound=0.0):
    clause = parse_clause(f"p(X, Y) => q_{verdict.replace(' ', '_')}(X, Y)")
    return ClauseCertificate(clause, attained, bound, True, "", None, None, verdict)


CERTIFICATES = [
    certificate(name) for name in ("holds for all", "holds for all", "holds on this graph", "violated", "unknown")
]


@pytest.mark.parametrize(
    ("requirement", "certificates", "failing"),
    [
        ("all", CERTIFICATES[:2], []),
        ("all", CERTIFICATES[:3], ["q_holds_on_this_graph"]),
        ("graph", CERTIFICATES[:3], []),
        ("graph", CERTIFICATES, ["q_violated", "q_unknown"]),
        ("0.6", CERTIFICATES, []),
        ("0.61", CERTIFICATES, ["q_violated", "q_unknown"]),
        ("0", CERTIFICATES, []),
        ("1", CERTIFICATES[:3], []),
    ],
)
def test_requirement_names_the_clauses_that_fail_it(requirement, certificates, failing):
    sentence = unmet(requirement, certificates)
    assert (sentence is None) == (not failing)
    named = [
        name
        for name in ("q_holds_for_all", "q_holds_on_this_graph", "q_violated", "q_unknown")
        if name in (sentence or "")
    ]
    assert named == failing
    assert "\n" not in (sentence or "")


@pytest.mark.parametrize("requirement", ["some", "1.5", "-0.1", "nan", ""])
def test_what_is_no_requirement_is_refused(requirement):
    with pytest.raises(InputError, match="expected all, graph"):
        check_requirement(requirement)


def test_the_gap_is_relative_to_the_bound():
    assert certificate("unknown", 0.75, 1.0).gap == pytest.approx(0.25)
    assert certificate("unknown", 0.0, 0.0).gap == 0
    assert certificate("unknown", 1.0 + 1e-12, 1.0).gap == 0
    assert certificate("unknown", 1.0, None).gap is None


def test_an_example_reads_as_a_sentence():
    example = Example({"X": "lyon", "Y": "france"}, 2.9, body=3.1, head=0.2)
    assert str(example) == "X = lyon, Y = france: body 3.1, head 0.2, violated by 2.9"
    assert str(Example({"X": "lyon"}, 0.5)) == "X = lyon: violated by 0.5"


GRAPH = Graph.from_triples(
    [("a", "p", "b"), ("b", "q", "c"), ("c", "r", "a"), ("d", "p", "a")],
    valid=[("a", "q", "b")],
    test=[("a", "r", "b")],
)
COMPARED = {
    "godel": lambda body, head: body - head,
    "sum": lambda body, head: body - head,
    "threshold": lambda body, head: min(body - 0.2, 0.1 - head),
    "product": lambda body, head: body * (1 - head),
    "lukasiewicz": lambda body, head: body - head,
}
CLAUSES = [
    "p(X, Y), q(X, Y) => r(Y, X)",
    "p(X, Y), ~q(Y, X) => r(X, Y)",
    "p(X, Y), q(Y, Z) => r(X, Z)",
]


@pytest.mark.parametrize("reciprocal", [False, True], ids=["plain", "reciprocal"])
@pytest.mark.parametrize("semantics", COMPARED)
def test_an_example_gives_the_values_that_its_violation_compares(semantics, reciprocal):
    settings = Settings.from_mapping({"model": {"scorer": "complex", "dim": 4, "reciprocal": reciprocal}})
    predictor = build_predictor(settings.model, len(GRAPH.entities), len(GRAPH.relations))
    readings = set()
    for seed in range(2 if semantics == "godel" else 1):
        generator = torch.Generator().manual_seed(seed)
        for parameter in predictor.parameters():
            parameter.data.normal_(generator=generator)
        found = certify_clauses(
            predictor,
            GRAPH,
            [parse_clause(text) for text in CLAUSES],
            settings,
            region="hull",
            semantics=semantics,
            thresholds=(0.2, 0.1) if semantics == "threshold" else None,
        )
        for one in found.clauses:
            example = one.entities.example
            assert one.attained >= one.entities.worst - 1e-5  # the hull holds the entities
            if example is not None:
                assert example.violation == one.entities.worst
                assert COMPARED[semantics](example.body, example.head) == pytest.approx(example.violation, abs=1e-5)
                readings.add(example.reading)
                shown = str(example)
                assert ("as answers to questions for the" in shown) == (example.reading in ("object", "subject"))
    assert readings
    assert readings <= ({"fact", "object", "subject"} if reciprocal else {None})
