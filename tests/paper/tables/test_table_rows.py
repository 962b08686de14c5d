"""Rows: each has its preset, the clauses that its name says, and the data set as it sees it."""

import numpy as np
import pytest

from clausal.errors import InputError
from clausal.graph import dataset_clauses, load_graph
from clausal.logic import parse_clauses, read_rules
from clausal_paper.tables.rows import PAPER_TABLES, limit, paper_rows
from clausal_paper.tables.training import settings_of

ALL_ROWS = [row for rows in PAPER_TABLES.values() for row in rows]
ADVERSARIES = {"none": "none", "one-atom": "closed-form", "all": "gradient"}


@pytest.mark.parametrize("row", [row for row in ALL_ROWS if not row.is_kale], ids=str)
def test_presets_train_what_the_row_says(row):
    settings = settings_of(row, seed=3)
    assert settings.model.scorer == row.model.rpartition("-")[2]
    assert settings.clauses.adversary == {"entities": "entities", "grounded": "grounded"}.get(
        row.variant.removesuffix("-100"), ADVERSARIES[row.uses]
    )
    assert settings.evaluate.keep == "last"
    assert settings.clauses.weight > 0  # an ASR row with α = 0 would be the row without clauses
    assert settings.train.seed == 3
    assert (settings.facts.loss, settings.train.epochs * settings.train.passes) == ("hinge", 1000)


def test_rows_use_no_clauses_those_of_one_atom_or_all():
    clauses = parse_clauses("r(X, Y) => s(X, Y)\nr(X, Y), s(Y, Z) => t(X, Z)\ns(X, Y) => r(Y, X)\n")
    rows = [row for row in PAPER_TABLES["fb122"] if not row.variant]
    used = {row.name: tuple(map(clauses.index, row.clauses(clauses))) for row in rows}
    assert used == {
        **dict.fromkeys(("transe", "distmult", "complex"), ()),
        **dict.fromkeys(("casr-distmult", "casr-complex"), (0, 2)),
        **dict.fromkeys(("kale-pre", "kale-joint", "asr-distmult", "asr-complex"), (0, 1, 2)),
    }


def test_one_atom_clauses_of_fb122_are_those_that_come_as_simple(clausal_data):
    clauses, simple = (read_rules(dataset_clauses("fb122", simple=simple)) for simple in (False, True))
    (row,) = paper_rows("fb122", ["casr-complex"])
    assert set(map(str, row.clauses(clauses))) == set(map(str, simple))
    assert len(simple) == 38


def test_an_unknown_row_is_answered_with_the_nearest():
    with pytest.raises(InputError, match="did you mean 'asr-complex'"):
        paper_rows("fb122", ["asr-complx"])


def test_rows_come_in_the_order_of_the_table():
    assert [row.name for row in paper_rows("fb122", ["complex", "distmult"])] == ["distmult", "complex"]


@pytest.mark.parametrize("share", [0.2, 0.5])
def test_limited_data_keeps_a_share_of_what_clauses_conclude_and_all_else(clausal_data, share):
    graph, clauses = load_graph("wn18"), read_rules(dataset_clauses("wn18"))
    limited = limit(graph, clauses, share, seed=1)
    before, after = (np.bincount(facts[:, 1], minlength=18) for facts in (graph.train, limited.train))
    heads = {clause.formula.head.relation for clause in clauses}
    assert len(heads) == 14
    for relation, name in enumerate(graph.relations):
        assert after[relation] == (round(share * before[relation]) if name in heads else before[relation])
    given = set(map(tuple, graph.train.tolist()))
    kept = set(map(tuple, limited.train.tolist()))
    assert kept < given
    assert not (given - kept) & set(map(tuple, limited.known.tolist()))  # no filter knows what is gone


def test_limited_data_follows_from_the_seed(clausal_data):
    graph, clauses = load_graph("wn18"), read_rules(dataset_clauses("wn18"))
    draws = [limit(graph, clauses, 0.3, seed).train for seed in (1, 1, 2)]
    assert np.array_equal(draws[0], draws[1])
    assert not np.array_equal(draws[0], draws[2])
