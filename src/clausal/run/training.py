"""A training in a run directory: created, checkpointed, resumed and finished."""

from __future__ import annotations

import math
import os
import platform
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import torch
from torch import nn

import clausal
from clausal.adversary.adversary import Adversary
from clausal.config import Settings
from clausal.errors import ClausalError, InputError, RunError, is_out_of_memory
from clausal.evaluation import Calibration, calibrate, evaluate
from clausal.graph.graph import Graph
from clausal.logic.syntax import Clause
from clausal.model.described import DescribedEncoder
from clausal.model.scorers.base import Scorer
from clausal.observer import Observer, Observers, all_arguments, replaces
from clausal.run.checkpoint import restore
from clausal.run.directory import CHECKPOINT, RunDirectory
from clausal.run.loading import load, require_custom
from clausal.run.run import Run
from clausal.training import AdversarialSetTraining, prepare
from clausal.training.warm_start import WarmStart


@contextmanager
def _enough_memory() -> Iterator[None]:
    """Turn a lack of memory in a training into one message."""
    try:
        yield
    except ClausalError:
        raise
    except Exception as error:
        if not is_out_of_memory(error):
            raise
        raise RunError("out of memory; try a smaller model.dim, clauses.sets or facts.batch_size") from error


@replaces(on_pass=("passed", all_arguments), on_epoch=("epoch", all_arguments), tell=("message", all_arguments))
@_enough_memory()
def train(
    graph: Graph,
    clauses: Sequence[Clause] = (),
    settings: Settings | None = None,
    *,
    out: str | Path | None = None,
    scorer: Scorer | None = None,
    encoder: nn.Module | None = None,
    adversary: Adversary | None = None,
    start: Run | None = None,
    observer: Observer | None = None,
) -> Run:
    """Train a link predictor on a graph so that it obeys clauses; with ``out``, keep it as a run directory.

    ``start`` is a run of a model of the same kind on another state of the graph: the training begins with its vectors,
    by name, and new entities are folded in.
    """
    settings, observer = settings or Settings(), observer or Observer()
    training = prepare(
        graph,
        clauses,
        settings,
        scorer=scorer,
        encoder=encoder,
        adversary=adversary,
        start=None if start is None else WarmStart(start.predictor, start.graph.entities, start.graph.relations),
        observer=observer,
    )
    if out is None:
        started = time.perf_counter()
        observer.training_started(settings, _obeyed(clauses, settings))
        predictor = training.run(observer).eval()
        metrics = _metrics(training, graph, time.perf_counter() - started)
        observer.training_finished(metrics)
        return Run(predictor, graph, clauses, settings, metrics, calibration=_calibrate(training, graph))
    given = {"scorer": scorer, "encoder": encoder, "adversary": adversary}
    custom = [name for name, module in given.items() if module is not None]
    origin = None if start is None else str(start.path or start.graph.name)
    made = training.predictor.encoder
    features = made.features if isinstance(made, DescribedEncoder) else ()
    directory = RunDirectory.create(out, graph, clauses, settings, custom, start=origin, features=features)
    with directory.locked():
        return _run_in(directory, training, graph, clauses, observer)


@replaces(on_pass=("passed", all_arguments), on_epoch=("epoch", all_arguments))
@_enough_memory()
def resume(
    out: str | Path,
    *,
    scorer: Scorer | None = None,
    encoder: nn.Module | None = None,
    adversary: Adversary | None = None,
    observer: Observer | None = None,
) -> Run:
    """Go on with an unfinished run; it ends as if never interrupted, on a CPU in the same bits.

    A finished run is loaded as it is.
    """
    directory, observer = RunDirectory.open(out), observer or Observer()
    require_custom(directory, scorer, encoder)
    if directory.finished:
        directory.drop_checkpoint()  # which a kill at the very end can leave
        return load(out, scorer=scorer, encoder=encoder)
    if directory.racing:
        raise InputError(f"{out}: its race for settings has not ended; go on with it by clausal.search.resume_best")
    with directory.locked():
        if RunDirectory(out).finished:  # by the process that had the lock before
            return load(out, scorer=scorer, encoder=encoder)
        if "adversary" in directory.custom and adversary is None:
            raise InputError(f"{out}: trained with its own adversary; pass it to clausal.resume as adversary=…")
        graph, clauses = directory.graph, directory.clauses
        training = prepare(
            graph,
            clauses,
            directory.settings,
            scorer=scorer,
            encoder=encoder,
            adversary=adversary,
            features=directory.features,
            observer=observer,
        )
        state = directory.load_checkpoint()
        if state is None and "start" in directory.about:
            raise InputError(
                f"{out}: stopped before its first pass, so that nothing is left of what it started from; train again "
                f"with --from {directory.about['start']}, to another --out"
            )
        if state is not None:
            restore(training, *state, origin=directory.path / CHECKPOINT)
        directory.rewind_log(training.position.epoch)
        return _run_in(directory, training, graph, clauses, observer)


