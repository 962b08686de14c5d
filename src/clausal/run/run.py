"""A trained run: a link predictor with the graph, clauses and settings it was trained on. Load it and ask it.

A question imports no training, closure, proof or certificate: what a method needs beyond the model, it imports itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack, overload

from numpy.typing import ArrayLike

from clausal.choices import Filter, Metric, RankingName, RegionName, SemanticsName, Ties, UnknownNames, VectorKind
from clausal.config import Settings
from clausal.evaluation import Calibration, Ranker
from clausal.evaluation.shared import require_whole
from clausal.graph.graph import Facts, Graph
from clausal.graph.query import Question, read_query, unknown_texts
from clausal.logic.syntax import Clause
from clausal.model.predictor import LinkPredictor
from clausal.observer import Observer, replaces
from clausal.run.answers import Answers
from clausal.run.best_answers import Asking, products_of
from clausal.run.closures import Closures
from clausal.run.directory import FUSION
from clausal.run.known_facts import KnownFacts
from clausal.run.prediction import Answer, Entailed, PredictOptions, predict, read_queries
from clausal.run.ranking import find_ranking
from clausal.run.scoring import Scores, read_ids, score_ids
from clausal.run.shown import Shown

if TYPE_CHECKING:
    from clausal.evaluation import Classification, Evaluation
    from clausal.evaluation.consistency import Consistent
    from clausal.evaluation.index import VectorIndex
    from clausal.fusion import FusedExplanation, Fusion
    from clausal.fusion.evidence import Evidence
    from clausal.fusion.ranker import Fused, RulesAlone
    from clausal.logic.closure import Closure
    from clausal.run.certification import Certification
    from clausal.run.completing import NewFact
    from clausal.run.consistency import ConsistentRankers
    from clausal.run.deciding import Decisions
    from clausal.run.explanation import Explanation
    from clausal.run.nearest import Neighbour
    from clausal.run.vectors import Vectors


@dataclass(frozen=True, eq=False, repr=False)
class Run(Shown):
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
    index: VectorIndex | None = None
    """An index by which answers are found: see ``with_index``."""

    @cached_property
    def _closures(self) -> Closures:
        return Closures(self.graph, self.clauses)

    @property
    def closure(self) -> Closure:
        """Train and what follows from it by the run's clauses."""
        return self.closure_under()

    def closure_under(self, clauses: Sequence[Clause] | None = None) -> Closure:
        """Return train and what follows from it by the run's clauses, or by others; that of the last ones is kept."""
        return self._closures.under(clauses).get()

    @cached_property
    def _shared(self) -> LinkPredictor:
        """The model with every entity encoded once; with those of this process, where several ask together."""
        return self.predictor.with_table()

    @property
    def _table(self) -> LinkPredictor:
        """The same, where this process has all of them."""
        return require_whole(self._shared)

    @cached_property
    def _by_model(self) -> Asking:
        """The model, ready to be asked beside the facts of the graph."""
        return Asking(self._shared, KnownFacts(self.graph), products_of(self._shared, self.index))

    @cached_property
    def _consistent_rankers(self) -> ConsistentRankers:
        from clausal.run.consistency import ConsistentRankers

        return ConsistentRankers(self.graph, self.clauses)

    def _consistent(
        self, ranking: RankingName, clauses: Sequence[Clause] | None, observer: Observer | None
    ) -> Consistent:
        """Return a ranking whose answers obey the run's clauses, or others."""
        ranker: Ranker = self._table if ranking in ("model", "entailed") else self._votes(ranking)
        certain = self.closure_under(clauses).facts if ranking == "entailed" else None
        return self._consistent_rankers.get(ranking, ranker, clauses, certain, observer)

    def _asked(
        self,
        ranking: RankingName,
        clauses: Sequence[Clause] | None,
        consistent: bool = False,
        observer: Observer | None = None,
    ) -> tuple[Asking, dict[str, Any]]:
        """Return what answers by a ranking, and what its answers are told by."""
        if consistent:
            ranker = self._consistent(ranking, clauses, observer)
            calibration = {"fused": lambda: self.fusion.calibration, "rules": lambda: None}.get(
                ranking, lambda: self.calibration
            )()
            return Asking(ranker, self._by_model.known), {"calibration": calibration, "consistent": ranker}
        if ranking in ("rules", "fused"):
            calibration = self.fusion.calibration if ranking == "fused" else None
            return Asking(self._votes(ranking), self._by_model.known), {"calibration": calibration}
        closure = self._closures.under(clauses).facts if ranking == "entailed" else None
        return self._by_model, {"calibration": self.calibration, "closure": closure}

    def _told(
        self,
        ranking: RankingName,
        clauses: Sequence[Clause] | None,
        consistent: bool,
        observer: Observer | None = None,
    ) -> tuple[Asking, dict[str, Any]]:
        """Return what scores facts by a ranking, and what they are told by: certain clauses beside rules too."""
        asking, told_by = self._asked(ranking, clauses, consistent, observer)
        if ranking != "entailed" or consistent:
            return asking, told_by
        return asking, told_by | {"certain": self._closures.under(clauses).certain}

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
        return self.fusion.ranker(self._table, self._evidence)

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
        require_whole(self.predictor)
        from clausal.run.fusing import fuse_run

        mine = clauses is None if mine is None else mine
        return fuse_run(self, clauses, mine=mine, signed=signed, seconds=seconds, out=out, observer=observer)

    def update(
        self,
        facts: Any = None,
        *,
        remove: Any = None,
        refine: int = 30,
        refine_new: bool | None = None,
        descriptions: Mapping[str, Any] | None = None,
        out: str | Path | None = None,
        observer: Observer | None = None,
    ) -> Run:
        """Return this run on a graph with new facts, about known and new entities, and without those of ``remove``.

        Both are given in any form that ``load_graph`` takes: rows of names, a data frame, a file. New entities are
        folded in: their vectors are solved for while all others and the relations stay as they are. What clauses
        without exceptions derive about them counts as told. Then ``refine`` passes over the facts of what changed move
        the vectors of known entities, but of none that a clause names; 0 leaves them as they are. With ``refine_new``
        new entities move with them, which fits the new facts closer and may spoil what else is asked about the new
        entities; by default those do about which clauses derive something. Every clause that held for all entities
        still does. ``descriptions`` are texts or vectors of new entities by name, for a run that was trained with
        descriptions. ``out`` is a new run directory for the result; this run stays as it is.
        """
        require_whole(self.predictor)
        from clausal.run.updating import update_run

        return update_run(
            self,
            facts,
            remove,
            refine_passes=refine,
            refine_new=refine_new,
            descriptions=descriptions,
            out=out,
            observer=observer or Observer(),
        )

    @overload
    def predict(  # type: ignore[overload-overlap]  # text is a sequence of texts too
        self, query: Question, k: int = 10, **options: Unpack[PredictOptions]
    ) -> Answers: ...

    @overload
    def predict(self, query: Iterable[Question], k: int = 10, **options: Unpack[PredictOptions]) -> list[Answers]: ...

    def predict(
        self,
        query: Question | Iterable[Question],
        k: int = 10,
        *,
        new: bool = False,
        ranking: RankingName | None = None,
        entailed: Entailed | None = None,
        clauses: Sequence[Clause] | None = None,
        consistent: bool = False,
        observer: Observer | None = None,
    ) -> Answers | list[Answers]:
        """Answer ``relation(subject, ?)``, ``relation(?, object)`` or ``?(subject, object)`` with the best k names.

        In a run that was trained with texts, ``relation("a text", ?)`` asks about an entity that the text describes. A
        question is text, or a tuple (subject, relation, object) of names with None for what is asked. A list of
        questions is answered by a list for each, which takes much less time than one by one. ``new`` leaves out facts
        that the graph already has. ``ranking`` is ``"model"``; ``"entailed"``, which puts answers that train has or
        entails by the run's clauses, or others, before the rest; or, in a run with votes (see ``fuse``), ``"rules"`` or
        ``"fused"``. ``entailed="first"`` is the same as ``ranking="entailed"``. ``consistent`` answers obey the run's
        clauses, or others: each fact scores at least what they demand, and what they forbid is left out; what train
        has or entails scores +∞. An answer has a probability where the ranking has a calibration.
        ``pandas.DataFrame(run.predict(…))`` makes a table of the answers to one question.
        """
        one = isinstance(query, str | tuple)
        if self.describes_texts:
            from clausal.run.unseen import answer_about_texts

            asked: list[Question] = [query] if one else list(query)  # type: ignore[list-item,arg-type]
            query = query if one else asked
            texts = dict.fromkeys(text for question in asked for text in unknown_texts(question, self.graph))
            if texts:
                options: PredictOptions = {
                    "new": new,
                    "ranking": ranking,
                    "entailed": entailed,
                    "clauses": clauses,
                    "consistent": consistent,
                    "observer": observer,
                }
                answered = answer_about_texts(self, asked, list(texts), k, options)
                return answered[0] if one else answered
        queries = [read_query(query, self.graph)] if one else read_queries(query, self.graph)  # type: ignore[arg-type]
        ranking = find_ranking(ranking, entailed)
        asking, told_by = self._asked(ranking, clauses, consistent, observer)
        answers = predict(asking, self.graph, queries, k, new=new, **told_by)
        if ranking == "entailed" and not consistent:
            answers = self._with_rules(answers, clauses)
        found = [Answers(some, self.graph.display) for some in answers]
        return found[0] if one else found

    def _with_rules(self, answers: list[list[Answer]], clauses: Sequence[Clause] | None) -> list[list[Answer]]:
        """Tell what is entailed from what follows by rules with exceptions."""
        from clausal.run.explanation import with_rules

        closure, used = self.closure_under(clauses), self.clauses if clauses is None else clauses
        return [with_rules(some, self.graph, used, closure) for some in answers]

    def describe(self, descriptions: Mapping[str, Any]) -> Run:
        """Return this run with entities that it has never seen, each by a text, or by a vector if it was so trained.

        ``run.describe({"my dog": "a small domestic dog"}).predict("hypernym(my dog, ?)")``. They are answered for, and
        are answers, like any other. Nothing is trained: the model's encoder maps what describes them into its domain,
        so that what is certified for the domain holds for them too. The run must be trained with descriptions.
        """
        from clausal.run.unseen import with_described

        predictor, graph = with_described(self.predictor, self.graph, descriptions, self.settings.descriptions.encoder)
        return replace(self, predictor=predictor, graph=graph, index=None)

    @property
    def describes_texts(self) -> bool:
        """Whether the run can be asked about texts of entities that it has never seen."""
        from clausal.model.described import DescribedEncoder

        encoder = self.predictor.encoder
        return isinstance(encoder, DescribedEncoder) and any(one.kind != "vectors" for one in encoder.features)

    def score(
        self,
        facts: Any,
        *,
        ranking: RankingName | None = None,
        clauses: Sequence[Clause] | None = None,
        consistent: bool = False,
        unknown: UnknownNames = "refuse",
    ) -> Scores:
        """Score facts: rows (subject, relation, object) of names, a data frame or table of them, or ids [facts, 3].

        Each has a score, a probability where the ranking has a calibration, and the split that has it, if one does.
        ``ranking`` and ``consistent`` are as in ``predict``; by ``"entailed"`` the score is the model's, and a verdict
        is beside it. A fact that clauses forbid has the consistent score −∞ and the probability 0. Facts with an
        unknown name are refused, or left out by ``unknown="skip"``.
        """
        ids, kept = read_ids(facts, self.graph, unknown)
        asking, told_by = self._told(find_ranking(ranking, None), clauses, consistent)
        return score_ids(asking, self.graph, ids, kept, **told_by)

    def score_file(
        self,
        path: str | Path,
        *,
        columns: str | Sequence[str] = "sro",
        header: str = "auto",
        ranking: RankingName | None = None,
        clauses: Sequence[Clause] | None = None,
        consistent: bool = False,
        unknown: UnknownNames = "refuse",
        observer: Observer | None = None,
    ) -> Iterator[Scores]:
        """Yield the scores of the facts of a file piece by piece, so that it may hold any number of them.

        ``clausal.run.score_files.write_scores(out, run.score_file(path))`` writes them to another file.
        """
        from clausal.run.score_files import score_file

        observer = observer or Observer()
        asking, told_by = self._told(find_ranking(ranking, None), clauses, consistent, observer)
        return score_file(
            asking, self.graph, path, columns=columns, header=header, unknown=unknown, observer=observer, **told_by
        )

    def complete(
        self,
        *,
        min_probability: float = 0.9,
        relations: str | Sequence[str] | None = None,
        per_entity: int | None = None,
        limit: int | None = 1_000_000,
        ranking: RankingName | None = None,
        clauses: Sequence[Clause] | None = None,
        consistent: bool = False,
        proofs: bool = True,
        observer: Observer | None = None,
    ) -> list[NewFact]:
        """Return the facts that the graph does not have and that are the most probable, over all pairs of entities.

        Nothing is left out: they are all that reach ``min_probability``, of all relations or of some by name, up to
        the best ``limit``, and up to ``per_entity`` with the same subject. Each says whether train entails it by the
        run's clauses, or others, with its proof unless ``proofs`` is False. ``ranking`` is ``"model"``; ``"entailed"``,
        which puts what is entailed first, however probable; or ``"fused"`` in a run with votes. ``consistent`` makes
        any of them obey the clauses.
        """
        require_whole(self.predictor)
        from clausal.run.completing import Wanted, complete_run

        wanted = Wanted(min_probability, relations, per_entity, limit)
        return complete_run(
            self,
            wanted,
            find_ranking(ranking, None),
            clauses,
            consistent=consistent,
            proofs=proofs,
            observer=observer or Observer(),
        )

    def vectors(self) -> Vectors:
        """Return the vectors of entities and relations, by name and as arrays that cannot be written to."""
        from clausal.run.vectors import vectors_of

        return vectors_of(self._table, self.graph)

    def nearest(
        self, name: str, k: int = 10, *, metric: Metric = "cosine", kind: VectorKind = "entity"
    ) -> list[Neighbour]:
        """Return the k entities, or relations, whose vectors are nearest to that of one; its own is left out.

        ``metric`` is ``"cosine"``, ``"dot"`` or ``"euclidean"``; a score is the cosine, the inner product, or minus the
        distance.
        """
        from clausal.run.nearest import nearest

        return nearest(self._table, self.graph, name, k, metric=metric, kind=kind, index=self.index)

    def build_index(
        self, *, metric: Metric = "dot", out: str | Path | None = None, observer: Observer | None = None
    ) -> VectorIndex:
        """Make an index of the entities' vectors, for ``with_index``; ``out`` is a file to keep it in.

        ``metric`` ``"dot"`` is for the answers of models whose scores are inner products, and for ``nearest`` by the
        same metric; ``"cosine"`` and ``"euclidean"`` are for ``nearest``. It needs the extra ``index``.
        """
        from clausal.run.indexing import build_index, write_index

        index = build_index(self._table, metric, observer)
        if out is not None:
            write_index(Path(out), index)
        return index

    def with_index(self, index: VectorIndex | str | Path) -> Run:
        """Return this run, with answers found by an index of its vectors or the file of one.

        It is for very many entities, and an answer may be missed. Those that are found have their exact scores.
        Questions by other rankings than the model's, and consistent ones, are answered without it.
        """
        from clausal.run.indexing import check_index, read_index

        found = read_index(Path(index)) if isinstance(index, str | Path) else index
        check_index(found, self._table)
        return replace(self, index=found)

    def explain_votes(self, query: str, answers: Sequence[Answer]) -> list[FusedExplanation]:
        """Say of each answer to a query under the ranking ``"fused"`` what the model and the rules contributed."""
        from clausal.run.fusing import explain_votes

        return explain_votes(self.fusion.ranker(self._table, self._evidence), self.graph, query, answers)

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
        return explain(self._table, self.graph, clauses, closure, answers, most)

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
        consistent: bool = False,
        observer: Observer | None = None,
        **options: Any,
    ) -> Evaluation:
        """Rank a split, or facts given as ids, and measure the ranking.

        ``ranking="entailed"`` (or ``entailed="first"``) ranks what train entails by the run's clauses, or others,
        above all else; ``"rules"`` and ``"fused"`` rank by the votes of a run that was fused. ``consistent`` makes any
        of them obey the clauses, as in ``predict``. The result says so in ``ranking``.
        """
        from clausal.evaluation import EntailedFirst, evaluate

        ranking = find_ranking(ranking, entailed)
        ranker: Ranker = self._shared
        if consistent:
            ranker = self._consistent(ranking, clauses, observer)
        elif ranking == "entailed":
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

        predictor, graph, seed = self._shared, self.graph, self.settings.train.seed
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
        Of a calibrated run it also says which clauses are broken by facts that it accepts.
        """
        require_whole(self.predictor)
        from clausal.run.certification import certify_clauses

        clauses = self.clauses if clauses is None else clauses
        found = certify_clauses(
            self.predictor,
            self.graph,
            clauses,
            self.settings,
            region=region,
            entities=entities,
            tolerance=tolerance,
            semantics=semantics,
            thresholds=thresholds,
            observer=observer,
        )
        if not entities or self.calibration is None:
            return found
        from clausal.run.deciding import figures_of

        return found.with_decisions(figures_of(self, clauses, observer))

    def decisions(
        self,
        clauses: Sequence[Clause] | None = None,
        *,
        probability: float | None = None,
        consistent: bool = True,
        observer: Observer | None = None,
    ) -> Decisions:
        """Count the facts that the run accepts against its clauses, or others, exactly over all entities.

        A fact is accepted at the calibrated threshold of its relation, or from a ``probability`` on. They are counted
        once more where the run obeys the clauses, unless not ``consistent``.
        """
        require_whole(self.predictor)
        from clausal.run.deciding import decisions_of

        clauses = self.clauses if clauses is None else clauses
        return decisions_of(self, clauses, probability=probability, consistent=consistent, observer=observer)
