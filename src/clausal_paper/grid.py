"""The paper's grid search: the axes of each row, every point of them trained once, and the preset of the best one."""

from __future__ import annotations

import json
import time
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from importlib.resources import files
from itertools import takewhile
from random import Random
from statistics import fmean
from typing import Any

from clausal.config import Settings
from clausal.errors import InputError, RunError
from clausal.graph import Graph
from clausal.logic import Clause
from clausal.observer import Calling, Observer
from clausal.search import FAILED, FINISHED, PRUNED, Choice, Journal, Trial, grid_points, make_trials
from clausal_paper.provenance import hardware
from clausal_paper.tables.rows import PaperRow
from clausal_paper.tables.training import settings_of, train_row

Axes = Mapping[str, tuple[Any, ...]]
"""The values to try of each setting, such as ``{"model.dim": (100, 200)}``."""

FACT_AXES: Axes = {
    "model.dim": (20, 50, 100, 150, 200),
    "model.domain": ("cube", "sphere"),
    "facts.margin": (1, 2, 5, 10),
    "train.passes": (1, 10),
}
CLAUSE_AXES: Axes = {
    "clauses.weight": (1, 10, 100, 1_000, 10_000),
    "clauses.sets": (1, 10, 100),
    "clauses.steps": (1, 10),
}
"""The sets B are from the authors' scripts; the paper does not give them."""

KALE_AXES: Axes = {"kale.dim": (20, 50, 100), "kale.margin": (0.1, 0.12, 0.15, 0.2)}
RULE_AXES: Axes = {"kale.rule_weight": (0.01, 0.05, 0.1)}
"""Of Guo et al.'s KALE; its rule weight is for KALE-Joint alone."""

_JUDGED = 20
"""The epochs after which a training is compared with the best of its row."""

_BEFORE = {"train.passes": 10, "clauses.pooling": "sum", "clauses.optimizer": "adagrad"}
"""What trainings had that older journals do not name; the presets of all rows agree in it."""

_ALL = {**FACT_AXES, **CLAUSE_AXES, **KALE_AXES, **RULE_AXES}


@dataclass(frozen=True)
class GridPoint:
    """One training of a grid: a row with these settings by this seed, and what is changed in all trainings."""

    row: PaperRow
    values: dict[str, Any]
    seed: int
    changes: tuple[str, ...]
    floor: float = 0.0
    """What it must have on valid after ``_JUDGED`` epochs to be trained on; not a part of what it is."""

    @property
    def about(self) -> dict[str, Any]:
        """What the journal says of it, beside its values and how it went."""
        return {"table": self.row.table, "row": self.row.name, "changes": list(self.changes), "seed": self.seed}

    @property
    def key(self) -> str:
        """What tells it from others in one journal."""
        return _key(self.about, self.values)


def axes_of(row: PaperRow, changes: Axes | None = None) -> dict[str, tuple[Any, ...]]:
    """Return the paper's axes for a row; ``changes`` replace the values of some, or add axes.

    A row without clauses has no axes of clauses, and one in closed form no sets and no steps.
    """
    axes = _paper_axes(row)
    for name, values in (changes or {}).items():
        if name in axes or name not in _ALL:
            axes[name] = tuple(values)
    if 0 in axes.get("clauses.weight", ()):
        raise InputError(
            f"{row.name}: clauses.weight must not be 0 in the grid: that is the model without clauses, "
            "which a row with clauses must not be chosen as"
        )
    return axes


def _paper_axes(row: PaperRow) -> dict[str, tuple[Any, ...]]:
    if row.is_kale:
        return dict(KALE_AXES) | (dict(RULE_AXES) if row.model == "kale-joint" else {})
    names = {"none": [], "one-atom": ["clauses.weight"]}.get(row.uses, list(CLAUSE_AXES))
    return dict(FACT_AXES) | {name: CLAUSE_AXES[name] for name in names}