class _Log(Observer):
    """Appends the record of each epoch to the run's log."""

    def __init__(self, directory: RunDirectory) -> None:
        self._directory = directory

    def message(self, text: str) -> None:
        """Leave messages to the user's observer."""

    def epoch(self, record: dict[str, Any]) -> None:
        self._directory.append_log(record)


def _run_in(
    directory: RunDirectory,
    training: AdversarialSetTraining,
    graph: Graph,
    clauses: Sequence[Clause],
    observer: Observer,
) -> Run:
    every = training.settings.train.checkpoint_seconds
    warm = "start" in directory.about  # of which nothing but a checkpoint tells
    last_saved = -math.inf if warm and not training.position.passes else time.monotonic()

    def checkpoint(training: AdversarialSetTraining) -> None:
        nonlocal last_saved
        if time.monotonic() - last_saved >= every:
            directory.save_checkpoint(*training.state())
            last_saved = time.monotonic()

    observer.training_started(training.settings, _obeyed(clauses, training.settings))
    predictor = training.run(Observers(_Log(directory), observer), checkpoint).eval()
    seconds = sum(record["seconds"] for record in directory.read_log())
    metrics = _metrics(training, graph, seconds) | _raced(directory)
    calibration = _calibrate(training, graph)
    directory.finish(predictor.state_dict(), metrics, calibration)
    observer.training_finished(metrics)
    return Run(predictor, graph, clauses, training.settings, metrics, directory.path, calibration)


def _raced(directory: RunDirectory) -> dict[str, Any]:
    """Return what a race before the training tells: how it chose the settings, and what each clause did."""
    race = dict(directory.race or {})
    clauses = race.pop("clauses", [])
    return ({"race": race} if race else {}) | ({"clauses": clauses} if clauses else {})


def _obeyed(clauses: Sequence[Clause], settings: Settings) -> int:
    """Return how many clauses a training is to obey."""
    about = settings.clauses
    if about.adversary == "none":
        return 0
    return sum(
        bool(clause.weight) and bool(about.alpha or about.hard == "all" or (clause.hard and about.hard == "marked"))
        for clause in clauses
    )


def keep(
    training: AdversarialSetTraining,
    out: str | Path,
    graph: Graph,
    clauses: Sequence[Clause],
    measured: Graph,
    records: Sequence[dict[str, Any]],
) -> None:
    """Write a training that has ended as a finished run on ``graph``.

    Its metrics and its calibration are of the splits of ``measured``.
    """
    directory = RunDirectory.create(out, graph, clauses, training.settings)
    for record in records:
        directory.append_log(record)
    metrics = _metrics(training, measured, sum(record["seconds"] for record in records))
    calibration = _calibrate(training, measured)
    directory.finish(training.predictor.state_dict(), metrics, calibration)


def _calibrate(training: AdversarialSetTraining, graph: Graph) -> Calibration | None:
    """Fit probabilities; relations that hard clauses compare have one fit, so that no decision breaks a clause."""
    predictor, feasible = training.predictor.with_table(), training.predictor.feasible
    together = () if feasible is None else feasible.connected
    return calibrate(predictor, graph, seed=training.settings.train.seed, together=together)


def _metrics(training: AdversarialSetTraining, graph: Graph, seconds: float) -> dict[str, Any]:
    """Measure the final model on valid and test, and say on what it was trained."""
    predictor, at = training.predictor.with_table(), training.position
    ties, best = training.settings.evaluate.ties, training.settings.evaluate.keep == "best"
    with training.choice.in_use():  # kernels that training has loaded rank too
        evaluations = {
            split: evaluate(predictor, graph, split=split, ties=ties).to_dict()
            for split in ("valid", "test")
            if len(graph.splits[split])
        }
    return {
        **evaluations,
        "training": {
            "epochs": at.epoch,
            "best_epoch": (at.best_epoch if best else 0) or at.epoch,
            "stopped_early": at.stopped,
            "seconds": round(seconds, 2),
            "step": training.step.name,
            "fast_forms": list(dict.fromkeys(training.choice.taken.values())),
            "finished": datetime.now(UTC).isoformat(timespec="seconds"),
            "device": str(predictor.device),
            "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
            "threads": torch.get_num_threads(),
            "versions": {
                "clausal": clausal.__version__,
                "torch": torch.__version__,
                "python": platform.python_version(),
            },
        },
    }
