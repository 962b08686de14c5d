"""The average over passes: its formula, when it is validated and kept, and that training goes on without it."""

import pytest
import torch

from clausal.config import Settings
from clausal.demo import world
from clausal.observer import Calling
from clausal.training.prepare import prepare


def training_with(averaging, every=0, epochs=4, **model):
    settings = Settings.from_mapping(
        {
            "model": {"scorer": "distmult", "dim": 6, "domain": "none", **model},
            "train": {"epochs": epochs, "passes": 1, "averaging": averaging, "device": "cpu"},
            "evaluate": {"every": every},
        }
    )
    return prepare(world()[0], (), settings)


def after_each_pass(training):
    seen = []
    training.run(Calling(passed=lambda report: seen.append(training.predictor.encoder.weight.detach().clone())))
    return seen


def test_it_is_an_exponential_mean_of_the_models_after_each_pass():
    training = training_with(0.6)
    seen = after_each_pass(training)
    expected = seen[0]
    for vectors in seen[1:]:
        expected = 0.6 * expected + 0.4 * vectors
    torch.testing.assert_close(training.predictor.encoder.weight.detach(), expected)


def test_training_goes_on_from_the_last_pass_whatever_is_validated():
    plain, averaged = after_each_pass(training_with(0.0)), after_each_pass(training_with(0.6, every=1))
    for ours, theirs in zip(averaged, plain, strict=True):
        torch.testing.assert_close(ours, theirs)


def test_the_model_that_is_validated_and_kept_is_the_average():
    training = training_with(0.6, every=2, epochs=2)
    seen = after_each_pass(training)
    kept = training.best["encoder.weight"]
    torch.testing.assert_close(kept, 0.6 * seen[0] + 0.4 * seen[1])
    torch.testing.assert_close(training.predictor.encoder.weight.detach(), kept)


def test_the_average_lies_on_the_domain():
    training = training_with(0.6, domain="sphere")
    training.run()
    torch.testing.assert_close(training.predictor.encoder.weight.norm(dim=1), torch.ones(len(world()[0].entities)))


@pytest.mark.parametrize("epochs", [1, 3])
def test_a_resumed_training_has_the_same_average(epochs):
    whole = training_with(0.6)
    whole.run()
    first = training_with(0.6, epochs=epochs)
    states = []
    first.run(checkpoint=lambda training: states.append(training.state()))
    second = training_with(0.6)
    second.restore(*states[-1])
    second.run()
    torch.testing.assert_close(second.predictor.encoder.weight, whole.predictor.encoder.weight)
