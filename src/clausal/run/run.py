"""A trained run: a link predictor with the graph, clauses and settings it was trained on. Load it and ask it.

A question imports no training, closure, proof or certificate: what a method needs beyond the model, it imports itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from numpy.typing import ArrayLike
from torch import nn

from clausal.choices import Filter, RankingName, RegionName, SemanticsName, Ties
from clausal.config import Settings
from clausal.errors import InputError
from clausal.evaluation import Calibration, Ranker
from clausal.graph.graph import Facts, Graph
from clausal.logic.syntax import Clause
from clausal.model.build import build_predictor, build_scorer, find_device
from clausal.model.predictor import LinkPredictor
from clausal.model.scorers.base import Scorer
from clausal.observer import Observer, replaces
from clausal.run.checkpoint import read_tensors, require_shape
from clausal.run.directory import FUSION, MODEL, RunDirectory
from clausal.run.prediction import Answer, AnswerRanker, Entailed, predict
from clausal.run.ranking import find_ranking

if TYPE_CHECKING:
    from clausal.evaluation import Classification, Evaluation
    from clausal.fusion import FusedExplanation, Fusion
    from clausal.fusion.evidence import Evidence
    from clausal.fusion.ranker import Fused, RulesAlone
    from clausal.logic.closure import Closure
    from clausal.run.certification import Certification
    from clausal.run.explanation import Explanation


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
    fused: Fusion | None = None
    """A fusion that is not in the run directory: see ``fusion``."""
    _last_closure: list[tuple[Sequence[Clause], Closure]] = field(default_factory=list, init=False, repr=False)

    @cached_property
    def closure(self) -> Closure:
        """Train and what follows from it by the run's clauses."""
        return self._close(self.clauses)

    def closure_under(self, clauses: Sequence[Clause] | None = None) -> Closure:
        """Return train and what follows from it by the run's clauses, or by others; that of the last ones is kept."""
        if clauses is None:
            return self.closure
        if not any(clauses is last for last, _ in self._last_closure):
            self._last_closure[:] = [(clauses, self._close(clauses))]
        return self._last_closure[0][1]

    def _close(self, clauses: Sequence[Clause]) -> Closure:
        from clausal.logic.closure import close

        if not clauses:
            raise InputError("the run was trained without clauses, so train entails nothing; name some: --clauses FILE")
        return close(self.graph, clauses)

    @cached_property
    def fusion(self) -> Fusion:
        """The rules that vote in this run and their weights; an error where it has none."""
        from clausal.run.fusing import read_fusion_of

        return self.fused if self.fused is not None else read_fusion_of(self)

    @cached_property
    def _evidence(self) -> Evidence:
        return self.fusion.evidence(self.graph)

    def _votes(self, ranking: RankingName) -> RulesAlone | Fused:
        from clausal.fusion.ranker import RulesAlone

        if ranking == "rules":
            return RulesAlone(self._evidence, self.predictor.device)
        return self.fusion.ranker(self.predictor.with_table(), self._evidence)

    @cached_property
    def is_fused(self) -> bool:
        """Whether the run has a fusion."""
        return self.fused is not None or (self.path is not None and (self.path / FUSION).is_file())

    def fuse(
        self,
        clauses: Sequence[Clause] | None = None,
        *,
        mine: bool | None = None,
        signed: bool = False,
        seconds: float | None = None,
        out: str | Path | None = None,
        observer: Observer | None = None,
    ) -> Run:
        """Let rules vote: return this run with a fusion of the model and the votes, fitted on valid.

        The rules are ``clauses``, or mined from train (``mine``; so it is where no clauses are given), or both.
        Mining ends after ``seconds``. No vote counts against an answer unless ``signed``. ``out`` is a new run
        directory for the result, or the run's own. Ask it with ``ranking="fused"``.
        """
        from clausal.run.fusing import fuse_run

        mine = clauses is None if mine is None else mine
        return fuse_run(self, clauses, mine=mine, signed=signed, seconds=seconds, out=out, observer=observer)

    def predict(
        self,
        query: str,
        k: int = 10,
        *,
        new: bool = False,
        ranking: RankingName | None = None,
        entailed: Entailed | None = None,
        clauses: Sequence[Clause] | None = None,
    ) -> list[Answer]:
        """Answer ``relation(subject, ?)``, ``relation(?, object)`` or ``?(subject, object)`` with the best k names.

        ``new`` leaves out facts that the graph already has. ``ranking`` is ``"model"``; ``"entailed"``, which puts
        answers that train has or entails by the run's clauses, or others, before the rest; or, in a run with votes
        (see ``fuse``), ``"rules"`` or ``"fused"``. ``entailed="first"`` is the same as ``ranking="entailed"``. An
        answer has a probability where the ranking has a calibration. ``pandas.DataFrame(run.predict(…))`` makes a
        table.
        """
        ranking = find_ranking(ranking, entailed)
        closure = self.closure_under(clauses).facts if ranking == "entailed" else None
        ranker: AnswerRanker = self.predictor.with_table()
        calibration = self.calibration
        if ranking in ("rules", "fused"):
            ranker = self._votes(ranking)
            calibration = self.fusion.calibration if ranking == "fused" else None
        return predict(ranker, self.graph, query, k, new=new, closure=closure, calibration=calibration)

    def explain_votes(self, query: str, answers: Sequence[Answer]) -> list[FusedExplanation]:
        """Say of each answer to a query under the ranking ``"fused"`` what the model and the rules contributed."""
        from clausal.run.fusing import explain_votes

        return explain_votes(
            self.fusion.ranker(self.predictor.with_table(), self._evidence), self.graph, query, answers
        )

    def explain(
        self, answers: Sequence[Answer], *, clauses: Sequence[Clause] | None = None, most: int = 3
    ) -> list[Explanation]:
        """Say of each answer whether train has it, entails it by the run's clauses (or others), or what it lacks.

        Facts of valid and test are not used. An explanation prints as text; ``most`` bounds what nearly supports
        an answer that is not entailed.
        """
        from clausal.run.explanation import explain

        closure = self.closure_under(clauses)
        clauses = self.clauses if clauses is None else clauses
        return explain(self.predictor.with_table(), self.graph, clauses, closure, answers, most)

    @replaces(progress=("advanced", lambda what, done, total, unit: (done, total)))
    def evaluate(
        self,
        split: str | Facts = "test",
        *,
        ties: Ties = "realistic",
        filter: Filter = "full",
        per_relation: bool = False,
        ranking: RankingName | None = None,
        entailed: Entailed | None = None,
        clauses: Sequence[Clause] | None = None,
        observer: Observer | None = None,
        **options: Any,
    ) -> Evaluation:
        """Rank a split, or facts given as ids, and measure the ranking.

        ``ranking="entailed"`` (or ``entailed="first"``) ranks what train entails by the run's clauses, or others,
        above all else; ``"rules"`` and ``"fused"`` rank by the votes of a run that was fused. The result says so in
        ``ranking``.
        """
        from clausal.evaluation import EntailedFirst, evaluate

        ranking = find_ranking(ranking, entailed)
        ranker: Ranker = self.predictor.with_table()
        if ranking == "entailed":
            ranker = EntailedFirst(ranker, self.closure_under(clauses).facts)
        elif ranking != "model":
            ranker = self._votes(ranking)
        return evaluate(
            ranker,
            self.graph,
            split=split,
            ties=ties,
            filter=filter,
            per_relation=per_relation,
            observer=observer,
            **options,
        )

    def classify(self, facts: str | Facts = "test", labels: ArrayLike | None = None) -> Classification:
        """Tell true facts from false ones: labelled facts, or those of a split and a random corruption of each.

        A run without a calibration, as older ones are, is calibrated on its valid facts for this.
        """
        from clausal.evaluation import calibrate, classify, label_facts
        from clausal.evaluation.evaluate import find_facts

        predictor, graph, seed = self.predictor.with_table(), self.graph, self.settings.train.seed
        facts, _ = find_facts(graph, facts)
        if labels is None:
            facts, labels = label_facts(facts, graph, seed=seed)
        calibration = self.calibration or calibrate(predictor, graph, seed=seed)
        return classify(predictor, facts, labels, graph.relations, calibration)

    @replaces(progress=("advanced", lambda what, done, total, unit: (done, total)))
    def certify(
        self,
        clauses: Sequence[Clause] | None = None,
        *,
        region: RegionName = "auto",
        entities: bool = True,
        tolerance: float | None = None,
        semantics: SemanticsName | None = None,
        thresholds: tuple[float, float] | None = None,
        observer: Observer | None = None,
    ) -> Certification:
        """Say how badly each clause can be violated: over a region of vectors, and over the real entities.

        ``clauses`` are those of the run where none are given. ``tolerance`` is a hundredth of the margin by default.
        """
        from clausal.run.certification import certify_clauses

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
            observer=observer,
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
    # What the file holds replaces every value, those of pre-trained vectors too, so their file is not needed again.
    dim = scorer.dim if scorer is not None else settings.model.dim
    predictor = build_predictor(
        settings.model,
        entities,
        relations,
        pairs=torch.from_numpy(graph.train[:, [0, 2]]),
        vectors=torch.empty(entities, dim) if settings.model.encoder == "frozen" else None,
        scorer=deepcopy(scorer),
        encoder=deepcopy(encoder),
    )
    predictor.load_state_dict(read_tensors(path, predictor.state_dict())[0])
    return predictor
