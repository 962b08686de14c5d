"""A finished run, read from its directory."""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path

import torch
from torch import nn

from clausal.config import Settings
from clausal.errors import InputError, count
from clausal.evaluation.memory import free_memory
from clausal.graph.graph import Graph
from clausal.model.build import build_predictor, build_scorer, described_encoder, find_device
from clausal.model.predictor import LinkPredictor
from clausal.model.row_table import RowTable
from clausal.model.scorers.base import Scorer
from clausal.observer import Observer
from clausal.peers import Blocks, Peers
from clausal.run.checkpoint import read_tensors, require_shape
from clausal.run.directory import MODEL, RunDirectory
from clausal.run.run import Run

_TABLE = "encoder.weight"
_LARGE_SHARE = 0.5
"""Of the memory that is free: a table of entities that takes more stays in its file."""


def load(
    path: str | Path,
    *,
    scorer: Scorer | None = None,
    encoder: nn.Module | None = None,
    device: str = "auto",
    mapped: bool | None = None,
    peers: Peers | None = None,
    observer: Observer | None = None,
) -> Run:
    """Load a finished run; a run trained with a user's own scorer or encoder needs it here again.

    With ``mapped`` the vectors of entities stay in their file and are read from there, piece by piece, whenever they
    are looked at, so that they may be larger than the memory. By default that is so on a CPU where they would take
    more than half of the memory that is free, and the observer is told.

    Where several processes ask together (``peers``), each has a part of the vectors, and all of them ask the same at
    the same time: ``predict``, ``score``, ``evaluate`` and ``classify``, by the rankings ``model`` and ``entailed``.
    """
    directory = RunDirectory.open(path)
    if not directory.finished:
        raise InputError(f"{path}: the training has not finished; go on with: clausal train --out {path} --resume")
    require_custom(directory, scorer, encoder)
    settings, graph = directory.settings, directory.graph
    place = find_device(device, "device")
    if peers is not None and peers.size > 1:
        return _run(directory, _read_part(directory, settings, graph, peers).to(place))
    if mapped is None:
        mapped = place.type == "cpu" and _is_large(directory)
        if mapped and observer is not None:
            observer.message(
                "the vectors of entities stay in their file, as they would take more than half of the free memory; "
                "each batch of questions reads them again"
            )
    elif mapped and place.type != "cpu":
        raise InputError("vectors that stay in their file are read by the CPU; load the run with device='cpu'")
    return _run(directory, _read_predictor(directory, settings, graph, scorer, encoder, mapped).to(place))


def _run(directory: RunDirectory, predictor: LinkPredictor) -> Run:
    return Run(
        predictor.eval(),
        directory.graph,
        directory.clauses,
        directory.settings,
        directory.metrics,
        directory.path,
        directory.calibration,
    )


def _read_part(directory: RunDirectory, settings: Settings, graph: Graph, peers: Peers) -> LinkPredictor:
    """Read the predictor with this process's part of the vectors of entities."""
    if directory.custom or directory.features or settings.model.scorer == "model-f":
        raise InputError(
            f"{directory.path}: several processes can ask a model of clausal's own with a vector for each entity; ask "
            "this one in one process"
        )
    entities = len(graph.entities)
    if entities < peers.size:
        raise InputError(f"{directory.path}: {count(entities, 'entity', 'entities')} for {peers.size} processes")
    dealing = Blocks(entities, peers.rank, peers.size)
    with torch.device("meta"):
        vectors = torch.empty(entities, settings.model.dim)
        predictor = build_predictor(settings.model, entities, len(graph.relations), vectors=vectors)
    path = directory.path / MODEL
    tensors, _ = read_tensors(path, predictor.state_dict(), some_rows={_TABLE: dealing.block})
    predictor.encoder = RowTable.of_vectors(tensors[_TABLE], dealing, peers)
    predictor.load_state_dict(tensors, assign=True)
    return predictor


def _is_large(directory: RunDirectory) -> bool:
    """Say whether the model would take more than half of the free memory."""
    return (directory.path / MODEL).stat().st_size > _LARGE_SHARE * free_memory(torch.device("cpu"))


def require_custom(directory: RunDirectory, scorer: Scorer | None, encoder: nn.Module | None) -> None:
    """Check that the modules of a user that a run was trained with are given again."""
    for name, given in (("scorer", scorer), ("encoder", encoder)):
        if name in directory.custom and given is None:
            raise InputError(
                f"{directory.path}: trained with its own {name}; pass it to clausal.load or clausal.resume as {name}=…"
            )


def _read_predictor(
    directory: RunDirectory,
    settings: Settings,
    graph: Graph,
    scorer: Scorer | None,
    encoder: nn.Module | None,
    mapped: bool,
) -> LinkPredictor:
    path = directory.path / MODEL
    if directory.features:
        encoder = described_encoder(directory.features, settings, settings.model.dim if scorer is None else scorer.dim)
    entities, relations = len(graph.entities), len(graph.relations)
    predictor = None
    try:
        with torch.device("meta"):  # sizes are compared with the file's before any memory is taken
            relation_dim = (scorer or build_scorer(settings.model)).relation_dim
            rows = relations * (2 if settings.model.reciprocal else 1)
            require_shape(path, "relations", (rows, relation_dim))
            if encoder is None and scorer is None and settings.model.scorer != "model-f":
                vectors = torch.empty(entities, settings.model.dim)
                predictor = build_predictor(settings.model, entities, relations, vectors=vectors)
    except RuntimeError as error:
        raise InputError(f"{directory.path}: the settings describe no possible model: {error}") from None
    if predictor is not None:  # outside, as older versions of safetensors would make meta tensors of what they read
        tensors, _ = read_tensors(path, predictor.state_dict(), mapped={_TABLE} if mapped else ())
        predictor.load_state_dict(tensors, assign=True)
        return predictor
    # What the file holds replaces every value, those of pre-trained vectors too, so their file is not needed again.
    dim = scorer.dim if scorer is not None else settings.model.dim
    predictor = build_predictor(
        settings.model,
        entities,
        relations,
        pairs=torch.from_numpy(graph.train[:, [0, 2]]),
        vectors=torch.empty(entities, dim) if settings.model.encoder == "frozen" else None,
        scorer=deepcopy(scorer),
        encoder=encoder if directory.features else deepcopy(encoder),
    )
    predictor.load_state_dict(read_tensors(path, predictor.state_dict())[0])
    return predictor
