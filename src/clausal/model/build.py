"""A link predictor from its settings, initialised from the seed, and the device it is put on."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from clausal.config import ModelSettings, Settings
from clausal.errors import InputError
from clausal.graph.graph import Graph
from clausal.model.described import DescribedEncoder
from clausal.model.domains import DOMAINS, Box, Cone, Domain
from clausal.model.encoders import FrozenTable, Table
from clausal.model.features import Features
from clausal.model.model_f import PairPredictor
from clausal.model.predictor import LinkPredictor
from clausal.model.pretrained import read_vectors
from clausal.model.reciprocal import ReciprocalPredictor
from clausal.model.row_table import RowTable, row_table
from clausal.model.scorers import ERMLP, SCORERS, ModelF, Scorer, TransE
from clausal.model.tensors import generator_at, seed_at
from clausal.peers import ALONE, Dealing, Peers

_INITIALISATION, _DEALING = 0, 4  # streams of random numbers; the others are in training/algorithm.py


def make_predictor(
    graph: Graph,
    settings: Settings,
    *,
    scorer: Scorer | None = None,
    encoder: nn.Module | None = None,
    features: Sequence[Features] = (),
    peers: Peers = ALONE,
    by_rows: bool = False,
    device: torch.device | None = None,
) -> LinkPredictor:
    """Build the predictor for a graph and initialise it from the seed; a user's modules are copied, not changed.

    ``features`` are those of described entities. Over several ``peers``, the rows of the entity table are dealt. A
    table that is worked on ``by_rows``, as it then is, is made on the ``device``.
    """
    model, scorer, encoder = settings.model, deepcopy(scorer), deepcopy(encoder)
    dim = scorer.dim if scorer is not None else model.dim
    if peers.size > 1 or by_rows or settings.train.by_rows:
        check_by_rows(settings, own_encoder=encoder is not None)
        encoder = make_row_table(len(graph.entities), dim, len(graph.train), settings, peers, device)
    if features:
        encoder = described_encoder(features, settings, dim)
    vectors = read_vectors(model.pretrained, graph.entities, dim, model.pretrained_names) if model.pretrained else None
    of_pairs = isinstance(scorer, ModelF) or (scorer is None and SCORERS[model.scorer] is ModelF)
    pairs = torch.from_numpy(graph.train[:, [0, 2]]) if of_pairs else None
    sizes = len(graph.entities), len(graph.relations)
    predictor = build_predictor(model, *sizes, pairs=pairs, vectors=vectors, scorer=scorer, encoder=encoder)
    predictor.reset_parameters(generator_at(settings.train.seed, _INITIALISATION))
    if model.initial_scale != 1:
        predictor.scale_(model.initial_scale)
    if features:
        predictor.trained = torch.from_numpy(trained_entities(graph))
    table = row_table(predictor)
    if vectors is not None and type(predictor.encoder) is Table:
        predictor.encoder.weight.data.copy_(vectors)
        predictor.project_()
    if vectors is not None and table is not None:
        table.weight.data.copy_(vectors[table.dealing.own_ids().cpu()])
        predictor.project_()
    if table is not None and peers.size > 1:
        predictor.trained = table.dealing.own_ids()  # corruptions are of own rows, which need not travel
    return predictor


def check_by_rows(settings: Settings, *, own_encoder: bool = False) -> None:
    """Refuse what a table that is worked on by rows cannot do."""
    reason = ""
    if own_encoder:
        reason = "an own encoder has no rows"
    elif settings.descriptions.given:
        reason = "described entities have no rows of their own alone; leave out the descriptions"
    elif SCORERS[settings.model.scorer] is ModelF:
        reason = "model-f has vectors of entity pairs; choose another model.scorer"
    elif settings.model.encoder == "frozen":
        reason = 'frozen vectors are not trained; set model.encoder to "table"'
    elif settings.train.optimizer != "adagrad":
        reason = f'rows take AdaGrad\'s step, not that of {settings.train.optimizer}; set train.optimizer to "adagrad"'
    elif settings.facts.l2_entities:
        reason = "facts.l2_entities moves all rows in every step; set it to 0, or use facts.regulariser"
    if reason:
        raise InputError(f"training by rows (several processes, train.table_precision, train.adagrad_sums): {reason}")


def make_row_table(
    rows: int, dim: int, facts: int, settings: Settings, peers: Peers, device: torch.device | None = None
) -> RowTable:
    """Make this process's share of the table of entity vectors, not yet initialised from a seed."""
    train = settings.train
    dealing = Dealing.of(rows, peers.rank, peers.size, dealing_seed(settings), device)
    dtype = torch.bfloat16 if train.table_precision == "bfloat16" else torch.float32
    spare = 0
    if peers.size > 1 and settings.facts.training == "corruption":
        batch = settings.facts.batch_size or -(-facts // settings.facts.batches)
        spare = 2 * -(-batch // peers.size)  # the subjects and objects of this process's part of a batch
    table = RowTable(dim, dealing, peers, dtype=dtype, by_row=train.adagrad_sums == "row", spare=spare, device=device)
    table.sums.fill_(train.initial_accumulator)
    return table


def dealing_seed(settings: Settings) -> int:
    """Return the seed from which rows are dealt over processes, however many there are."""
    return seed_at(settings.train.seed, _DEALING)


def described_encoder(features: Sequence[Features], settings: Settings, dim: int) -> DescribedEncoder:
    """Make the encoder of described entities, not yet initialised from a seed."""
    about = settings.descriptions
    return DescribedEncoder(
        features,
        dim,
        build_domain(settings.model),
        own_dropout=about.own_dropout,
        feature_dropout=about.feature_dropout,
        hidden=about.hidden,
    )


def trained_entities(graph: Graph) -> NDArray[np.int64]:
    """Return the ids of the entities that train has."""
    return np.unique(graph.train[:, [0, 2]]).astype(np.int64)


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
    domain = build_domain(settings, scorer)
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


def build_domain(settings: ModelSettings, scorer: Scorer | None = None) -> Domain:
    """Build the domain that the settings name, for the scorer that they name or another one."""
    if settings.domain == "box":
        return Box(*settings.box)
    if settings.domain == "cone":
        terms = (scorer or SCORERS[settings.scorer]).terms
        return Cone(settings.free, terms.parts if terms else 1)
    return DOMAINS[settings.domain]()


def find_device(name: str, option: str = "train.device") -> torch.device:
    """Resolve ``auto`` and check that the device is there."""
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError) as error:
        reason = str(error).splitlines()[0].removeprefix("CUDA error: ")
        here = ", ".join(["cpu", *(f"cuda:{number}" for number in range(torch.cuda.device_count()))])
        raise InputError(f"{option}: '{name}' cannot be used here: {reason}; this machine has {here}") from None
    return device
