"""Certificates: no search of its own beats a bound, and the check of all entities finds what trying them all finds."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
import torch
from hypothesis import assume
from hypothesis import strategies as st

from adversary.searching import largest_found
from clausal.adversary import GradientAscent, certify
from clausal.adversary.regions import region_of
from clausal.adversary.semantics import Godel, Sum, Threshold
from clausal.evaluation.entities import check_entities
from clausal.logic import Variable, parse_clause
from clausal.model import Ball, Box, Cube, Sphere
from differential.comparisons import Comparison
from random_models import ENTITIES, groups_of, one_by_one, random_predictor

SEMANTICS = {"godel": Godel(), "sum": Sum(), "threshold": Threshold(0.5, 0.2)}
DOMAINS = {"sphere": Sphere(), "cube": Cube(), "ball": Ball(), "box": Box(-0.5, 2.0)}
_variables = st.sampled_from("XYZ")
_terms = st.one_of(_variables, _variables, _variables, st.sampled_from(["'e1'", "'e4'"]))
_atoms = st.builds("{}({}, {})".format, st.sampled_from("pqrs"), _terms, _terms)
_bodies = st.lists(_atoms, min_size=1, max_size=3).map(", ".join)
_clauses = st.one_of(
    st.builds("{} => {}".format, _bodies, _atoms),
    st.builds("{} => {}".format, _atoms, _atoms),
    st.builds("{} <=> {}".format, _atoms, _atoms),
    st.builds("{} | {}".format, _atoms, _atoms),
    st.builds("{} => false".format, _bodies),
    st.builds("{} => {} | {}".format, _atoms, _atoms, _atoms),
)
_models = st.fixed_dictionaries(
    {
        "scorer": st.sampled_from(["distmult", "complex", "simple", "cp", "rescal", "transe", "rotate", "hole"]),
        "domain": st.sampled_from(sorted(DOMAINS)),
        "dim": st.sampled_from([2, 4, 6]),
        "seed": st.integers(0, 10_000),
    }
)
_cases = st.fixed_dictionaries(
    {
        "model": _models,
        "clause": _clauses,
        "region": st.sampled_from(["auto", "domain", "hull", "discs"]),
        "semantics": st.sampled_from(sorted(SEMANTICS)),
    }
)


def _predictor(model: dict[str, Any]) -> Any:
    scorer, domain = model["scorer"], DOMAINS[model["domain"]]
    return random_predictor(scorer, domain, dim=model["dim"], seed=model["seed"], dtype=torch.float64)


def by_search(case: dict[str, Any]) -> None:
    """Look for a violation beyond the bound, from entities and random vectors."""
    predictor, semantics, region = _predictor(case["model"]), SEMANTICS[case["semantics"]], case["region"]
    groups = groups_of(case["clause"])
    (certificate,) = certify(
        predictor, groups, semantics=semantics, region=region, ascent=GradientAscent(sets=3, steps=3)
    )
    bound, attained = certificate.bound.item(), certificate.attained.item()
    assert attained <= bound + 1e-9
    (group,) = groups
    if bound == float("inf") or not group.slots(predictor).free or region_of(predictor, group, region) is None:
        assume(False)
    found = largest_found(predictor, group, semantics, region, sets=16, steps=60, seed=case["model"]["seed"])
    assert found <= bound + 1e-7 * max(1, abs(bound)), f"{found} > {bound}"


def by_trying_all(case: dict[str, Any]) -> None:
    """Compare the largest violation over all entities."""
    clause = parse_clause(case["clause"])
    predictor = _predictor(case["model"])
    names = dict.fromkeys(term for atom in clause.atoms for term in atom.terms if isinstance(term, Variable))
    assignments = itertools.product(range(len(ENTITIES)), repeat=len(names))
    with torch.no_grad():
        expected = max(one_by_one(predictor, clause, ids) for ids in assignments)
    (check,) = check_entities(predictor, groups_of(case["clause"]))
    assert check.largest == pytest.approx(expected, abs=1e-6)


COMPARISONS = {
    "certificates": Comparison(_cases, by_search, slice=20),
    "entities": Comparison(_cases, by_trying_all, slice=40),
}
