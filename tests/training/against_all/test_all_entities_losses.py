"""Losses against all entities equal torch's own, and their hand-written gradients those of autograd."""

from __future__ import annotations

import pytest
import torch
from torch.nn import functional as F

from clausal.fast import against_all
from clausal.training.against_all.losses import BinaryCrossEntropy, Softmax, overwrite_
from clausal.training.against_all.queries import Answers, KVsAll, OneVsAll

ENTITIES, DIM = 7, 4
FACTS = torch.tensor([[0, 0, 1], [0, 0, 2], [0, 1, 2], [3, 0, 1], [4, 1, 6], [0, 0, 1]])
SOURCES = {"1-vs-all": OneVsAll(FACTS), "k-vs-all": KVsAll(FACTS, ENTITIES)}


def draw(*shape):
    return torch.randn(shape, generator=torch.Generator().manual_seed(len(shape)), dtype=torch.float64)


def batch_of(training):
    return SOURCES[training].queries(SOURCES[training].rows)


def truth_of(queries, labels):
    """The truth [queries, entities] by a loop: 1 for each answer, or the same share for each."""
    answers = queries.answers
    truth = torch.zeros(len(queries.known), ENTITIES, dtype=torch.float64)
    for row, entity in zip(answers.rows.tolist(), answers.entities.tolist(), strict=True):
        truth[row, entity] = 1
    return truth if labels else truth / truth.sum(1, keepdim=True)


def torch_loss(kind, scores, queries, smoothing):
    truth = truth_of(queries, labels=kind is BinaryCrossEntropy)
    truth = (1 - smoothing) * truth + smoothing / ENTITIES
    if kind is Softmax:
        return -(truth * F.log_softmax(scores, 1)).sum()
    return F.binary_cross_entropy_with_logits(scores, truth, reduction="none").mean(1).sum()


@pytest.mark.parametrize("smoothing", [0.0, 0.3])
@pytest.mark.parametrize("training", SOURCES)
@pytest.mark.parametrize("kind", [Softmax, BinaryCrossEntropy])
def test_the_loss_is_that_of_torch(kind, training, smoothing):
    queries = batch_of(training)
    scores = draw(len(queries.known), ENTITIES)
    torch.testing.assert_close(kind(smoothing)(scores, queries.answers), torch_loss(kind, scores, queries, smoothing))


@pytest.mark.parametrize("smoothing", [0.0, 0.3])
@pytest.mark.parametrize("training", SOURCES)
@pytest.mark.parametrize("kind", [Softmax, BinaryCrossEntropy])
@pytest.mark.parametrize("at_once", [1 << 27, 3 * 64, 1])
def test_in_pieces_loss_and_gradients_are_those_of_torch(kind, training, smoothing, at_once, monkeypatch):
    monkeypatch.setattr(against_all, "_SCORES_AT_ONCE", at_once)  # in one piece, in threes and one by one
    queries = batch_of(training)
    vectors = draw(len(queries.known), DIM).requires_grad_()
    candidates = (3 * draw(ENTITIES, DIM)).requires_grad_()
    expected = torch_loss(kind, vectors @ candidates.T, queries, smoothing)
    loss = against_all.loss_of_products_in_pieces(vectors, candidates, queries.answers, kind(smoothing), "highest")
    torch.testing.assert_close(loss, expected)
    for found, wanted in zip(
        torch.autograd.grad(2.5 * loss, (vectors, candidates)),
        torch.autograd.grad(2.5 * expected, (vectors, candidates)),
        strict=True,
    ):
        torch.testing.assert_close(found, wanted)


def test_large_scores_neither_overflow_nor_vanish():
    answers = Answers(torch.tensor([0, 1]), torch.tensor([0, 1]), torch.ones(2))
    scores = torch.tensor([[1000.0, 0.0], [-1000.0, 0.0]])
    assert Softmax()(scores, answers).item() == 0
    assert overwrite_(Softmax(), scores, answers, scores.shape[1]).item() == 0
    assert scores.abs().max().item() == 0  # the gradient: both queries are answered


def test_both_queries_of_each_fact_are_asked_in_1_vs_all():
    queries = batch_of("1-vs-all")
    found = set()
    for place, (known, relation, answer) in enumerate(
        zip(queries.known.tolist(), queries.relations.tolist(), queries.answers.entities.tolist(), strict=True)
    ):
        found.add((known, relation, answer) if place < queries.forward else (answer, relation, known))
        assert queries.answers.rows[place] == place
    assert found == {tuple(fact) for fact in FACTS.tolist()}


def test_each_distinct_query_is_asked_once_with_all_its_answers_in_k_vs_all():
    queries, answers = batch_of("k-vs-all"), {}
    for row, entity in zip(queries.answers.rows.tolist(), queries.answers.entities.tolist(), strict=True):
        side = "object" if row < queries.forward else "subject"
        answers.setdefault((side, queries.known[row].item(), queries.relations[row].item()), []).append(entity)
    expected = {}
    for subject, relation, object in {tuple(fact) for fact in FACTS.tolist()}:
        expected.setdefault(("object", subject, relation), []).append(object)
        expected.setdefault(("subject", object, relation), []).append(subject)
    assert len(queries.known) == len(expected)
    assert {key: sorted(value) for key, value in answers.items()} == {k: sorted(v) for k, v in expected.items()}


def test_a_batch_of_some_queries_has_their_answers_and_no_others():
    source = SOURCES["k-vs-all"]
    whole, part = batch_of("k-vs-all"), source.queries(source.rows[[4, 1]])
    for row, place in enumerate([1, 4]):  # sorted, so that queries for objects come first
        own, all_of_them = part.answers.of_rows(row, row + 1), whole.answers.of_rows(place, place + 1)
        assert own.entities.tolist() == all_of_them.entities.tolist()
        assert own.shares.sum().item() == pytest.approx(1)
        assert (part.known[row], part.relations[row]) == (whole.known[place], whole.relations[place])
