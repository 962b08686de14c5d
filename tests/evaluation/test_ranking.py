"""Ranks equal their definition, whatever the ties, the filter and the batch size."""

from __future__ import annotations

from unittest import mock

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from score_tables import TablePredictor, naive_ranks, random_facts, random_table
from torch import nn

from clausal.errors import InputError, RunError
from clausal.evaluation import counting, ranking
from clausal.evaluation.counting import Counting
from clausal.evaluation.known import Known
from clausal.evaluation.ranking import rank
from clausal.fast import FormChoice, catalogue, fastest
from clausal.fast.cpu.counting import CompiledCounting
from recording import Recorder

INFINITY = float("inf")


def as_facts(rows) -> np.ndarray:
    return np.array(sorted(rows), dtype=np.int32).reshape(-1, 3)


def counted(fast: bool):
    """Count by the kernel that Numba compiles, or by torch."""
    return FormChoice("auto" if fast else "eager", kernels_loaded=True).in_use()


@st.composite
def problems(draw):
    n, r = draw(st.integers(1, 8)), draw(st.integers(1, 3))
    levels = draw(st.sampled_from([[0.0], [0.0, 1.0], [-1.0, 0.0, 1.0, 2.0], [-INFINITY, 0.0, INFINITY]]))
    table = draw(st.lists(st.sampled_from(levels), min_size=r * n * n, max_size=r * n * n))
    fact = st.tuples(st.integers(0, n - 1), st.integers(0, r - 1), st.integers(0, n - 1))
    facts = draw(st.lists(fact, max_size=25))
    known = draw(st.lists(fact, max_size=40))
    known += facts if draw(st.booleans()) else []
    return torch.tensor(table).reshape(r, n, n), facts, known


@settings(max_examples=300, deadline=None)
@given(
    problems(),
    st.sampled_from(["realistic", "optimistic", "pessimistic"]),
    st.sampled_from([1, 100, 300, 2**20]),
    st.sampled_from([0, 1, 2, counting.MANY_TARGETS]),
    st.sampled_from([torch.float16, torch.float32, torch.float64]),
    st.booleans(),
)
def test_ranks_equal_a_count_over_plain_sets(problem, ties, memory, many, dtype, fast):
    table, facts, known = problem
    predictor = TablePredictor(table.to(dtype))
    index = Known(as_facts(known), predictor.num_entities, predictor.num_relations)
    ids = np.array(facts, dtype=np.int32).reshape(-1, 3)
    with mock.patch.object(counting, "MANY_TARGETS", many), counted(fast):
        ranks = rank(predictor, ids, index, ties=ties, memory=memory)
    expected = naive_ranks(table.tolist(), facts, set(known), ties)
    for (setting, side), values in expected.items():
        assert ranks.of(setting, side).tolist() == values


def test_another_tie_policy_needs_no_new_scores():
    predictor = random_table(0, relations=2, entities=20)
    facts = random_facts(1, 50, relations=2, entities=20)
    known = Known(facts, 20, 2)
    realistic = rank(predictor, facts, known)
    asked = len(predictor.asked)
    for ties in ("optimistic", "pessimistic"):
        changed = realistic.with_ties(ties).of("filtered", "both")
        assert len(predictor.asked) == asked
        np.testing.assert_array_equal(changed, rank(predictor, facts, known, ties=ties).of("filtered", "both"))
        predictor.asked = predictor.asked[:asked]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("memory", [1, 10_000, 50_000])
