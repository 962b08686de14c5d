"""Fact losses equal values worked by hand."""

from __future__ import annotations

import math

import pytest
import torch

from clausal.training.losses import LOSSES

POSITIVE = torch.tensor([2.0, 0.25])
NEGATIVE = torch.tensor([[-3.0, 0.5], [1.0, -0.75]])
WEIGHTS = torch.tensor([[2.0, 0.5], [0.0, 1.0]])


def softplus(x):
    return math.log(1 + math.exp(x))


@pytest.mark.parametrize(
    ("name", "margin", "expected", "weighted"),
    [
        # facts [1 − 2]₊ + [1 − 0.25]₊, corruptions [1 − 3]₊ + [1 + 0.5]₊ + [1 + 1]₊ + [1 − 0.75]₊
        ("hinge", 1.0, 0.75 + 1.5 + 2.0 + 0.25, 0.75 + 0.75 + 0.25),
        ("hinge", 2.5, 0.5 + 2.25 + 3.0 + 3.5 + 1.75, 0.5 + 2.25 + 1.5 + 1.75),
        # [1 − 2 − 3]₊ + [1 − 0.25 + 0.5]₊ + [1 − 2 + 1]₊ + [1 − 0.25 − 0.75]₊
        ("pairwise", 1.0, 1.25, 0.625),
        ("pairwise", 3.0, 3.25 + 2.0 + 2.0, 0.5 * 3.25 + 2.0),
        (
            "logistic",
            1.0,
            softplus(-2) + softplus(-0.25) + softplus(-3) + softplus(0.5) + softplus(1) + softplus(-0.75),
            softplus(-2) + softplus(-0.25) + 2 * softplus(-3) + 0.5 * softplus(0.5) + softplus(-0.75),
        ),
    ],
)
def test_losses_by_hand(name, margin, expected, weighted):
    loss = LOSSES[name](margin)
    assert loss(POSITIVE, NEGATIVE).item() == pytest.approx(expected, rel=1e-6)
    assert loss(POSITIVE, NEGATIVE, WEIGHTS).item() == pytest.approx(weighted, rel=1e-6)


def test_every_loss_is_tested():
    assert set(LOSSES) == {"hinge", "pairwise", "logistic"}


@pytest.mark.parametrize("name", LOSSES)
def test_losses_fall_when_facts_rise_and_corruptions_sink(name):
    loss = LOSSES[name](1.0)
    assert loss(POSITIVE + 0.5, NEGATIVE) < loss(POSITIVE, NEGATIVE) < loss(POSITIVE, NEGATIVE + 0.5)
