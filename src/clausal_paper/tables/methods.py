"""How the rows of a table are trained: by Algorithm 1 from a preset, or as the KALE baseline."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

from clausal.config import Settings
from clausal.graph.graph import Facts, Graph
from clausal.logic import Clause
from clausal.observer import Calling
from clausal.training import prepare
from clausal.training.prepare import make_validation
from clausal_paper.kale import KaleSettings
from clausal_paper.tables.kale import EPOCH, SECTION, kale_settings, train_kale_row
from clausal_paper.tables.row import TableRow
from clausal_paper.tables.trained import OnEpoch, OnPass, Tell, Trained

LOG = logging.getLogger("clausal")


def settings_of(row: TableRow, seed: int = 0, changes: Sequence[str] = ()) -> Settings | KaleSettings:
    """Return the settings of a row, with ``section.key=value`` changes and the seed.

    KALE's rows take the changes in the section ``kale``, and all others the rest.
    """
    if row.is_kale:
        return kale_settings(row, seed, changes)
    others = [change for change in changes if not change.startswith(f"{SECTION}.")]
    return Settings.load(None, [*row.changes, *others, f"train.seed={seed}"], preset=row.preset)


def describe(settings: Settings | KaleSettings) -> dict[str, Any]:
    """Return settings by section, as a record has them."""
    if isinstance(settings, KaleSettings):
        return {SECTION: asdict(settings)}
    return settings.model_dump(mode="json", exclude_none=True)


def length_of(settings: Settings | KaleSettings) -> tuple[int, int]:
    """Return how many epochs a training has, and how many passes each."""
    if isinstance(settings, KaleSettings):
        return -(-settings.passes // EPOCH), EPOCH
    return settings.train.epochs, settings.train.passes


def train_row(
    row: TableRow,
    graph: Graph,
    clauses: Sequence[Clause],
    settings: Settings | KaleSettings,
    *,
    closure: Facts | None = None,
    on_pass: OnPass | None = None,
    on_epoch: OnEpoch | None = None,
    tell: Tell = LOG.info,
) -> Trained:
    """Train a row on its graph, with those of the data set's clauses that it uses.

    Where the row is trained on the closure of train, ``closure`` is that. The filter of valid does not know it.
    """
    if isinstance(settings, KaleSettings):
        return train_kale_row(row, graph, clauses, settings, closure=closure, on_pass=on_pass, on_epoch=on_epoch)
    learned = graph if closure is None or not row.on_closure else replace(graph, train=closure)
    training = prepare(learned, row.clauses(clauses), settings, observer=Calling(message=tell))
    training.validate = make_validation(graph, settings)
    predictor = training.run(Calling(passed=on_pass, epoch=on_epoch)).eval()
    at = training.position
    return Trained(predictor, at.best if at.best_epoch else None, at.best_epoch or at.epoch, training.step.name)
