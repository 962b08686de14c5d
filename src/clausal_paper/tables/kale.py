"""The rows of Guo et al. in the paper's tables, TransE, KALE-Pre and KALE-Joint, trained like any other row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from clausal.config import read_value
from clausal.errors import InputError
from clausal.graph.graph import Facts, Graph
from clausal.logic import Clause
from clausal.training import PassReport
from clausal_paper.kale import KaleReport, KaleSettings, train_kale
from clausal_paper.kale.chosen import CHOSEN
from clausal_paper.tables.row import TableRow
from clausal_paper.tables.trained import OnEpoch, OnPass, Trained

SECTION = "kale"
EPOCH = 50
"""Passes between validations, which the progress counts as an epoch."""


def kale_settings(row: TableRow, seed: int, changes: Sequence[str]) -> KaleSettings:
    """Return the settings chosen for a row, with those changes that begin with ``kale.``."""
    settings = CHOSEN[row.table, row.model]
    values = {}
    for change in changes:
        key, _, text = change.partition("=")
        if key.startswith(f"{SECTION}."):
            values[key.removeprefix(f"{SECTION}.")] = read_value(text)
    try:
        return replace(settings, seed=seed, **values)
    except TypeError:
        raise InputError(f"{row.name}: unknown setting among {', '.join(values)}; KALE has {settings}") from None


def train_kale_row(
    row: TableRow,
    graph: Graph,
    clauses: Sequence[Clause],
    settings: KaleSettings,
    *,
    closure: Facts | None = None,
    on_pass: OnPass | None = None,
    on_epoch: OnEpoch | None = None,
) -> Trained:
    """Train a row; ``closure`` spares KALE-Pre computing the closure of train, which needs DuckDB."""
    best: tuple[float, int] | None = None

    def told(report: KaleReport) -> None:
        nonlocal best
        epoch, passes = divmod(report.number - 1, EPOCH)
        made = {"epoch": epoch + 1, "fact_loss": report.loss, "inconsistency": 0.0, "violated": 0}
        if on_pass is not None:
            on_pass(PassReport(passes=passes + 1, **made))  # type: ignore[arg-type]
        if report.valid is None:
            return
        if best is None or report.valid > best[0]:
            best = report.valid, report.number
        if on_epoch is not None:
            on_epoch(made | {"valid": {"mrr": report.valid}})

    used = row.clauses(clauses)
    predictor = train_kale(graph, used, settings, closure=closure, validate_every=EPOCH, on_pass=told)
    mrr, number = best or (None, settings.passes)
    return Trained(predictor, mrr, number, "kale")
