"""The run directory: what a training leaves behind, how it is loaded, and what it answers."""

from clausal.run.explanation import Explanation
from clausal.run.prediction import Answer
from clausal.run.run import Run, load
from clausal.run.training import resume, train

__all__ = ["Answer", "Explanation", "Run", "load", "resume", "train"]
