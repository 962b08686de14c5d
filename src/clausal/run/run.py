"""A trained run: the link predictor with the names it speaks in. Load it, evaluate it, ask it questions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import torch
from numpy.typing import ArrayLike
from torch import nn

from clausal.adversary.regions import RegionName
from clausal.config import Settings
from clausal.errors import InputError
from clausal.evaluation import (
    Calibration,
    Classification,
    EntailedFirst,
    Evaluation,
    calibrate,
    classify,
    evaluate,
    label_facts,
)
from clausal.evaluation.evaluate import find_facts
from clausal.graph.graph import Facts, Graph
from clausal.logic.closure import Closure
from clausal.logic.syntax import Clause
from clausal.model.build import build_predictor, build_scorer, find_device, make_predictor
from clausal.model.predictor import LinkPredictor
from clausal.model.scorers.base import Scorer
from clausal.run.certification import Certification, certify_clauses
from clausal.run.checkpoint import read_tensors, require_shape
from clausal.run.directory import MODEL, RunDirectory
from clausal.run.entailment import Entailed, check_entailed, close_train
from clausal.run.explanation import Explanation, explain
from clausal.run.prediction import Answer, predict


@dataclass(frozen=True, eq=False)
class Run:
    """A link predictor, the graph and clauses it was trained on, its settings and what training measured."""

    predictor: LinkPredictor
    graph: Graph
    clauses: Sequence[Clause]
    settings: Settings
    metrics: dict[str, Any] = field(default_factory=dict)
    path: Path | None = None
    calibration: Calibration | None = None

    @cached_property
    def closure(self) -> Closure:
        """Train and what follows from it by the run's clauses."""
        return close_train(self.graph, self.clauses)

    def predict(
        self,
        query: str,
        k: int = 10,
        *,
        new: bool = False,
        entailed: Entailed | None = None,
        clauses: Sequence[Clause] | None = None,
    ) -> list[Answer]:
        """Answer ``relation(subject, ?)``, ``relation(?, object)`` or ``?(subject, object)`` with the best k names.

        ``new`` leaves out facts that the graph already has. ``entailed="first"`` puts answers that train has or
        entails by the run's clauses, or others, before the rest. An answer has a probability where the run has a
        calibration. ``pandas.DataFrame(run.predict(…))`` makes a table.
        """
        check_entailed(entailed)
        closure = self._closure_under(clauses).facts if entailed else None
        return predict(
            self.predictor.tabulated(), self.graph, query, k, new=new, closure=closure, calibration=self.calibration
        )

    def explain(
        self, answers: Sequence[Answer], *, clauses: Sequence[Clause] | None = None, most: int = 3
    ) -> list[Explanation]:
        """Say of each answer whether train has it, entails it by the run's clauses (or others), or what it lacks.

        Facts of valid and test are not used. An explanation prints as text; ``most`` bounds what nearly supports
        an answer that is not entailed.
        """
        closure = self._closure_under(clauses)
        clauses = self.clauses if clauses is None else clauses
        return explain(self.predictor.tabulated(), self.graph, clauses, closure, answers, most)

    def evaluate(
        self,
        split: str | Facts = "test",
        *,
        ties: Literal["realistic", "optimistic", "pessimistic"] = "realistic",
        filter: Literal["full", "partial"] = "full",
        per_relation: bool = False,
        entailed: Entailed | None = None,
        clauses: Sequence[Clause] | None = None,
        **options: Any,
    ) -> Evaluation:
        """Rank a split, or facts given as ids, and measure the ranking.

        ``entailed="first"`` ranks what train entails by the run's clauses, or others, above all else; the result
        says so in ``ranking``.
        """
        check_entailed(entailed)
        predictor = self.predictor.tabulated()
        return evaluate(
            EntailedFirst(predictor, self._closure_under(clauses).facts) if entailed else predictor,
            self.graph,
            split=split,
            ties=ties,
            filter=filter,
            per_relation=per_relation,
            **options,
        )

    def classify(self, facts: str | Facts = "test", labels: ArrayLike | None = None) -> Classification:
        """Tell true facts from false ones: labelled facts, or those of a split and a random corruption of each.

        A run without a calibration, as older ones are, is calibrated on its valid facts for this.
        """
        predictor, graph, seed = self.predictor.tabulated(), self.graph, self.settings.train.seed
        facts, _ = find_facts(graph, facts)
        if labels is None:
            facts, labels = label_facts(facts, graph, seed=seed)
        calibration = self.calibration or calibrate(predictor, graph, seed=seed)
        return classify(predictor, facts, labels, graph.relations, calibration)

    def _closure_under(self, clauses: Sequence[Clause] | None) -> Closure:
        return self.closure if clauses is None else close_train(self.graph, clauses)

    def certify(
        self,
        clauses: Sequence[Clause] | None = None,
        *,
        region: RegionName = "auto",
        entities: bool = True,
        tolerance: float | None = None,
        semantics: str | None = None,
        thresholds: tuple[float, float] | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> Certification:
        """Say how badly each clause can be violated: over a region of vectors, and over the real entities.

        ``clauses`` are those of the run where none are given. ``tolerance`` is a hundredth of the margin by default.
        """
        return certify_clauses(
            self.predictor,
            self.graph,
            self.clauses if clauses is None else clauses,
            self.settings,
            region=region,
            entities=entities,
            tolerance=tolerance,
            semantics=semantics,
            thresholds=thresholds,
            progress=progress,
        )


def load(
    path: str | Path, *, scorer: Scorer | None = None, encoder: nn.Module | None = None, device: str = "auto"
) -> Run:
    """Load a finished run; a run trained with a user's own scorer or encoder needs it here again."""
    directory = RunDirectory.open(path)
    if not directory.finished:
        raise InputError(f"{path}: the training has not finished; go on with: clausal train --out {path} --resume")
    require_custom(directory, scorer, encoder)
    settings, graph = directory.settings, directory.graph
    predictor = _read_predictor(directory, settings, graph, scorer, encoder)
    return Run(
        predictor.to(find_device(device, "device")).eval(),
        graph,
        directory.clauses,
        settings,
        directory.metrics,
        directory.path,
        directory.calibration,
    )


def require_custom(directory: RunDirectory, scorer: Scorer | None, encoder: nn.Module | None) -> None:
    """Check that the modules of a user that a run was trained with are given again."""
    for name, given in (("scorer", scorer), ("encoder", encoder)):
        if name in directory.custom and given is None:
            raise InputError(
                f"{directory.path}: trained with its own {name}; pass it to clausal.load or clausal.resume as {name}=…"
            )


def _read_predictor(
    directory: RunDirectory,
    settings: Settings,
    graph: Graph,
    scorer: Scorer | None,
    encoder: nn.Module | None,
) -> LinkPredictor:
    path = directory.path / MODEL
    entities, relations = len(graph.entities), len(graph.relations)
    try:
        with torch.device("meta"):  # sizes are compared with the file's before any memory is taken
            relation_dim = (scorer or build_scorer(settings.model)).relation_dim
            rows = relations * (2 if settings.model.reciprocal else 1)
            require_shape(path, "relations", (rows, relation_dim))
            if encoder is None and scorer is None and settings.model.scorer != "model-f":
                vectors = torch.empty(entities, settings.model.dim)
                predictor = build_predictor(settings.model, entities, relations, vectors=vectors)
                predictor.load_state_dict(read_tensors(path, predictor.state_dict())[0], assign=True)
                return predictor
    except RuntimeError as error:
        raise InputError(f"{directory.path}: the settings describe no possible model: {error}") from None
    predictor = make_predictor(graph, settings, scorer=scorer, encoder=encoder)
    predictor.load_state_dict(read_tensors(path, predictor.state_dict())[0])
    return predictor
