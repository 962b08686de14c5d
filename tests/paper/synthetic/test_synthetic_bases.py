"""Synthetic knowledge bases have the paper's sizes, and are labelled by what their clauses entail."""

from __future__ import annotations

import numpy as np
import pytest

from clausal_paper.synthetic.bases import CLAUSE_TYPES, knowledge_base


def triples(facts):
    return set(map(tuple, facts.tolist()))


def closure_by_matrices(base):
    """Close the adjacency matrices of the relations: a chain of two body atoms is a product of two matrices."""
    holds = np.zeros((15, 30, 30), dtype=bool)
    subject, relation, object = base.graph.train.T
    holds[relation, subject, object] = True
    while True:
        before = holds.copy()
        for clause in base.clauses:
            *body, head = [base.graph.relations.id(atom.relation) for atom in clause.atoms]
            holds[head] |= holds[body[0]] if len(body) == 1 else holds[body[0]] @ holds[body[1]]
        if (holds == before).all():
            return {(x, r, y) for r, x, y in zip(*map(np.ndarray.tolist, holds.nonzero()), strict=True)}


@pytest.mark.parametrize("clause_type", CLAUSE_TYPES)
def test_sizes_are_the_papers(clause_type):
    base = knowledge_base(clause_type, seed=3)
    train = base.graph.train
    assert len(base.graph.entities) == 30
    assert len(base.graph.relations) == 15
    assert len(triples(train)) == 135
    assert np.bincount(train[:, 1]).tolist() == [9] * 15
    assert len({(x, y) for x, _, y in train.tolist()}) <= 90
    assert (train[:, 0] != train[:, 2]).all()
    assert len(set(map(str, base.clauses))) == 10


@pytest.mark.parametrize("clause_type", ["implication", "transitivity", "composition"])
def test_positives_are_what_only_the_closure_has_and_negatives_what_it_lacks(clause_type):
    base = knowledge_base(clause_type, seed=1)
    closed = closure_by_matrices(base)
    positives, negatives = base.labelled[base.labels == 1], base.labelled[base.labels == 0]
    assert triples(positives) == closed - triples(base.graph.train)
    assert len(triples(positives)) == len(positives) == len(negatives)
    assert not triples(negatives) & closed
    assert (negatives[:, 1] == positives[:, 1]).all()
    unused = {(x, y) for x, _, y in negatives.tolist()} - {(x, y) for x, _, y in closed}
    given = {(x, y) for x, _, y in base.graph.train.tolist()}
    assert unused  # of the 90 pairs that were drawn, about a fifth are in no fact
    assert len(unused | given) <= 90


@pytest.mark.parametrize(("clause_type", "relations"), [("symmetry", 1), ("inverse", 2), ("composition", 3)])
def test_a_clause_is_about_different_relations(clause_type, relations):
    for clause in knowledge_base(clause_type, seed=0).clauses:
        assert len({atom.relation for atom in clause.atoms}) == relations


def test_seeds_give_different_bases_and_the_same_seed_the_same():
    one, again, other = (knowledge_base("inverse", seed) for seed in (4, 4, 5))
    assert np.array_equal(one.graph.train, again.graph.train)
    assert np.array_equal(one.labelled, again.labelled)
    assert list(map(str, one.clauses)) == list(map(str, again.clauses))
    assert not np.array_equal(one.graph.train, other.graph.train)
