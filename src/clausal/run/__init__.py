"""The run directory: what a training leaves behind, how it is loaded, and what it answers."""

from clausal.run.certification import Certification
from clausal.run.explanation import Explanation
from clausal.run.prediction import Answer
from clausal.run.run import Run, load
from clausal.run.training import resume, train
from clausal.run.verdicts import ClauseCertificate

__all__ = ["Answer", "Certification", "ClauseCertificate", "Explanation", "Run", "load", "resume", "train"]
