"""Training: fact losses, corruption and the loop of Algorithm 1."""

from clausal.observer import PassReport
from clausal.training.algorithm import AdversarialSetTraining
from clausal.training.prepare import make_validation, prepare

__all__ = [
    "AdversarialSetTraining",
    "PassReport",
    "make_validation",
    "prepare",
]