def search_grid(
    rows: Sequence[PaperRow],
    graph: Graph,
    clauses: Sequence[Clause],
    journal: Journal,
    *,
    axes: Axes | None = None,
    seeds: Sequence[int] = (0,),
    changes: Sequence[str] = (),
    processes: int = 1,
    minutes: float | None = None,
    prune: float | None = None,
    top: int | None = None,
    observer: Observer | None = None,
) -> list[Trial]:
    """Train what the journal lacks of the rows' grids, and return the trials of these grids that there are.

    ``axes`` replace some of the paper's axes, ``changes`` apply to every training. Test is never looked at.
    ``processes`` share the work, and the GPU if there is one. With ``minutes`` none begins after them, and points are
    taken in an order that tells much from few of them. A training that is ``prune`` below the best of its row after
    ``_JUDGED`` epochs is ended there. With ``top``, only so many points of each row, the best by the first seed, are
    trained with the other seeds too.
    """
    wanted = [
        GridPoint(row, values, seed, tuple(changes))
        for row in rows
        for values in grid_points([Choice(*axis) for axis in axes_of(row, axes).items()])
        for seed in (seeds if top is None else seeds[:1])
    ]
    end = None if minutes is None else time.monotonic() + 60 * minutes
    making = _Making(graph, clauses, journal, processes, observer or Observer())

    def in_order(missing: list[GridPoint], done: dict[str, Trial]) -> Iterable[GridPoint]:
        return missing if end is None else _until(end, _telling_first(missing, done, axes))

    done = making.trials(wanted, in_order, prune)
    if top is not None:
        again = [replace(point, seed=seed) for point in _top(wanted, done, top) for seed in seeds[1:]]
        done = making.trials(again)
        wanted += again
    return [done[point.key] for point in wanted if point.key in done]


@dataclass(frozen=True, eq=False)
class _Making:
    """What trains the points that a journal lacks."""

    graph: Graph
    clauses: Sequence[Clause]
    journal: Journal
    processes: int
    observer: Observer

    def trials(
        self,
        wanted: Sequence[GridPoint],
        in_order: Callable[[list[GridPoint], dict[str, Trial]], Iterable[GridPoint]] = lambda missing, _: missing,
        prune: float | None = None,
    ) -> dict[str, Trial]:
        """Train what is missing, in an order, and return all trials of the journal by what tells them apart."""
        done = _done(self.journal)
        with nullcontext() if all(point.key in done for point in wanted) else self.journal.locked():
            done = _done(self.journal)
            missing = [point for point in wanted if point.key not in done]
            finished, total = len(wanted) - len(missing), len(wanted)
            self.observer.advanced("trainings", finished, total, "trainings")
            floored = (replace(one, floor=_floor(done.values(), one, prune)) for one in in_order(missing, done))
            shared = self.graph, self.clauses
            for trial in make_trials(floored, train_point, self.journal, processes=self.processes, shared=shared):
                done[_key(trial.about, trial.changes)] = trial
                finished += 1
                self.observer.advanced("trainings", finished, total, "trainings")
                settings = assignments(trial.changes)
                self.observer.message(f"{finished} of {total}: {trial.about['row']} {settings}: {_outcome(trial)}")
        return done


def _top(points: Sequence[GridPoint], done: Mapping[str, Trial], count: int) -> list[GridPoint]:
    """Return the best points of each row by their trials, as far as they were judged."""
    judged = [point for point in points if point.key in done and done[point.key].judged]
    judged.sort(key=lambda point: done[point.key].value or 0.0, reverse=True)
    ranked = {row: [point for point in judged if point.row.name == row] for row in {p.row.name for p in judged}}
    return [point for of_row in ranked.values() for point in of_row[:count]]


def _until(end: float, points: Iterable[GridPoint]) -> Iterator[GridPoint]:
    return takewhile(lambda _: time.monotonic() < end, points)


def _telling_first(
    points: Sequence[GridPoint], done: Mapping[str, Trial], axes: Axes | None = None
) -> Iterator[GridPoint]:
    """Yield points in turn at random and beside the best trials so far: one step on one axis away from them.

    Where every neighbour of all that were good is done, all are at random. ``done`` grows as trials end.
    """
    left = {point.key: point for point in points}
    chance = Random(0)
    order = chance.sample(list(left), len(left))
    beside = False
    while left:
        point = _beside_the_best(left, done, axes) if beside else None
        point = point or left[next(key for key in order if key in left)]
        beside = not beside
        del left[point.key]
        yield point


def _beside_the_best(left: Mapping[str, GridPoint], done: Mapping[str, Trial], axes: Axes | None) -> GridPoint | None:
    """Return a point that is left beside the best trial that has one; None where no trial has one."""
    rows = {point.row.name: point for point in left.values()}
    for trial in sorted(done.values(), key=lambda trial: -(trial.value or 0.0)):
        point = rows.get(trial.about["row"])
        if point is None or not trial.judged or trial.about["seed"] != point.seed:
            continue
        for values in _neighbours({**_BEFORE, **trial.changes}, axes_of(point.row, axes)):
            found = left.get(replace(point, values=values).key)
            if found is not None:
                return found
    return None


def _neighbours(values: Mapping[str, Any], axes: Axes) -> Iterator[dict[str, Any]]:
    """Yield the points that are one place away on one axis."""
    for name, known in axes.items():
        if values.get(name) in known:
            place = known.index(values[name])
            yield from ({**values, name: known[near]} for near in (place - 1, place + 1) if 0 <= near < len(known))


