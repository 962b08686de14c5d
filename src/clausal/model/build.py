"""A link predictor from its settings."""

from __future__ import annotations

from torch import Tensor, nn

from clausal.config import ModelSettings
from clausal.errors import InputError
from clausal.model.domains import DOMAINS, Box, Domain
from clausal.model.encoders import FrozenTable, Table
from clausal.model.model_f import PairPredictor
from clausal.model.predictor import LinkPredictor
from clausal.model.reciprocal import ReciprocalPredictor
from clausal.model.scorers import ERMLP, SCORERS, ModelF, Scorer, TransE


def build_predictor(
    settings: ModelSettings,
    num_entities: int,
    num_relations: int,
    *,
    pairs: Tensor | None = None,
    vectors: Tensor | None = None,
    scorer: Scorer | None = None,
    encoder: nn.Module | None = None,
) -> LinkPredictor:
    """Build the predictor that the settings describe, not yet initialised from a seed.

    ``pairs`` [pairs, 2] are the entity pairs that Model F has vectors for; ``vectors`` [entities, dim] are
    pre-trained; ``scorer`` and ``encoder`` replace those that the settings name.
    """
    sizes = {"num_entities": num_entities, "num_relations": num_relations}
    scorer = scorer or build_scorer(settings)
    domain = build_domain(settings)
    if isinstance(scorer, ModelF):
        if encoder is not None:
            raise InputError(f"{scorer.name} has a vector for each entity pair and takes no encoder of entities")
        if pairs is None:
            raise InputError(f"{scorer.name} needs the entity pairs it has vectors for")
        return PairPredictor(pairs, scorer, domain=domain, **sizes)
    kind = ReciprocalPredictor if settings.reciprocal else LinkPredictor
    if encoder is not None:
        return kind(encoder, scorer, domain=domain, **sizes)
    if settings.encoder == "frozen":
        if vectors is None:
            raise InputError('model.encoder = "frozen" needs model.pretrained')
        return kind(FrozenTable(vectors), scorer, domain=domain, **sizes)
    return kind(Table(num_entities, scorer.dim), scorer, domain=domain, **sizes)


def build_scorer(settings: ModelSettings) -> Scorer:
    """Build the scorer that the settings name."""
    kind = SCORERS[settings.scorer]
    if kind is TransE:
        return TransE(settings.dim, settings.norm)
    if kind is ERMLP:
        return ERMLP(settings.dim, settings.hidden)
    return kind(settings.dim)


def build_domain(settings: ModelSettings) -> Domain:
    """Build the domain that the settings name."""
    return Box(*settings.box) if settings.domain == "box" else DOMAINS[settings.domain]()
