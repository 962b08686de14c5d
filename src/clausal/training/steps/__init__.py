"""The steps of the discriminator: one mathematics (Algorithm 1, lines 21 to 23), in forms of different speed."""

from clausal.training.steps.choice import choose_step
from clausal.training.steps.eager import EagerStep
from clausal.training.steps.step import Passed, Step

__all__ = ["EagerStep", "Passed", "Step", "choose_step"]
