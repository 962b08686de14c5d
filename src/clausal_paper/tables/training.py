"""How the rows of a table are trained: by Algorithm 1 from a preset, or as the KALE baseline."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any, NamedTuple

from torch import Tensor

from clausal.config import Settings, read_value
from clausal.errors import InputError
from clausal.graph import Facts, Graph
from clausal.logic import Clause
from clausal.model import LinkPredictor
from clausal.observer import Observer, PassReport
from clausal.training import make_validation, prepare
from clausal_paper.kale import CHOSEN, KaleReport, KaleSettings, run_kale
from clausal_paper.tables.rows import TableRow

_KALE = "kale"  # the section of KALE's settings
_KALE_EPOCH = 100  # passes of KALE between validations, which the progress counts as an epoch


class LastEpoch(NamedTuple):
    """The parameters of a training's last epoch, or for KALE of its last pass, and its number."""

    parameters: dict[str, Tensor]
    epoch: int


class Trained(NamedTuple):
    """A trained row: the model that was best on valid, its MRR there, and the epoch, or for KALE the pass, it is of.

    The MRR is None where nothing was validated. ``last`` are the parameters of the last epoch, which the paper reports,
    and its number; None where training stopped at the best.
    """

    predictor: LinkPredictor
    valid_mrr: float | None
    best_epoch: int
    step: str
    last: LastEpoch | None = None


def settings_of(row: TableRow, seed: int = 0, changes: Sequence[str] = ()) -> Settings | KaleSettings:
    """Return the settings of a row, with ``section.key=value`` changes and the seed.

    KALE's rows take the changes in the section ``kale``, and all others the rest.
    """
    if row.is_kale:
        return _kale_settings(row, seed, changes)
    others = [change for change in changes if not change.startswith(f"{_KALE}.")]
    return Settings.load(None, [*row.changes, *others, f"train.seed={seed}"], preset=row.preset)


def _kale_settings(row: TableRow, seed: int, changes: Sequence[str]) -> KaleSettings:
    settings = CHOSEN[row.table, row.model]
    values = {}
    for change in changes:
        key, _, text = change.partition("=")
        if key.startswith(f"{_KALE}."):
            values[key.removeprefix(f"{_KALE}.")] = read_value(text)
    try:
        return replace(settings, seed=seed, **values)
    except TypeError:
        raise InputError(f"{row.name}: unknown setting among {', '.join(values)}; KALE has {settings}") from None


def describe(settings: Settings | KaleSettings) -> dict[str, Any]:
    """Return settings by section, as a record has them."""
    if isinstance(settings, KaleSettings):
        return {_KALE: asdict(settings)}
    return settings.model_dump(mode="json", exclude_none=True)


def train_row(
    row: TableRow,
    graph: Graph,
    clauses: Sequence[Clause],
    settings: Settings | KaleSettings,
    *,
    closure: Facts | None = None,
    observer: Observer | None = None,
) -> Trained:
    """Train a row on its graph, with those of the data set's clauses that it uses.

    Where the row is trained on the closure of train, ``closure`` is that; KALE-Pre computes it, by DuckDB, where it is
    not given. The filter of valid does not know it.
    """
    used, observer = row.clauses(clauses), observer or Observer()
    if isinstance(settings, KaleSettings):
        return _train_kale_row(graph, used, settings, closure, observer)
    learned = graph if closure is None or not row.on_closure else replace(graph, train=closure)
    training = prepare(learned, used, settings, observer=observer)
    training.validate = make_validation(graph, settings)
    observer.training_started(settings, len(used))
    predictor, at, last = training.run(observer).eval(), training.position, None
    if settings.evaluate.keep == "last":
        last = _last_epoch(predictor, at.epoch)
        training.adopt_best()
    mrr = at.best if at.best_epoch else None
    return Trained(predictor, mrr, at.best_epoch or at.epoch, training.step.name, last)


def _last_epoch(predictor: LinkPredictor, epoch: int) -> LastEpoch:
    return LastEpoch({name: tensor.clone() for name, tensor in predictor.state_dict().items()}, epoch)


def _train_kale_row(
    graph: Graph,
    clauses: Sequence[Clause],
    settings: KaleSettings,
    closure: Facts | None,
    observer: Observer,
) -> Trained:
    """Train TransE, KALE-Pre or KALE-Joint, and tell of it as of any other row."""
    best: tuple[float, int] | None = None

    def told(report: KaleReport) -> None:
        nonlocal best
        epoch, passes = divmod(report.number - 1, _KALE_EPOCH)
        made = {"epoch": epoch + 1, "fact_loss": report.loss, "inconsistency": 0.0, "violated": 0}
        observer.passed(PassReport(passes=passes + 1, **made))  # type: ignore[arg-type]
        if report.valid is None:
            return
        if best is None or report.valid > best[0]:
            best = report.valid, report.number
        observer.epoch(made | {"valid": {"mrr": report.valid}})

    length = {"epochs": -(-settings.passes // _KALE_EPOCH), "passes": _KALE_EPOCH}
    observer.training_started(Settings.from_mapping({"train": length}), len(clauses))
    training = run_kale(graph, clauses, settings, closure=closure, validate_every=_KALE_EPOCH, on_pass=told)
    last = _last_epoch(training.predictor, settings.passes)
    mrr, number = best or (None, settings.passes)
    return Trained(training.finish(), mrr, number, "kale", last)
