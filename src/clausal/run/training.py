"""A training in a run directory: created, checkpointed, resumed and finished."""

from __future__ import annotations

import logging
import os
import platform
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import torch
from torch import nn

import clausal
from clausal.config import Settings
from clausal.evaluation import Calibration, calibrate, evaluate
from clausal.graph.graph import Graph
from clausal.logic.syntax import Clause
from clausal.model.scorers.base import Scorer
from clausal.run.checkpoint import restore
from clausal.run.directory import CHECKPOINT, RunDirectory
from clausal.run.run import Run, load, require_custom
from clausal.training import AdversarialSetTraining, PassReport, prepare

_LOG = logging.getLogger("clausal")

OnPass = Callable[[PassReport], None]
OnEpoch = Callable[[dict[str, Any]], None]


def train(
    graph: Graph,
    clauses: Sequence[Clause] = (),
    settings: Settings | None = None,
    *,
    out: str | Path | None = None,
    scorer: Scorer | None = None,
    encoder: nn.Module | None = None,
    on_pass: OnPass | None = None,
    on_epoch: OnEpoch | None = None,
    tell: Callable[[str], None] = _LOG.info,
) -> Run:
    """Train a link predictor on a graph so that it obeys clauses; with ``out``, keep it as a run directory."""
    settings = settings or Settings()
    training = prepare(graph, clauses, settings, scorer=scorer, encoder=encoder, tell=tell)
    if out is None:
        started = time.perf_counter()
        predictor = training.run(on_pass, on_epoch).eval()
        metrics = _metrics(training, graph, time.perf_counter() - started)
        return Run(predictor, graph, clauses, settings, metrics, calibration=_calibrate(training, graph))
    custom = [name for name, module in (("scorer", scorer), ("encoder", encoder)) if module is not None]
    directory = RunDirectory.create(out, graph, clauses, settings, custom)
    with directory.locked():
        return _run_in(directory, training, graph, clauses, on_pass, on_epoch)


def resume(
    out: str | Path,
    *,
    scorer: Scorer | None = None,
    encoder: nn.Module | None = None,
    on_pass: OnPass | None = None,
    on_epoch: OnEpoch | None = None,
) -> Run:
    """Go on with an unfinished run; it ends as if never interrupted, on a CPU in the same bits.

    A finished run is loaded as it is.
    """
    directory = RunDirectory.open(out)
    require_custom(directory, scorer, encoder)
    if directory.finished:
        return load(out, scorer=scorer, encoder=encoder)
    with directory.locked():
        if RunDirectory(out).finished:  # by the process that had the lock before
            return load(out, scorer=scorer, encoder=encoder)
        graph, clauses = directory.graph, directory.clauses
        training = prepare(graph, clauses, directory.settings, scorer=scorer, encoder=encoder)
        state = directory.load_checkpoint()
        if state is not None:
            restore(training, *state, origin=directory.path / CHECKPOINT)
        directory.rewind_log(training.position.epoch)
        return _run_in(directory, training, graph, clauses, on_pass, on_epoch)


def _run_in(
    directory: RunDirectory,
    training: AdversarialSetTraining,
    graph: Graph,
    clauses: Sequence[Clause],
    on_pass: OnPass | None,
    on_epoch: OnEpoch | None,
) -> Run:
    every = training.settings.train.checkpoint_seconds
    last_saved = time.monotonic()

    def log(record: dict[str, Any]) -> None:
        directory.append_log(record)
        if on_epoch:
            on_epoch(record)

    def checkpoint(training: AdversarialSetTraining) -> None:
        nonlocal last_saved
        if time.monotonic() - last_saved >= every:
            directory.save_checkpoint(*training.state())
            last_saved = time.monotonic()

    predictor = training.run(on_pass, log, checkpoint).eval()
    seconds = sum(record["seconds"] for record in directory.read_log())
    metrics = _metrics(training, graph, seconds)
    calibration = _calibrate(training, graph)
    directory.finish(predictor.state_dict(), metrics, calibration)
    return Run(predictor, graph, clauses, training.settings, metrics, directory.path, calibration)


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
    return calibrate(training.predictor.tabulated(), graph, seed=training.settings.train.seed)


def _metrics(training: AdversarialSetTraining, graph: Graph, seconds: float) -> dict[str, Any]:
    """Measure the final model on valid and test, and say on what it was trained."""
    predictor, at = training.predictor.tabulated(), training.position
    ties = training.settings.evaluate.ties
    evaluations = {
        split: evaluate(predictor, graph, split=split, ties=ties).to_dict()
        for split in ("valid", "test")
        if len(graph.splits[split])
    }
    return {
        **evaluations,
        "training": {
            "epochs": at.epoch,
            "best_epoch": at.best_epoch or at.epoch,
            "stopped_early": at.stopped,
            "seconds": round(seconds, 2),
            "step": training.step.name,
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
