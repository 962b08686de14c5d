"""A run directory of FB122's size with random vectors: what an answer costs does not depend on how good it is."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch

from clausal import Settings
from clausal.evaluation.calibration import Calibration, Fit
from clausal.graph import Graph, Names
from clausal.logic import parse_clauses
from clausal.model import SCORERS, LinkPredictor, Table
from clausal.run.directory import RunDirectory

CLAUSES = "".join(f"r{2 * number}(X, Y) => r{2 * number + 1}(Y, X)\n" for number in range(10))


def write_run(path: Path, entities: int = 9_738, relations: int = 122, facts: int = 91_638, dim: int = 200) -> None:
    """Write a finished run: random facts, ComplEx, ten clauses and a calibration."""
    rng = np.random.default_rng(0)
    columns = [rng.integers(size, size=facts) for size in (entities, relations, entities)]
    graph = Graph(
        Names([f"entity {number}" for number in range(entities)], "entity"),
        Names([f"r{number}" for number in range(relations)], "relation"),
        np.unique(np.stack(columns, 1).astype(np.int32), axis=0),
    )
    predictor = LinkPredictor(
        Table(entities, dim), SCORERS["complex"](dim), num_entities=entities, num_relations=relations
    )
    torch.nn.init.normal_(predictor.encoder.weight)
    torch.nn.init.normal_(predictor.relations)
    settings = Settings.from_mapping({"model": {"scorer": "complex", "dim": dim, "domain": "none"}})
    directory = RunDirectory.create(path, graph, parse_clauses(CLAUSES), settings)
    directory.finish(predictor.state_dict(), {}, Calibration(Fit(0.1, 0.0, 0.0, 20), {}))
