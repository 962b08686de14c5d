"""Decisions: of the facts that a model would accept, which break a clause?

A fact is accepted if its score reaches the threshold of its relation. A body is accepted if all its facts are, and it
breaks its clause where the head is not. Every pair of entities is looked at, as bits; entities that a head does not
speak of are looked for: one that makes the body accepted is enough.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from clausal.evaluation.calibration import Calibration
from clausal.evaluation.consistency.bodies import Columns, raise_by
from clausal.evaluation.consistency.demands import Claim, Demand, HornPart, horn_parts_of
from clausal.evaluation.consistency.facts import FactScores
from clausal.evaluation.probabilities import Values
from clausal.graph.vocabulary import Names
from clausal.logic.syntax import Clause, Variable
from clausal.observer import Observer

_ROWS_AT_ONCE = 512
_BITS = 8
EXAMPLES = 3
"""Examples that are kept for a clause."""

Bits = NDArray[np.uint8]


@dataclass(frozen=True)
class BrokenExample:
    """Entities by variable whose body is accepted and whose head is not, with their scores above the thresholds.

    ``body`` is that of its weakest fact, at least 0; ``head`` is below 0, and None for a constraint.
    """

    entities: dict[str, int]
    body: float
    head: float | None


@dataclass(frozen=True)
class Decided:
    """One clause: how many bodies are accepted, how many of them break it, and the worst of these.

    A body is an assignment of entities to the variables of a clause; if it has more than two, to those of its head.
    """

    clause: Clause
    accepted: int = 0
    broken: int = 0
    examples: tuple[BrokenExample, ...] = field(default=())
    reason: str | None = None

    @property
    def share(self) -> float:
        """The share of accepted bodies that break the clause."""
        return self.broken / self.accepted if self.accepted else 0.0


def thresholds_of(calibration: Calibration, relations: int, probability: float | None = None) -> Values:
    """Return the score from which a fact of each relation is accepted: the calibrated one, or that of a probability.

    The latter is the least number of single precision that has the probability; +∞ where none has it.
    """
    if probability is None:
        fits = [calibration.relations.get(relation, calibration.overall) for relation in range(relations)]
        return np.array([fit.threshold for fit in fits])
    ids = np.arange(relations)
    low, high = np.full(relations, -(2**31) + 2**23), np.full(relations, 2**31 - 2**23)  # −∞ and +∞ as integers
    while (high - low > 1).any():  # low has too little, high has enough
        middle = (low + high) // 2
        enough = calibration.probabilities(_numbers(middle), ids) >= probability
        low, high = np.where(enough, low, middle), np.where(enough, middle, high)
    return _numbers(high)


def _numbers(places: NDArray[np.int64]) -> Values:
    """Return float32 numbers by their places in the order of all of them."""
    bits = np.where(places < 0, -(2**31) - places, places).astype(np.int32)
    return bits.view(np.float32).astype(np.float64)


class Margins:
    """Scores of facts above the threshold of their relation: 0 and more is accepted."""

    def __init__(self, facts: FactScores, thresholds: Values, device: torch.device) -> None:
        limits = np.clip(thresholds, -1e30, 1e30)  # a difference must be a number
        self.facts, self.thresholds = facts, torch.from_numpy(limits).to(device)

    def rows(self, relations: Tensor, turned: Tensor, ids: Tensor) -> Tensor:
        """Return rows of margins, as ``FactScores`` does."""
        scores = self.facts.rows(relations, turned, ids)
        return scores - self.thresholds[relations].to(scores.dtype).unsqueeze(1)

    def pairs(self, relation: int, subjects: Tensor, objects: Tensor) -> Tensor:
        """Return margins of facts of one relation [facts]."""
        scores = self.facts.pairs(relation, subjects, objects)
        return scores - self.thresholds[relation].to(scores.dtype)


RowsOf = Callable[[int, bool, Tensor], Tensor]
"""Rows of margins: a relation, whether it is turned, ids [b] → [b, entities]."""


class Accepted:
    """The facts that are accepted, as tables of bits of the relations that clauses speak of."""

    def __init__(self, rows: RowsOf, entities: int, device: torch.device) -> None:
        self._rows, self.entities, self.device = rows, entities, device
        self._bits: dict[tuple[int, bool], Bits] = {}

    def rows(self, symbol: int, turned: bool, ids: Tensor) -> Tensor:
        """Return which facts are accepted: ids [b] → [b, entities]."""
        key = symbol, turned
        if key not in self._bits:
            self._bits[key] = np.concatenate([_packed(self._rows(*key, some) >= 0) for some in self.blocks()])
        return self._unpacked(self._bits[key][ids.cpu().numpy()])

    def diagonal(self, symbol: int) -> Tensor:
        """Return which entities are accepted with themselves [entities]."""
        found = [self.rows(symbol, False, ids)[torch.arange(len(ids)), ids] for ids in self.blocks()]
        return torch.cat(found)

    def blocks(self) -> Iterator[Tensor]:
        """Yield all entities, some at a time."""
        yield from torch.arange(self.entities, device=self.device).split(_ROWS_AT_ONCE)

    def least(self, shape: tuple[int, ...]) -> Tensor:
        """Return a table in which nothing is accepted."""
        return torch.zeros(shape, dtype=torch.bool, device=self.device)

    def greatest(self) -> Tensor:
        """Return what is accepted for certain."""
        return torch.ones((), dtype=torch.bool, device=self.device)

    def raise_by_product(self, left: Tensor, right: Columns, best: Tensor) -> bool:
        """Accept best [b, entities] where some y is accepted by left(x, y) and right(y, z); say whether that is new."""
        accepted = np.concatenate([_packed(right(ids).T) for ids in self.blocks()], axis=1)  # blocks are whole bytes
        rose = False
        for row, middles in enumerate(left.cpu().numpy()):
            ids = np.flatnonzero(middles)
            if len(ids):
                found = self._unpacked(np.bitwise_or.reduce(accepted[ids], axis=0)[None])[0]
                rose = rose or bool((found & ~best[row]).any())
                best[row] |= found
        return rose

    def _unpacked(self, bits: Bits) -> Tensor:
        return torch.from_numpy(np.unpackbits(bits, axis=1, count=self.entities).view(np.bool_)).to(self.device)


def _packed(rows: Tensor) -> Bits:
    return np.packbits(rows.cpu().numpy(), axis=1)


def decide(
    accepted: Accepted,
    margins: FactScores,
    clauses: Sequence[Clause],
    entities: Names,
    relations: Names,
    *,
    observer: Observer | None = None,
) -> list[Decided]:
    """Count for each clause the accepted bodies and those that break it, exactly, and find the worst of these.

    An equivalence counts in both directions. Clauses that are no Horn clauses have a reason and no figures.
    """
    found = []
    for place, clause in enumerate(clauses):
        parts = horn_parts_of(clause, entities, relations)
        if isinstance(parts, str):
            found.append(Decided(clause, reason=parts))
            continue
        names = _variable_names(clause)
        counts = [_Counted(accepted, margins, part, names) for part in parts]
        examples = sorted((one for count in counts for one in count.examples), key=_badness, reverse=True)
        found.append(
            Decided(
                clause,
                sum(count.accepted for count in counts),
                sum(count.broken for count in counts),
                tuple(examples[:EXAMPLES]),
            )
        )
        if observer is not None:
            observer.advanced("deciding", place + 1, len(clauses), "clauses")
    return found


def _badness(example: BrokenExample) -> float:
    return example.body if example.head is None else -example.head


def _variable_names(clause: Clause) -> list[str]:
    terms = dict.fromkeys(term for atom in clause.atoms for term in atom.terms)
    return [term.name for term in terms if isinstance(term, Variable)]


class _Counted:
    """Counts the accepted and the broken bodies of one Horn clause."""

    def __init__(self, accepted: Accepted, margins: FactScores, part: HornPart, names: Sequence[str]) -> None:
        self.tables, self.margins, self.part, self.names = accepted, margins, part, names
        self.accepted = self.broken = 0
        self.examples: list[BrokenExample] = []
        self._row, self._column = self._ends()
        rows = torch.arange(accepted.entities if self._row in self._variables else 1, device=accepted.device)
        for ids in rows.split(_ROWS_AT_ONCE):
            self._count(ids)

    @property
    def _variables(self) -> set[int]:
        claims = (*self.part.body, *([self.part.head] if self.part.head else []))
        return {variable for claim in claims for variable in claim.variables}

    def _ends(self) -> tuple[int, int]:
        """Return the variables that bodies are counted by; one that is none stands for a missing one."""
        variables = sorted(self._variables)
        if len(variables) > 2:
            variables = sorted(self.part.head.variables) if self.part.head else [variables[0], variables[-1]]
        missing = max(self._variables, default=-1) + 1
        first, second, *_ = [*variables, missing, missing + 1]
        return first, second

    def _table(self, claims: tuple[Claim, ...], ids: Tensor) -> Tensor:
        """Return where all claims are accepted, over both ends; one column for an end that is missing."""
        found = self.tables.least((len(ids), self.tables.entities))
        raise_by(self.tables, Demand(claims, Claim(-1, self._row, self._column)), ids, found)
        return found if self._column in self._variables else found[:, :1]

    def _count(self, ids: Tensor) -> None:
        body = self._table(self.part.body, ids)
        self.accepted += int(body.sum())
        broken = body if self.part.head is None else body & ~self._table((self.part.head,), ids)
        number = int(broken.sum())
        if number:
            self.broken += number
            self._keep_worst(ids, broken)

    def _keep_worst(self, ids: Tensor, broken: Tensor) -> None:
        head = self.part.head
        if head is None or head.variables != {self._row, self._column}:
            places = broken.nonzero()[: EXAMPLES if head is None else None]
        else:
            turned = torch.full_like(ids, head.object == self._row, dtype=torch.bool)
            scores = self.margins.rows(torch.full_like(ids, head.symbol), turned, ids)
            scores = scores.masked_fill(~broken, torch.inf)
            lowest = scores.flatten().topk(min(EXAMPLES, int(broken.sum())), largest=False).indices
            places = torch.stack([lowest // scores.shape[1], lowest % scores.shape[1]], 1)
        found = [self._example({self._row: int(ids[row]), self._column: column}) for row, column in places.tolist()]
        self.examples = sorted([*self.examples, *found], key=_badness, reverse=True)[:EXAMPLES]

    def _example(self, binding: dict[int, int]) -> BrokenExample:
        """Name the entities in between too: of those that are accepted the best."""
        binding = {variable: entity for variable, entity in binding.items() if variable in self._variables}
        for variable in sorted(self._variables - set(binding)):
            binding[variable] = self._best(variable, tuple(_bound(claim, binding) for claim in self.part.body))
        body = min((self._margin(_bound(claim, binding)) for claim in self.part.body), default=float("inf"))
        head = None if self.part.head is None else self._margin(_bound(self.part.head, binding))
        named = {self.names[variable]: entity for variable, entity in sorted(binding.items())}
        return BrokenExample(named, body, head)

    def _best(self, variable: int, claims: tuple[Claim, ...]) -> int:
        """Return the entity of a variable that the claims are accepted with, the best by those of it alone."""
        demand = Demand(claims, Claim(-1, variable, max(self._variables) + 1))
        fits = []
        for ids in self.tables.blocks():
            found = self.tables.least((len(ids), self.tables.entities))
            raise_by(self.tables, demand, ids, found)
            fits.append(found[:, 0])
        candidates = torch.cat(fits).nonzero().squeeze(1)
        worst = self.margins.pairs(claims[0].symbol, candidates, candidates).fill_(torch.inf)
        for claim in claims:
            if claim.variables == {variable}:
                ends = (candidates if term >= 0 else torch.full_like(candidates, ~term) for term in claim[1:])
                worst = torch.minimum(worst, self.margins.pairs(claim.symbol, *ends))
        return int(candidates[worst.argmax()])

    def _margin(self, claim: Claim) -> float:
        subject, object = (torch.tensor([~term], device=self.tables.device) for term in (claim.subject, claim.object))
        return float(self.margins.pairs(claim.symbol, subject, object)[0])


def _bound(claim: Claim, binding: dict[int, int]) -> Claim:
    return Claim(claim.symbol, *(~binding[term] if term in binding else term for term in claim[1:]))
