"""A training in a run directory: created, checkpointed, resumed and finished."""

from __future__ import annotations

import math
import os
import platform
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
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
from clausal.logic import check_clauses
from clausal.logic.syntax import Clause
from clausal.model.build import check_by_rows
from clausal.model.described import DescribedEncoder
from clausal.model.predictor import LinkPredictor
from clausal.model.row_table import row_table
from clausal.model.scorers.base import Scorer
from clausal.observer import Observer, Observers, all_arguments, replaces
from clausal.peers import ALONE, Peers
from clausal.run.checkpoint import restore
from clausal.run.directory import MODEL, RunDirectory
from clausal.run.loading import load, require_custom
from clausal.run.run import Run
from clausal.run.shards import SHARDS, find_checkpoint, read_share, save_shards, write_model
from clausal.training import AdversarialSetTraining, prepare
from clausal.training.prepare import check_arguments
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
        return Run(_ordinary(predictor), graph, clauses, settings, metrics, calibration=_calibrate(training, graph))
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
        return _go_on(directory, ALONE, scorer, encoder, adversary, observer)


def begin_together(out: str | Path, graph: Graph, clauses: Sequence[Clause], settings: Settings) -> Path:
    """Make the run directory that several processes will train in, after checking what can be checked by one."""
    check_arguments(graph, clauses, settings)
    check_clauses(clauses, graph.entities, graph.relations)
    check_by_rows(settings)
    return RunDirectory.create(out, graph, clauses, settings).path


@_enough_memory()
def train_together(out: str | Path, peers: Peers, observer: Observer | None = None) -> dict[str, Any]:
    """Train, or go on to train, in a run directory by several processes, each of which calls this; return the metrics.

    The directory is on a file system that all of them share. When they have finished, it is a run like any other.
    """
    directory, observer = RunDirectory.open(out), observer or Observer()
    if directory.finished:
        return directory.metrics
    if directory.custom:
        raise InputError(f"{out}: trained with modules of a user's own, which one process alone can go on with")
    if directory.racing:
        raise InputError(f"{out}: its race for settings has not ended; go on with it in one process")
    with directory.locked() if peers.first else nullcontext():
        _go_on(directory, peers, observer=observer)
    return RunDirectory(out).metrics


def _go_on(
    directory: RunDirectory,
    peers: Peers,
    scorer: Scorer | None = None,
    encoder: nn.Module | None = None,
    adversary: Adversary | None = None,
    observer: Observer | None = None,
) -> Run:
    """Go on from the last checkpoint, or begin where there is none, and finish the run."""
    observer = observer or Observer()
    saved = find_checkpoint(directory)
    if saved is None and "start" in directory.about:
        raise InputError(
            f"{directory.path}: stopped before its first pass, so that nothing is left of what it started from; train "
            f"again with --from {directory.about['start']}, to another --out"
        )
    graph, clauses = directory.graph, directory.clauses
    training = prepare(
        graph,
        clauses,
        directory.settings,
        scorer=scorer,
        encoder=encoder,
        adversary=adversary,
        features=directory.features,
        peers=peers,
        by_rows=saved is not None and len(saved.files) > 1,
        observer=observer,
    )
    if saved is not None:
        restore(training, read_share(saved, training), saved.position, origin=saved.files[0])
    if peers.first:
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

    peers = training.peers

    def checkpoint(training: AdversarialSetTraining) -> None:
        nonlocal last_saved
        due = torch.tensor([float(time.monotonic() - last_saved >= every)], device=training.predictor.device)
        if not peers.from_first_(due).item():
            return
        if peers.size > 1:
            save_shards(directory, training, peers)
        else:
            directory.save_checkpoint(*training.state())
            (directory.path / SHARDS).unlink(missing_ok=True)
        last_saved = time.monotonic()

    observer.training_started(training.settings, _obeyed(clauses, training.settings))
    told = Observers(_Log(directory), observer) if peers.first else observer
    predictor = training.run(told, checkpoint).eval()
    seconds = sum(record["seconds"] for record in directory.read_log())
    metrics = _metrics(training, graph, seconds) | _raced(directory)
    calibration = _calibrate(training, graph)
    if peers.first:
        directory.write_results(metrics, calibration)
    write_model(directory.path / MODEL, predictor, directory.temporary_folder)
    peers.wait()
    if peers.first:
        directory.drop_checkpoint()
    observer.training_finished(metrics)
    if peers.size == 1:
        predictor = _ordinary(predictor)
    return Run(predictor, graph, clauses, training.settings, metrics, directory.path, calibration)


def _ordinary(predictor: LinkPredictor) -> LinkPredictor:
    """Return a predictor with a table like any other, once training has no use for its rows."""
    table = row_table(predictor)
    if table is not None:
        predictor.encoder = table.as_plain_table()
    return predictor


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
    directory.write_results(metrics, calibration)
    write_model(directory.path / MODEL, training.predictor, directory.temporary_folder)
    directory.drop_checkpoint()


def _calibrate(training: AdversarialSetTraining, graph: Graph) -> Calibration | None:
    """Fit probabilities so that no decision breaks a hard clause.

    Relations that such clauses compare have one fit, and those of constraints are accepted above 0 alone.
    """
    predictor, feasible = training.predictor.with_table(), training.predictor.feasible
    seed = training.settings.train.seed
    if feasible is None:
        return calibrate(predictor, graph, seed=seed)
    return calibrate(predictor, graph, seed=seed, together=feasible.connected, above_zero=feasible.excluded)


def _metrics(training: AdversarialSetTraining, graph: Graph, seconds: float) -> dict[str, Any]:
    """Measure the final model on valid and test, and say on what it was trained."""
    predictor, at, peers = training.predictor.with_table(), training.position, training.peers
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
            "threads": training.threads,
            **({"processes": peers.size, "bytes_per_step": training.bytes_per_step} if peers.size > 1 else {}),
            "versions": {
                "clausal": clausal.__version__,
                "torch": torch.__version__,
                "python": platform.python_version(),
            },
        },
    }
