"""The scorers by name. A new one is a file here and a line in the table below."""

from clausal.model.model_f import ModelF
from clausal.model.scorers.base import BlockScorer, MultilinearScorer, Scorer
from clausal.model.scorers.complex import ComplEx
from clausal.model.scorers.cp import CP
from clausal.model.scorers.distmult import DistMult
from clausal.model.scorers.ermlp import ERMLP
from clausal.model.scorers.hole import HolE
from clausal.model.scorers.rescal import RESCAL
from clausal.model.scorers.rotate import RotatE
from clausal.model.scorers.simple import SimplE
from clausal.model.scorers.transe import TransE

SCORERS: dict[str, type[Scorer]] = {
    kind.name: kind for kind in (DistMult, ComplEx, TransE, RESCAL, SimplE, CP, RotatE, HolE, ERMLP, ModelF)
}

__all__ = [
    "CP",
    "ERMLP",
    "RESCAL",
    "SCORERS",
    "BlockScorer",
    "ComplEx",
    "DistMult",
    "HolE",
    "ModelF",
    "MultilinearScorer",
    "RotatE",
    "Scorer",
    "SimplE",
    "TransE",
]