@pytest.mark.parametrize("fast", [False, True])
def test_scores_and_work_space_stay_within_memory(dtype, memory, fast):
    n = 100
    predictor = random_table(0, relations=3, entities=n)
    predictor.table = predictor.table.to(dtype)
    facts = random_facts(1, 400, relations=3, entities=n)
    with counted(fast):
        rank(predictor, facts, Known(facts, n, 3), memory=memory)
    query_bytes = n * (dtype.itemsize + (0 if fast else 4))
    assert max(predictor.asked) == max(1, memory // query_bytes)
    assert max(predictor.asked) * query_bytes <= max(memory, query_bytes)


def test_some_queries_share_a_look_at_all_entities_however_many_those_are(monkeypatch):
    monkeypatch.setattr(ranking, "DEFAULT_MEMORY", 1)
    predictor = random_table(0, relations=3, entities=100)
    facts = random_facts(1, 400, relations=3, entities=100)
    rank(predictor, facts, Known(facts, 100, 3))
    assert max(predictor.asked) == 16


def test_each_distinct_query_is_scored_once():
    predictor = random_table(0, relations=2, entities=10)
    facts = random_facts(1, 100, relations=2, entities=10)
    rank(predictor, facts, Known(facts, 10, 2), memory=2000)
    distinct = [len(np.unique(facts[:, columns], axis=0)) for columns in ([1, 2], [0, 1])]
    assert sum(distinct) < 2 * len(facts)
    assert sum(predictor.asked) == sum(distinct)


@pytest.mark.parametrize("fast", [False, True])
def test_counts_are_exact_beyond_what_a_float32_can_count(fast):
    n = 2**24 + 3

    class Constant:
        num_entities, num_relations, device = n, 1, torch.device("cpu")

        def score(self, subjects, relations, objects):
            return torch.zeros(len(subjects))

        def score_objects(self, subjects, relations):
            return torch.zeros(len(subjects), n)

        score_subjects = score_objects

    facts = np.array([[0, 0, n - 1]], dtype=np.int32)
    with counted(fast):
        ranks = rank(Constant(), facts, Known(facts, n, 1), ties="pessimistic")
    assert ranks.of("raw", "both").tolist() == [n, n]


@pytest.mark.parametrize(
    ("device", "dtype", "scores", "loaded", "expected"),
    [
        ("cpu", torch.float32, 10, True, True),
        ("cpu", torch.float32, 10, False, False),
        ("cpu", torch.float32, 10**10, False, True),
        ("cpu", torch.float16, 10**10, True, False),
        ("meta", torch.float32, 10**10, True, False),
    ],
)
def test_the_kernel_counts_where_it_is_loaded_or_worth_loading(device, dtype, scores, loaded, expected):
    sample = torch.empty(1, dtype=dtype, device=device)
    with FormChoice(kernels_loaded=loaded).in_use():
        assert (fastest(Counting, sample, scores) is CompiledCounting) is expected


def test_torch_counts_where_numba_is_missing(monkeypatch):
    monkeypatch.setattr(catalogue, "find_spec", lambda name: None)
    assert fastest(Counting, torch.empty(1), 10**10) is Counting


@pytest.mark.parametrize("place", [(0, 1, 2), (0, 1, 0), (0, 3, 2)], ids=["target", "candidate", "other side"])
def test_a_score_that_is_no_number_is_refused(place):
    predictor = random_table(0, relations=1, entities=5)
    predictor.table[place] = float("nan")
    facts = as_facts([(1, 0, 2)])
    with pytest.raises(RunError, match=r"not numbers \(NaN\).*diverged"):
        rank(predictor, facts, Known(facts, 5, 1))


def test_scores_of_the_wrong_shape_are_refused():
    predictor = random_table(0, relations=1, entities=5)
    predictor.score_subjects = lambda relations, objects: torch.zeros(len(objects), 4)
    facts = as_facts([(1, 0, 2)])
    with pytest.raises(RunError, match=r"shape \[1, 4\].*expected \[1, 5\]"):
        rank(predictor, facts, Known(facts, 5, 1))


@pytest.mark.parametrize("fact", [(5, 0, 0), (0, 1, 0), (0, 0, -1)])
def test_ids_the_predictor_does_not_know_are_refused(fact):
    facts = np.array([(0, 0, 0), fact], dtype=np.int32)
    with pytest.raises(InputError, match=r"fact 1 has ids .* knows 5 entities and 1 relation"):
        rank(random_table(0, relations=1, entities=5), facts, Known(facts[:1], 5, 1))


def test_facts_that_are_not_rows_of_three_ids_are_refused():
    predictor = random_table(0, relations=1, entities=5)
    for facts in (np.zeros((2, 2), dtype=np.int32), np.zeros((2, 3))):
        with pytest.raises(InputError, match=r"shape \[facts, 3\]"):
            rank(predictor, facts, Known(as_facts([]), 5, 1))


def test_an_unknown_tie_policy_is_refused_with_a_suggestion():
    with pytest.raises(InputError, match="did you mean 'optimistic'"):
        rank(random_table(0, 1, 5), as_facts([]), Known(as_facts([]), 5, 1), ties="optimist")


def test_progress_counts_both_sides_to_the_end():
    predictor = random_table(0, relations=2, entities=10)
    facts = random_facts(1, 60, relations=2, entities=10)
    seen = Recorder()
    rank(predictor, facts, Known(facts, 10, 2), memory=250, observer=seen)
    done = [number for _, number, _, _ in seen.of("advanced")]
    assert done == sorted(set(done))
    assert len(done) > 4
    assert seen.of("advanced")[-1] == ("ranking", 2 * len(facts), 2 * len(facts), "ranks")


def test_a_module_is_ranked_in_evaluation_mode_and_left_as_it_was():
    class Noisy(nn.Module):
        num_entities, num_relations, device = 30, 1, torch.device("cpu")

        def __init__(self):
            super().__init__()
            self.scores = nn.Parameter(torch.arange(900.0).reshape(30, 30))
            self.dropout = nn.Dropout(0.5)
            self.modes = set()

        def score(self, subjects, relations, objects):
            return self.dropout(self.scores)[subjects, objects]

        def score_objects(self, subjects, relations):
            self.modes.add((self.training, torch.is_grad_enabled()))
            return self.dropout(self.scores)[subjects]

        def score_subjects(self, relations, objects):
            return self.dropout(self.scores)[:, objects].T

    model = Noisy()
    facts = np.array([[0, 0, 29], [3, 0, 28]], dtype=np.int32)
    ranks = rank(model, facts, Known(facts, 30, 1))
    assert ranks.of("raw", "object").tolist() == [1.0, 2.0]
    assert model.modes == {(False, False)}
    assert model.training


@pytest.mark.gpu
@pytest.mark.parametrize("many", [0, counting.MANY_TARGETS])
def test_a_cuda_device_gives_the_ranks_of_the_cpu(many):
    predictor = random_table(0, relations=3, entities=50)
    facts, known = (random_facts(seed, 500, relations=3, entities=50) for seed in (1, 2))
    index = Known(np.concatenate([facts, known]), 50, 3)
    expected = rank(predictor, facts, index)
    with mock.patch.object(counting, "MANY_TARGETS", many):
        ranks = rank(TablePredictor(predictor.table.cuda()), facts, index, memory=5000)
    for setting in ("raw", "filtered"):
        np.testing.assert_array_equal(ranks.of(setting, "both"), expected.of(setting, "both"))
