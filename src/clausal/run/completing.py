"""What a graph lacks, in names: its most probable new facts, each with its status and its proof where it has one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from clausal.choices import RankingName
from clausal.errors import InputError
from clausal.evaluation.calibration import Calibration
from clausal.evaluation.completion import Completion, complete, first_of_each
from clausal.evaluation.protocol import score_facts
from clausal.graph.graph import Facts, Graph
from clausal.graph.query import find_name
from clausal.logic.closure import Closure
from clausal.logic.proofs import print_proof
from clausal.logic.syntax import Clause
from clausal.observer import Observer
from clausal.run.best_answers import Asking
from clausal.run.consistency import standings
from clausal.run.explanation import prove_answers
from clausal.run.prediction import Answer, Entailment, entailments

if TYPE_CHECKING:
    from clausal.run.run import Run

_ROWS_BETWEEN_REPORTS = 100


class NewFact(NamedTuple):
    """A fact that the graph does not have; ``proof`` is its proof as text, where train entails it by clauses.

    ``probability`` is that of the fact among as many random corruptions. Among all pairs many more are false,
    so ``precision`` is beside it: of all pairs of the relation that score as high and that train does not have, the
    share that valid has. What valid lacks counts as false, so this is the least that can be expected. It is None where
    valid says nothing of the relation, and where only some facts of an entity are kept.
    """

    rank: int
    subject: str
    relation: str
    object: str
    score: float
    probability: float
    precision: float | None = None
    verdict: Entailment = "predicted"
    confidence: float | None = None
    proof: str | None = None


class Wanted(NamedTuple):
    """Which facts are wanted: see ``Run.complete``."""

    min_probability: float = 0.9
    relations: str | Sequence[str] | None = None
    per_entity: int | None = None
    limit: int | None = None

    def check(self) -> None:
        """Refuse what cannot be."""
        if not 0 <= self.min_probability <= 1:
            raise InputError(f"the least probability must be between 0 and 1; got {self.min_probability:g}")
        for name in ("per_entity", "limit"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise InputError(f"{name.replace('_', '-')} must be at least 1; got {value}")

    def relation_ids(self, graph: Graph) -> list[int]:
        """Return the ids of the relations; an unknown name is an error."""
        if self.relations is None:
            return list(range(len(graph.relations)))
        names = [self.relations] if isinstance(self.relations, str) else list(self.relations)
        return sorted({graph.relations.id(find_name(name, graph.relations, graph)) for name in names})


def complete_run(
    run: Run,
    wanted: Wanted,
    ranking: RankingName,
    clauses: Sequence[Clause] | None,
    *,
    consistent: bool,
    proofs: bool,
    observer: Observer,
) -> list[NewFact]:
    """Find the new facts of a run and name them."""
    wanted.check()
    relations = wanted.relation_ids(run.graph)
    by_closure = ranking == "entailed" and not consistent  # consistent scores put what is certain first by themselves
    asking, told_by = run._asked("model" if by_closure else ranking, clauses, consistent, observer)
    calibration = _require_calibration(told_by["calibration"], ranking)
    used = run.clauses if clauses is None else clauses
    closure = run._closures.under(clauses) if used or ranking == "entailed" else None
    first = None
    if by_closure and closure is not None:
        first = _entailed(asking, calibration, closure.get().facts, relations)

    def known(facts: NDArray[np.integer]) -> NDArray[np.bool_]:
        found = asking.known.split_numbers(facts) >= 0
        return found if first is None or closure is None else found | closure.facts.has(facts)

    found = complete(
        asking.ranker,
        calibration,
        known,
        relations=relations,
        least=wanted.min_probability,
        limit=wanted.limit,
        per_entity=wanted.per_entity,
        observer=observer,
    )
    if first is not None:
        found = _after(first, found, wanted)
    rows = _named(run.graph, found)
    if wanted.per_entity is None:
        shares = _precision(asking, run.graph, found, wanted.min_probability)
        rows = [row._replace(precision=share) for row, share in zip(rows, shares, strict=True)]
    if closure is None:
        return rows
    verdicts = (
        standings(told_by["consistent"], found.facts, found.scores, asking.known)
        if consistent
        else entailments(found.facts, asking.known, closure.facts, closure.certain)
    )
    rows = [row._replace(verdict=verdict) for row, verdict in zip(rows, verdicts, strict=True)]
    return _proved(run.graph, rows, used, closure.get(), observer) if proofs else rows


def _require_calibration(calibration: Calibration | None, ranking: RankingName) -> Calibration:
    if calibration is not None:
        return calibration
    if ranking == "rules":
        raise InputError("votes of rules alone are no probabilities; use the ranking 'model' or 'fused'")
    raise InputError(
        "the run has no probabilities: it had fewer than 20 valid facts to fit them on; hold out more of them (--valid)"
    )


def _entailed(asking: Asking, calibration: Calibration, closure: Facts, relations: Sequence[int]) -> Completion:
    """Return the facts that follow from train and that the graph does not have, the most probable first."""
    facts = closure[np.isin(closure[:, 1], relations)]
    facts = facts[asking.known.split_numbers(facts) < 0]
    scores = score_facts(asking.ranker, facts) if len(facts) else np.empty(0)
    chances = calibration.probabilities(scores, facts[:, 1])
    order = np.lexsort((facts[:, 2], facts[:, 0], facts[:, 1], -scores, -chances))
    return Completion(facts[order], scores[order], chances[order], 0)


def _after(first: Completion, rest: Completion, wanted: Wanted) -> Completion:
    """Put facts in front of others, and keep as many as are wanted."""
    facts = np.concatenate([first.facts, rest.facts])
    scores, chances = (np.concatenate(pair) for pair in ((first[1], rest[1]), (first[2], rest[2])))
    kept = np.arange(len(facts))
    if wanted.per_entity is not None:
        kept = np.flatnonzero(first_of_each(facts[:, 0], wanted.per_entity))
    kept = kept[: wanted.limit]
    return Completion(facts[kept], scores[kept], chances[kept], rest.decided)


def _precision(asking: Asking, graph: Graph, found: Completion, least: float) -> list[float | None]:
    """Return the share of valid facts among all pairs of a relation that score as high, for each fact that was found.

    All that scores higher was found too, unless it came first though it is not probable enough.
    """
    shares: list[float | None] = [None] * len(found.facts)
    scores = score_facts(asking.ranker, graph.valid) if len(graph.valid) and len(found.facts) else np.empty(0)
    for relation in np.unique(found.facts[:, 1]).tolist():
        of_valid = np.sort(scores[graph.valid[:, 1] == relation]) if len(scores) else scores
        if not len(of_valid):
            continue
        here = np.flatnonzero((found.facts[:, 1] == relation) & (found.probabilities >= least))
        own = np.sort(found.scores[here])
        as_high = len(own) - np.searchsorted(own, found.scores[here])
        true = len(of_valid) - np.searchsorted(of_valid, found.scores[here])
        for place, share in zip(here.tolist(), (true / (true + as_high)).tolist(), strict=True):
            shares[place] = share
    return shares


def _named(graph: Graph, found: Completion) -> list[NewFact]:
    entities, relations = graph.entities, graph.relations
    columns = zip(found.facts.tolist(), found.scores.tolist(), found.probabilities.tolist(), strict=True)
    return [
        NewFact(rank, entities[subject], relations[relation], entities[object], score, chance)
        for rank, ((subject, relation, object), score, chance) in enumerate(columns, 1)
    ]


def _proved(
    graph: Graph, rows: Sequence[NewFact], clauses: Sequence[Clause], closure: Closure, observer: Observer
) -> list[NewFact]:
    """Prove what follows; a proof tells what is entailed from what rules with exceptions say."""
    answers = [
        Answer(row.rank, row.subject, row.relation, row.object, row.score, False, None, row.probability, row.verdict)
        for row in rows
    ]
    told = []
    for row, (answer, proof) in zip(rows, prove_answers(answers, graph, clauses, closure), strict=True):
        assert answer.verdict is not None
        text = None if proof is None else print_proof(proof)
        told.append(row._replace(verdict=answer.verdict, confidence=answer.confidence, proof=text))
        if row.rank % _ROWS_BETWEEN_REPORTS == 0:
            observer.advanced("proving", row.rank, len(rows), "facts")
    return told
