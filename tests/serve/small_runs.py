"""Finished run directories with random vectors, written without training."""

import numpy as np
import torch

from clausal import Settings
from clausal.evaluation.calibration import Calibration, Fit
from clausal.graph import Graph
from clausal.logic import parse_clauses
from clausal.model import SCORERS, LinkPredictor, Table
from clausal.run.directory import RunDirectory

COUNTRIES = """
Spain located_in Southern_Europe
Portugal located_in Southern_Europe
Southern_Europe located_in Europe
France located_in Western_Europe
Western_Europe located_in Europe
Madrid capital_of Spain
Paris capital_of France
Lisbon capital_of Portugal
Spain neighbor France
Portugal neighbor Spain
"""
CLAUSES = """
located_in(X, Y) & located_in(Y, Z) => located_in(X, Z)
0.8: neighbor(X, Y) => neighbor(Y, X)
capital_of(X, Y) => located_in(X, Y)
"""


def countries():
    """A graph whose names have blanks, slashes and other letters."""
    rows = [
        tuple(
            part.replace("_", " ") if part != "located_in" and part != "capital_of" else part for part in line.split()
        )
        for line in COUNTRIES.split("\n")
        if line
    ]
    return Graph.from_triples(
        train=[*rows, ("/m/0ab/ñandú", "located_in", "Europe")],
        valid=[("France", "neighbor", "Spain")],
        test=[("Madrid", "located_in", "Spain")],
        name="countries",
    )


def write_run(path, graph=None, clauses=CLAUSES, *, dim=8, seed=0, calibrated=True, finished=True):
    """Write a run directory; an unfinished one has no model yet."""
    graph = graph or countries()
    sizes = {"num_entities": len(graph.entities), "num_relations": len(graph.relations)}
    predictor = LinkPredictor(Table(len(graph.entities), dim), SCORERS["complex"](dim), **sizes)
    generator = torch.Generator().manual_seed(seed)
    for parameter in predictor.parameters():
        parameter.data.normal_(generator=generator)
    settings = Settings.from_mapping({"model": {"scorer": "complex", "dim": dim, "domain": "cube"}})
    directory = RunDirectory.create(path, graph, parse_clauses(clauses) if clauses else [], settings)
    directory.append_log({"epoch": 1, "seconds": 0.5, "fact_loss": 1.0})
    if finished:
        finish(directory, predictor, calibrated=calibrated)
    return directory, predictor


def finish(directory, predictor, *, calibrated=True):
    directory.finish(
        predictor.state_dict(), {"epochs": 1}, Calibration(Fit(0.5, 0.1, 0.0, 20), {}) if calibrated else None
    )


def large_graph(entities=2_000, relations=7, facts=6_000):
    rng = np.random.default_rng(3)
    columns = [rng.integers(size, size=facts) for size in (entities, relations, entities)]
    names = [f"entity {number}" for number in range(entities)]
    return Graph.from_triples(
        train=[(names[s], f"r{r}", names[o]) for s, r, o in zip(*(column.tolist() for column in columns), strict=True)]
        + [(name, "r0", name) for name in names],
        name="large",
    )
