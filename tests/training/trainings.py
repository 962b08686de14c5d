"""Small trainings: settings from nested keywords, a run on one thread's worth of data, and what it showed."""

from __future__ import annotations

import torch

from clausal.config import Settings
from clausal.observer import Calling
from clausal.training import prepare


def settings_with(**sections) -> Settings:
    """Settings of a training of about a tenth of a second, changed by section."""
    small = {
        "model": {"scorer": "complex", "dim": 20, "domain": "cube"},
        "facts": {"batches": 3},
        "clauses": {"sets": 10},
        "train": {"epochs": 10, "passes": 4, "device": "cpu"},
    }
    return Settings.from_mapping(
        {section: small.get(section, {}) | sections.get(section, {}) for section in Settings.model_fields}
    )


def run(graph, clauses, settings, **modules):
    """Train, and return the predictor and the reports of all passes."""
    reports = []
    predictor = prepare(graph, clauses, settings, **modules).run(Calling(passed=reports.append))
    return predictor, reports


def parameters(predictor) -> dict[str, torch.Tensor]:
    return {name: value.clone() for name, value in predictor.state_dict().items()}


def identical(one, other) -> bool:
    """Say whether two sets of parameters are equal bit by bit."""
    assert one.keys() == other.keys()
    return all(torch.equal(one[name], other[name]) for name in one)
