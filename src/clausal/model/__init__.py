"""Link predictors: encoders, scorers and domains. Nothing here knows of clauses."""

from clausal.model.contracts import ContractError, check_encoder, check_scorer
from clausal.model.domains import DOMAINS, Ball, Box, Cube, Domain, Sphere, Unbounded
from clausal.model.encoders import FrozenTable, Table
from clausal.model.model_f import PairPredictor
from clausal.model.predictor import LinkPredictor, Negatives
from clausal.model.reciprocal import ReciprocalPredictor
from clausal.model.scorers import SCORERS, BlockScorer, MultilinearScorer, Scorer

__all__ = [
    "DOMAINS",
    "SCORERS",
    "Ball",
    "BlockScorer",
    "Box",
    "ContractError",
    "Cube",
    "Domain",
    "FrozenTable",
    "LinkPredictor",
    "MultilinearScorer",
    "Negatives",
    "PairPredictor",
    "ReciprocalPredictor",
    "Scorer",
    "Sphere",
    "Table",
    "Unbounded",
    "check_encoder",
    "check_scorer",
]
