"""Link predictors: encoders, scorers and domains. Nothing here knows of clauses."""

# Scorers first: Model F is one of them, and imports others.
from clausal.model.contracts import ContractError, check_encoder, check_scorer

# isort: split
from clausal.model.build import build_domain, build_predictor, build_scorer, find_device
from clausal.model.domains import DOMAINS, Ball, Box, Cone, Cube, Domain, Sphere, Unbounded
from clausal.model.encoders import FrozenTable, Table
from clausal.model.model_f import PairPredictor
from clausal.model.predictor import LinkPredictor, Negatives
from clausal.model.reciprocal import ReciprocalPredictor
from clausal.model.scorers import (
    CP,
    ERMLP,
    RESCAL,
    SCORERS,
    BlockScorer,
    ComplEx,
    DistMult,
    HolE,
    ModelF,
    MultilinearScorer,
    RotatE,
    Scorer,
    SimplE,
    TransE,
)
from clausal.model.tensors import generator_at, xavier_

__all__ = [
    "CP",
    "DOMAINS",
    "ERMLP",
    "RESCAL",
    "SCORERS",
    "Ball",
    "BlockScorer",
    "Box",
    "ComplEx",
    "Cone",
    "ContractError",
    "Cube",
    "DistMult",
    "Domain",
    "FrozenTable",
    "HolE",
    "LinkPredictor",
    "ModelF",
    "MultilinearScorer",
    "Negatives",
    "PairPredictor",
    "ReciprocalPredictor",
    "RotatE",
    "Scorer",
    "SimplE",
    "Sphere",
    "Table",
    "TransE",
    "Unbounded",
    "build_domain",
    "build_predictor",
    "build_scorer",
    "check_encoder",
    "check_scorer",
    "find_device",
    "generator_at",
    "xavier_",
]