def _floor(trials: Iterable[Trial], point: GridPoint, prune: float | None) -> float:
    """Return what a training must have after some epochs, by the best of its row."""
    values = [trial.value or 0.0 for trial in trials if trial.about["row"] == point.row.name]
    return 0.0 if prune is None else max(values, default=0.0) - prune


def _done(journal: Journal) -> dict[str, Trial]:
    """Return the trials of a journal by what tells them apart."""
    return {_key(trial.about, trial.changes): trial for trial in journal.read()}


class _BelowError(Exception):
    """Leaves a training from inside: after this epoch, with this as its best on valid."""

    def __init__(self, epoch: int, value: float) -> None:
        super().__init__(epoch, value)
        self.epoch, self.value = epoch, value


def train_point(point: GridPoint, graph: Graph, clauses: Sequence[Clause]) -> Trial:
    """Train a row at one point of its grid, and return what it reached on valid; a divergence is a trial too."""
    row, seed = point.row, point.seed
    values = [f"{name}={value}" for name, value in point.values.items()]
    settings = settings_of(row, seed, ["evaluate.keep=best", *point.changes, *values])  # which stops early
    started, seen = time.perf_counter(), _BelowError(0, 0.0)

    def look(record: dict[str, Any]) -> None:
        nonlocal seen
        if "valid" in record:
            value = max(seen.value, record["valid"]["mrr"])
            seen = _BelowError(record["epoch"], value)
            if record["epoch"] >= _JUDGED and value < point.floor:
                raise seen

    try:
        trained = train_row(row, row.graph(graph, clauses, seed), clauses, settings, observer=Calling(epoch=look))
    except _BelowError as error:
        seconds, about = time.perf_counter() - started, point.about | {"hardware": hardware()}
        return Trial(0, PRUNED, round(error.value, 5), error.epoch, seconds, point.values, about=about)
    except RunError as error:
        seconds = time.perf_counter() - started
        return Trial(0, FAILED, None, 0, seconds, point.values, str(error), about=point.about)
    if trained.valid_mrr is None:
        raise InputError("a grid search needs valid facts and evaluate.every above 0: it selects by MRR on valid")
    seconds, value = time.perf_counter() - started, round(trained.valid_mrr, 5)
    about = point.about | {"hardware": hardware()}
    return Trial(0, FINISHED, value, trained.best_epoch, seconds, point.values, about=about)


def assignments(values: Mapping[str, Any]) -> str:
    """Return the settings of a point in one line."""
    return " ".join(f"{name}={value}" for name, value in values.items())


def _outcome(trial: Trial) -> str:
    return f"{trial.value:.3f} in {trial.seconds:.0f} s" if trial.judged else str(trial.error)


def _key(about: Mapping[str, Any], values: Mapping[str, Any]) -> str:
    return json.dumps([*(about.get(name) for name in ("table", "row", "changes", "seed")), _named(values)])


def _named(values: Mapping[str, Any]) -> str:
    """Return what tells a point from others, with what older journals do not name."""
    known = {} if any(name.startswith("kale.") for name in values) else _BEFORE
    return json.dumps({**known, **values}, sort_keys=True)


def best(trials: Iterable[Trial], row: str) -> Trial | None:
    """Return a row's trial with the highest MRR on valid: the mean over seeds, of the points with the most seeds."""
    by_point: dict[str, list[Trial]] = {}
    for trial in trials:
        if trial.about["row"] == row and trial.judged:
            by_point.setdefault(_named(trial.changes), []).append(trial)
    by_seed = {point: _by_seed(found) for point, found in by_point.items()}
    most = max(map(len, by_seed.values()), default=0)
    repeated = [point for point, values in by_seed.items() if len(values) == most]
    return by_point[max(repeated, key=lambda point: fmean(by_seed[point].values()))][0] if repeated else None


def _by_seed(trials: Iterable[Trial]) -> dict[int, float]:
    """Return what each seed reached on valid, on average where it was trained several times."""
    found: dict[int, list[float]] = {}
    for trial in trials:
        found.setdefault(trial.about["seed"], []).append(trial.value or 0.0)
    return {seed: fmean(values) for seed, values in found.items()}


def chosen_preset(row: PaperRow, values: Mapping[str, Any]) -> str:
    """Return a row's preset in TOML with some settings changed, below the comments that it begins with."""
    import tomli_w

    text = (files("clausal_paper.presets") / f"{row.preset}.toml").read_text(encoding="utf-8")
    preset = tomllib.loads(text)
    for name, value in values.items():
        section, _, key = name.partition(".")
        preset.setdefault(section, {})[key] = value
    Settings.from_mapping(preset, row.preset)
    comments = [line for line in text.splitlines() if line.startswith("#")]
    return "\n".join([*comments, "", tomli_w.dumps(preset)])
