"""Verdicts say no more than is known, and a requirement is met by those clauses alone that are known to hold."""

import pytest

from clausal.errors import InputError
from clausal.logic import parse_clause
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
