"""The exact check of clauses over real entities: how often, how much and where they fail."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import torch

from clausal.adversary.clauses import ClauseGroup
from clausal.adversary.reciprocal import readings_of
from clausal.adversary.semantics import Godel, Semantics
from clausal.evaluation.entities.atoms import pair_indicator
from clausal.evaluation.entities.chains import CHAIN_SEMANTICS, ChainCheck, chain_of
from clausal.evaluation.entities.matrices import DEFAULT_MEMORY, ClauseScores, Memory
from clausal.evaluation.entities.tally import EntityCheck, Tally
from clausal.evaluation.protocol import scoring
from clausal.logic.syntax import Clause, Variable
from clausal.model.predictor import LinkPredictor
from clausal.observer import Observer, replaces

DEFAULT_TOLERANCE = 1e-4
"""Scores are sums in single precision: a smaller violation may be their rounding."""


@replaces(progress=("advanced", lambda what, done, total, unit: (done, total)))
def check_entities(
    predictor: LinkPredictor,
    groups: Sequence[ClauseGroup],
    *,
    semantics: Semantics | None = None,
    tolerance: float = DEFAULT_TOLERANCE,
    memory: int = DEFAULT_MEMORY,
    observer: Observer | None = None,
) -> list[EntityCheck]:
    """Check each clause on every assignment of entities to its variables, group after group.

    Of a reciprocal model, both readings of a clause are checked, and the worse one is returned.

    Clauses of at most two variables are checked whatever their formula; of those with more, chains such as
    ``r(X, Y), s(Y, Z) => t(X, Z)``, for every pair of ends, under Gödel (the default) and threshold semantics. A
    violation counts above ``tolerance``. Of a model with vectors for some pairs of entities only (Model F),
    assignments are those whose pairs all have one, and for a chain the pairs of ends whose head has one, with
    middles whose pairs have one. Scores and the work on them take about ``memory`` bytes.
    """
    semantics = semantics or Godel()
    by_group = [readings_of([group], predictor) for group in groups]
    predictor = predictor.with_table().with_inverses()
    total = predictor.num_entities * sum(len(reading.clauses) for readings in by_group for reading in readings)
    done = 0

    def advance(rows: int) -> None:
        nonlocal done
        done += rows
        if observer is not None:
            observer.advanced("certifying", done, total, "rows")

    with scoring(predictor):
        indicator = pair_indicator(predictor)

        def check(reading: ClauseGroup, index: int) -> EntityCheck:
            return _check(ClauseScores(predictor, indicator, reading, index, semantics), tolerance, memory, advance)

        return [
            max((check(reading, index) for reading in readings), key=lambda found: found.largest)
            for readings in by_group
            for index in range(len(readings[0].clauses))
        ]


def _check(scores: ClauseScores, tolerance: float, memory: int, advance: Callable[[int], None]) -> EntityCheck:
    clause, shape = scores.group.clauses[scores.clause], scores.group.shape
    tally, limits = Tally(tolerance), Memory(memory, scores.predictor.device)
    if shape.variables <= 2:
        worst = _check_pairs(scores, tally, limits, advance)
    elif (chain := chain_of(shape)) is not None and type(scores.semantics) in CHAIN_SEMANTICS:
        worst = ChainCheck(scores, chain, limits).run(tally, advance)
    else:
        advance(scores.predictor.num_entities)
        problem = "no chain" if chain is None else f"{scores.semantics.name} semantics"
        return EntityCheck(clause, reason=f"{shape.variables} variables, and {problem}")
    found = dict(zip(_names(clause), worst, strict=False)) if tally.largest > 0 else {}
    return EntityCheck(clause, tally.checked, tally.violated, tally.mean, tally.largest, found)


def _check_pairs(scores: ClauseScores, tally: Tally, memory: Memory, advance: Callable[[int], None]) -> list[int]:
    """Tally every assignment to at most two variables: the first over rows, the second over columns."""
    entities, shape = scores.predictor.num_entities, scores.group.shape
    formula = scores.formula(shape.formula, 0, 1)
    rows = torch.arange(entities if shape.variables > 0 else 1, device=memory.device)
    for ids in rows.split(memory.rows(entities, matrices=2 * len(shape.atoms) + 4)):
        tally.add(formula.violation(ids), formula.exists(ids), int(ids[0]), 0)
        advance(len(ids))
    advance(entities - len(rows))
    return [tally.row, tally.column]


def _names(clause: Clause) -> Iterator[str]:
    """Yield the names of a clause's variables, by first occurrence."""
    terms = dict.fromkeys(term for atom in clause.atoms for term in atom.terms)
    yield from (term.name for term in terms if isinstance(term, Variable))
