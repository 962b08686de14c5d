"""A training takes kernels where there are some, and torch everywhere else, and says so in one line."""

import pytest
from trainings import settings_with

from clausal.fast import catalogue, kernels
from clausal.fast.clauses import KernelLoss
from clausal.fast.features import FeatureLoss
from clausal.fast.step import FusedStep
from clausal.graph import Graph
from clausal.logic import parse_clauses
from clausal.observer import Calling
from clausal.training import prepare
from clausal.training.objective import ClauseLoss
from clausal.training.step import Step

GRAPH = Graph.from_triples([("a", "p", "b"), ("b", "q", "c")])
CLAUSES = parse_clauses("p(X, Y) => q(Y, X)")


def forms(step="auto", scorer="complex", kind="gradient"):
    """The step and the clause loss of a training, and what it says of them."""
    settings = settings_with(model={"scorer": scorer, "dim": 4}, train={"step": step}, clauses={"adversary": kind})
    told = []
    training = prepare(GRAPH, CLAUSES, settings, observer=Calling(message=told.append))
    return type(training.step), type(training.objective.clause_loss), told[-1]


@pytest.mark.parametrize(
    ("asked", "step", "loss", "said"),
    [
        ({}, FusedStep, KernelLoss, "clause loss by CPU kernels, step by kernels, ascent by CPU kernels"),
        ({"step": "fused"}, FusedStep, KernelLoss, "fast forms: "),
        ({"kind": "closed-form"}, FusedStep, KernelLoss, "fast forms: clause loss by CPU kernels, step by kernels"),
        ({"step": "eager"}, Step, ClauseLoss, 'plain PyTorch trains, as train.step is "eager"'),
        ({"step": "eager", "kind": "closed-form"}, Step, ClauseLoss, "plain PyTorch"),
        ({"scorer": "rescal"}, Step, FeatureLoss, "fast forms: clause loss by features"),
    ],
    ids=str,
)
def test_the_setting_the_model_and_the_machine_decide(asked, step, loss, said):
    found = forms(**asked)
    assert found[:2] == (step, loss)
    assert said in found[2]


def test_without_numba_torch_does_it(monkeypatch):
    for module in (kernels, catalogue):
        monkeypatch.setattr(module, "find_spec", lambda name: None)
    step, loss, said = forms()
    assert (step, loss) == (Step, FeatureLoss)
    assert "the step is eager, as the fused one needs numba on a CPU" in said
