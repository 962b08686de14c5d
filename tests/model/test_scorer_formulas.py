"""Each scorer computes its published formula."""

from __future__ import annotations

from functools import partial

import pytest
import torch
from scorer_formulas import FORMULAS, er_mlp, transe

from clausal.errors import InputError
from clausal.model import SCORERS
from clausal.model.scorers import ERMLP, TransE

DIMS = {"hole": [4, 5], "transe": [3], "distmult": [3]}


def compare(scorer, formula, seed=0):
    generator = torch.Generator().manual_seed(seed)
    scorer = scorer.double()
    relation = torch.randn(7, scorer.relation_dim, generator=generator, dtype=torch.float64)
    subject, object = torch.randn(2, 7, scorer.dim, generator=generator, dtype=torch.float64)
    scores = scorer.score(subject, relation, object).detach()
    expected = [formula(*(part[i].tolist() for part in (relation, subject, object))) for i in range(7)]
    torch.testing.assert_close(scores, torch.tensor(expected, dtype=torch.float64), rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize(("name", "dim"), [(name, dim) for name in FORMULAS for dim in DIMS.get(name, [4, 6])])
def test_scores_equal_the_published_formula(name, dim):
    compare(SCORERS[name](dim), FORMULAS[name])


@pytest.mark.parametrize("norm", ["l1", "l2", "l2-squared"])
def test_transe_has_three_distances(norm):
    compare(TransE(4, norm), partial(transe, norm=norm))


@pytest.mark.parametrize("hidden", [(), (5,), (6, 5, 3)])
def test_er_mlp_equals_its_layers_on_the_concatenation(hidden):
    scorer = ERMLP(4, hidden)
    scorer.bias.data.uniform_(-1, 1)  # biases start at zero, where a lost one would not show
    compare(scorer, partial(er_mlp, scorer))


def test_every_registered_scorer_has_a_formula_here():
    assert set(SCORERS) == {*FORMULAS, "er-mlp"}


@pytest.mark.parametrize("name", ["complex", "rotate", "simple", "cp"])
def test_scorers_with_two_halves_refuse_an_odd_dimension(name):
    with pytest.raises(InputError, match=r"model\.dim: .* needs an even dimension.*got 5"):
        SCORERS[name](5)
