"""Searches on the small graph of a company, each trial of which takes a fraction of a second."""

from dataclasses import replace

import numpy as np

from clausal import Graph, Settings
from clausal.search import Choice, Range, search
from small_graphs import small_facts

SPACE = (Range("train.learning_rate", 0.001, 1.0), Choice("model.dim", (2, 4, 8, 16)))
QUICK = {"model.dim": 8, "train.epochs": 4, "train.passes": 1, "facts.batches": 1, "evaluate.every": 2}


def company():
    """The graph, with some facts held out for valid and some for test."""
    facts = small_facts()
    return Graph.from_triples(facts[::2] + facts[1::4], facts[3::8], facts[7::8], name="company")


def settings(**changes):
    changed = {name.replace("__", "."): value for name, value in changes.items()}
    return Settings.load(assignments=[f"{name}={value}" for name, value in (QUICK | changed).items()])


def run_search(out, graph=None, space=SPACE, start=None, **options):
    return search(graph or company(), (), start or settings(), out=out, space=space, **options)


def outcomes(result):
    """What must not depend on when or how often a search was interrupted."""
    return [(dict(trial.changes), trial.value, trial.state, trial.epoch) for trial in result.trials]


def without_test(graph):
    return replace(graph, test=np.empty((0, 3), dtype=graph.test.dtype), parts={})
