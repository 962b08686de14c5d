"""A training takes adversaries by kernels where there are some, and those of torch everywhere else."""

import pytest
from trainings import settings_with

from clausal.adversary import ClosedForm, GradientAscent
from clausal.fast import kernels
from clausal.fast.ascent import FusedAscent
from clausal.fast.closed_form import FusedClosedForm
from clausal.graph import Graph
from clausal.logic import parse_clauses
from clausal.training import prepare

GRAPH = Graph.from_triples([("a", "p", "b"), ("b", "q", "c")])
CLAUSES = parse_clauses("p(X, Y) => q(Y, X)")


def adversary(step="auto", scorer="complex", kind="gradient"):
    settings = settings_with(model={"scorer": scorer, "dim": 4}, train={"step": step}, clauses={"adversary": kind})
    return prepare(GRAPH, CLAUSES, settings).adversary


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ({}, FusedAscent),
        ({"step": "fused"}, FusedAscent),
        ({"kind": "closed-form"}, FusedClosedForm),
        ({"step": "eager"}, GradientAscent),
        ({"step": "eager", "kind": "closed-form"}, ClosedForm),
        ({"scorer": "rescal"}, GradientAscent),
    ],
    ids=str,
)
def test_the_form_of_the_step_decides(asked, expected):
    assert type(adversary(**asked)) is expected


def test_without_numba_torch_does_it(monkeypatch):
    monkeypatch.setattr(kernels, "find_spec", lambda name: None)
    assert type(adversary()) is GradientAscent
    assert type(adversary(kind="closed-form")) is ClosedForm
