"""The exact check of clauses over real entities: how often, how much and where they fail."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import torch

from clausal.adversary.clauses import ClauseGroup
from clausal.adversary.reciprocal import Reading, all_readings
from clausal.adversary.semantics import Godel, Semantics
from clausal.evaluation.entities.assignments import MOST_ASSIGNMENTS, AssignmentCheck
from clausal.evaluation.entities.atoms import Block, pair_indicator
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

    Rate and mean are those of the model's own fact scores. Of a reciprocal model, for which these are means, the
    largest violation is looked for in both kinds of questions too, and ``reading`` says where it is.

    Clauses of at most two variables and chains such as ``r(X, Y), s(Y, Z) => t(X, Z)``, for every pair of ends, are
    checked at any size; other clauses of more variables, and chains under semantics other than Gödel (the default) and
    threshold, up to ``MOST_ASSIGNMENTS``. A violation counts above ``tolerance``. Of a model with vectors for some
    pairs of entities only (Model F), assignments are those whose pairs all have one, and for a chain the pairs of ends
    whose head has one, with middles whose pairs have one. Scores and the work on them take about ``memory`` bytes.
    """
    semantics = semantics or Godel()
    by_group = [all_readings(group, predictor) for group in groups]
    predictor = predictor.with_table().with_inverses()
    total = predictor.num_entities * sum(len(reading) for readings in by_group for reading in readings.values())
    done = 0

    def advance(rows: int) -> None:
        nonlocal done
        done += rows
        if observer is not None:
            observer.advanced("certifying", done, total, "rows")

    with scoring(predictor):
        indicator = pair_indicator(predictor)
        limits = Memory(memory, predictor.device)

        def check(readings: dict[Reading, ClauseGroup], index: int) -> EntityCheck:
            scores = {
                name: ClauseScores(predictor, indicator, reading, index, semantics)
                for name, reading in readings.items()
            }
            return _check(readings["fact"].clauses[index], scores, tolerance, limits, advance)

        return [check(readings, index) for readings in by_group for index in range(len(readings["fact"]))]


def _check(
    clause: Clause,
    readings: dict[Reading, ClauseScores],
    tolerance: float,
    memory: Memory,
    advance: Callable[[int], None],
) -> EntityCheck:
    """Check one clause in all readings: what is counted is that of facts, and what is worst may be any."""
    scores = readings["fact"]
    shape, entities = scores.group.shape, scores.predictor.num_entities
    tallies = {name: Tally(tolerance) for name in readings}
    worst: dict[Reading, list[int]]
    chain = chain_of(shape) if shape.variables > 2 else None
    if shape.variables <= 2:
        worst = _check_pairs(readings, tallies, memory, advance)
    elif chain is not None and type(scores.semantics) in CHAIN_SEMANTICS:
        worst = {name: _chain_check(one, memory).run(tallies[name], advance) for name, one in readings.items()}
    elif (assignments := entities**shape.variables) <= MOST_ASSIGNMENTS:
        worst = {
            name: AssignmentCheck(one, chain, memory).run(tallies[name], advance) for name, one in readings.items()
        }
    else:
        advance(entities * len(readings))
        kind = "no chain" if chain is None else f"{scores.semantics.name} semantics"
        most = f"{assignments:.1e} assignments are more than the {MOST_ASSIGNMENTS:.0e} that are tried"
        return EntityCheck(clause, reason=f"{shape.variables} variables, and {kind}: {most}")
    counted, reading = tallies["fact"], max(tallies, key=lambda name: tallies[name].largest)
    largest = tallies[reading].largest
    found = dict(zip(_names(clause), worst[reading], strict=False)) if largest > 0 else {}
    return EntityCheck(clause, counted.checked, counted.violated, counted.mean, largest, found, reading)


def _chain_check(scores: ClauseScores, memory: Memory) -> ChainCheck:
    chain = chain_of(scores.group.shape)
    assert chain is not None, "turning atoms round leaves a chain a chain"
    return ChainCheck(scores, chain, memory)


def _check_pairs(
    readings: dict[Reading, ClauseScores],
    tallies: dict[Reading, Tally],
    memory: Memory,
    advance: Callable[[int], None],
) -> dict[Reading, list[int]]:
    """Tally every assignment to at most two variables: the first over rows, the second over columns.

    Readings take turns on each block, as they need the same scores.
    """
    scores = readings["fact"]
    entities, shape = scores.predictor.num_entities, scores.group.shape
    block = Block() if len(readings) > 1 else None
    formulas = {
        name: replace(one, block=block).formula(one.group.shape.formula, 0, 1) for name, one in readings.items()
    }
    rows = torch.arange(entities if shape.variables > 0 else 1, device=memory.device)
    kept = 2 * len(shape.atoms) if block else 0
    for ids in rows.split(memory.rows(entities, matrices=2 * len(shape.atoms) + kept + 4)):
        for name, formula in formulas.items():
            tallies[name].add(formula.violation(ids), formula.exists(ids), int(ids[0]), 0)
            advance(len(ids))
    advance((entities - len(rows)) * len(readings))
    return {name: [tally.row, tally.column] for name, tally in tallies.items()}


def _names(clause: Clause) -> Iterator[str]:
    """Yield the names of a clause's variables, by first occurrence."""
    terms = dict.fromkeys(term for atom in clause.atoms for term in atom.terms)
    yield from (term.name for term in terms if isinstance(term, Variable))
