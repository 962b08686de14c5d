"""How the rows of a table are trained: by Algorithm 1 from a preset, or as the KALE baseline."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from clausal.config import Settings
from clausal.experiments.tables.rows import Row
from clausal.graph.graph import Graph
from clausal.logic import Clause
from clausal.model import LinkPredictor
from clausal.training import PassReport, prepare

LOG = logging.getLogger("clausal")

OnPass = Callable[[PassReport], None]
OnEpoch = Callable[[dict[str, Any]], None]
Tell = Callable[[str], None]


class Trained(NamedTuple):
    """A trained row; the MRR on valid that it was kept for is None where nothing was validated."""

    predictor: LinkPredictor
    valid_mrr: float | None
    best_epoch: int
    step: str


def settings_of(row: Row, seed: int = 0, changes: Sequence[str] = ()) -> Settings:
    """Return the settings of a row's preset, with ``section.key=value`` changes and the seed."""
    return Settings.load(None, [*changes, f"train.seed={seed}"], preset=row.preset)


def describe(settings: Settings) -> dict[str, Any]:
    """Return settings as a record has them."""
    return settings.model_dump(mode="json", exclude_none=True)


def length_of(settings: Settings) -> tuple[int, int]:
    """Return how many epochs a training has, and how many passes each."""
    return settings.train.epochs, settings.train.passes


def train_row(
    row: Row,
    graph: Graph,
    clauses: Sequence[Clause],
    settings: Settings,
    *,
    on_pass: OnPass | None = None,
    on_epoch: OnEpoch | None = None,
    tell: Tell = LOG.info,
) -> Trained:
    """Train a row on its graph, with those of the data set's clauses that it uses."""
    training = prepare(graph, row.clauses(clauses), settings, tell=tell)
    predictor = training.run(on_pass, on_epoch).eval()
    at = training.position
    valid_mrr = at.best if at.best_epoch else None
    return Trained(predictor, valid_mrr, at.best_epoch or at.epoch, training.step.name)
