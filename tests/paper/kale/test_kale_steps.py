"""A mini-batch of KALE follows autograd and a plain AdaGrad, and its truth values follow the formulas."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import pytest
import torch

from clausal.fast import Recording
from clausal.graph import Graph, Names
from clausal.logic import parse_clauses
from clausal_paper.kale import KaleSettings, ground_rules
from clausal_paper.kale.passes import KalePass, rule_truth, triple_truth
from clausal_paper.kale.training import make_predictor

CLAUSES = parse_clauses("""
a(X, Y) => b(X, Y)
a(X, Y), b(Y, Z) => c(X, Z)
""")
SETTINGS = KaleSettings(dim=6, margin=0.2, rule_weight=0.3, batches=4, device="cpu")


def graph():
    generator = np.random.default_rng(0)
    facts = generator.integers((12, 4, 12), size=(80, 3)).astype(np.int32)
    names = Names([f"e{number}" for number in range(12)], "entity")
    return Graph(names, Names(list("abcd"), "relation"), np.unique(facts, axis=0))


def kale_pass(settings=SETTINGS):
    predictor = make_predictor(graph(), settings)
    return predictor, KalePass(predictor, graph().train, ground_rules(graph(), CLAUSES), settings)


def truths_by_formula(entities, relations, triples):
    dim = entities.shape[1]
    return [
        1
        - sum(abs(float(entities[s, i] + relations[r, i] - entities[o, i])) for i in range(dim)) / (3 * math.sqrt(dim))
        for s, r, o in triples.tolist()
    ]


def test_truth_values_follow_the_formulas_and_are_between_0_and_1():
    predictor, some = kale_pass()
    triples = some.triples(torch.arange(20), [torch.arange(5), torch.arange(7)], torch.Generator().manual_seed(1))
    entities, relations = predictor.encoder.weight, predictor.relations
    truth = triple_truth(predictor.encode(triples[:, 0]) + predictor.relation(triples[:, 1]) - entities[triples[:, 2]])
    expected = truths_by_formula(entities, relations, triples)
    torch.testing.assert_close(truth, torch.tensor(expected), atol=1e-6, rtol=0)
    assert ((truth >= 0) & (truth <= 1)).all()


def test_a_ground_rule_is_false_only_as_far_as_its_body_is_true_and_its_head_is_not():
    body, head = torch.tensor([[1.0, 1.0], [1.0, 0.0], [0.5, 0.4], [0.5, 0.4]]), torch.tensor([0.0, 0.0, 1.0, 0.5])
    torch.testing.assert_close(rule_truth(body, head), torch.tensor([0.0, 1.0, 1.0, 1 - 0.5 * 0.4 * 0.5]))


def loss_by_formula(truth, facts, sizes, settings):
    """The loss one item at a time, from truth values in the order in which they come."""
    values = iter(truth)
    positive = [next(values) for _ in range(facts)]
    negative = [[next(values) for _ in range(facts)] for _ in range(2)]
    loss = sum((settings.margin - p + n).clamp_min(0) for side in negative for p, n in zip(positive, side, strict=True))
    for count, atoms in sizes:
        grounded = [[next(values) for _ in range(atoms)] for _ in range(count)]
        for *body, head in grounded:
            other_head, conjunction = next(values), math.prod(body)
            holds, other_holds = conjunction * (head - 1) + 1, conjunction * (other_head - 1) + 1
            loss = loss + settings.rule_weight * (settings.margin - holds + other_holds).clamp_min(0)
    return loss


def test_steps_follow_autograd_and_adagrad_on_rows_cut_to_norm_1():
    predictor, some = kale_pass()
    weights = [predictor.encoder.weight.double().clone(), predictor.relations.double().clone()]
    squares = [torch.zeros_like(weight) for weight in weights]
    norms = []
    for number in range(5):
        facts = torch.arange(number * 12, number * 12 + 12)
        rules = [torch.arange(number, number + 6), torch.arange(number, number + 9)]
        triples = some.triples(facts, rules, torch.Generator().manual_seed(number))
        weights = [weight.requires_grad_() for weight in weights]
        difference = weights[0][triples[:, 0]] + weights[1][triples[:, 1]] - weights[0][triples[:, 2]]
        truth = 1 - difference.abs().sum(1) / (3 * math.sqrt(6))
        loss = loss_by_formula(truth, 12, [(6, 2), (9, 3)], SETTINGS)
        loss.backward()
        for index, weight in enumerate(weights):
            norm = weight.grad.norm(dim=1, keepdim=True)
            norms.append(norm)
            gradient = torch.where(norm > 1, weight.grad / norm, weight.grad)
            squares[index] += gradient**2
            moved = weight.detach() - 0.1 * gradient / (squares[index].sqrt() + 1e-8)
            weights[index] = moved / moved.norm(dim=1, keepdim=True)
        stepped = some.step(facts, rules, torch.Generator().manual_seed(number))
        torch.testing.assert_close(stepped.double(), loss.detach(), atol=1e-5, rtol=0)
    torch.testing.assert_close(predictor.encoder.weight.double(), weights[0], atol=1e-5, rtol=0)
    torch.testing.assert_close(predictor.relations.double(), weights[1], atol=1e-5, rtol=0)
    assert (torch.cat(norms) > 1).any()  # so that cutting them was tried
    assert (torch.cat(norms) < 1).any()


def test_negatives_keep_what_they_should_and_other_relations_are_drawn_alike():
    _, some = kale_pass()
    facts, rules = torch.arange(10), [torch.zeros(3000, dtype=torch.int64), torch.arange(3)]
    triples = some.triples(facts, rules, torch.Generator().manual_seed(0))
    positive, other_subject, other_object = triples[:30].view(3, 10, 3)
    assert torch.equal(other_subject[:, 1:], positive[:, 1:])
    assert torch.equal(other_object[:, :2], positive[:, :2])
    body, head = triples[30:6030].view(3000, 2, 3).unbind(1)
    other_head = triples[6030:9030]
    assert graph().relations[int(body[0, 1])] == "a"
    assert torch.equal(other_head[:, [0, 2]], head[:, [0, 2]])
    drawn = torch.bincount(other_head[:, 1], minlength=4)
    assert drawn[:2].tolist() == [0, 0]  # a and b are in the rule
    assert drawn[2:].tolist() == pytest.approx([1500, 1500], abs=150)


def test_a_pass_takes_every_fact_and_every_ground_rule_once():
    _, some = kale_pass()
    seen = []
    some.step = lambda facts, rules, generator: seen.append((facts, *rules)) or torch.zeros(())
    some(torch.Generator().manual_seed(0))
    assert len(seen) == SETTINGS.batches
    sizes = [len(some.facts), *(len(rules.atoms) for rules in some.rules)]
    for parts, size in zip(zip(*seen, strict=True), sizes, strict=True):
        places = torch.cat(parts)
        assert not torch.equal(places, torch.arange(size))
        assert torch.equal(places.sort().values, torch.arange(size))
        assert max(map(len, parts)) - min(map(len, parts)) <= 1


@pytest.mark.gpu
def test_a_recorded_pass_is_the_plain_one():
    weights = []
    for record in (False, True):
        predictor, some = kale_pass(KaleSettings(dim=6, margin=0.2, rule_weight=0.3, batches=4, device="cuda"))
        generator = torch.Generator("cuda").manual_seed(0)
        work = partial(lambda some, generator: (some(generator),), some, generator)
        make_pass = Recording(work, generator) if record else work
        losses = [make_pass()[0].item() for _ in range(4)]
        weights.append((predictor.encoder.weight, losses))
    torch.testing.assert_close(weights[0][0], weights[1][0], atol=1e-3, rtol=0)
    assert weights[0][1] == pytest.approx(weights[1][1], rel=1e-3)
