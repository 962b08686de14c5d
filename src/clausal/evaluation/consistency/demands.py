"""What clauses demand of scores: a head scores at least as much as the least of its body.

b₁ ∧ … ∧ bₖ ⇒ h demands c(h) ≥ min c(bᵢ) of the score c of every fact. A constraint, b₁ ∧ … ∧ bₖ ⇒ false, speaks against
its facts: the case against bᵢ is at least the least score of the others. And where there is a case against h, there is
one against bᵢ, for else bᵢ and the others would bring h back. So a relation stands for two *symbols*, the case for its
facts and the case against them, and all that clauses say is demands on symbols.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import NamedTuple, TypeAlias

from clausal.graph.vocabulary import Names
from clausal.logic.check import check_clauses
from clausal.logic.normal_forms import negation_normal, simplified
from clausal.logic.rules import LeftOut
from clausal.logic.shape import AtomShape, Skeleton, Slot, shape_of
from clausal.logic.syntax import And, Clause, Falsum, Not, Or

Node: TypeAlias = tuple[int, bool]
"""A symbol, and whether it is read from object to subject."""

_MOST_PARTS = 64
_NOT_HORN = "no Horn clause: it does not say which of several facts should score more"
_NEVER = "it never holds, whatever the facts"


class Claim(NamedTuple):
    """A symbol of two terms: variables are numbered from 0, and ~id is an entity."""

    symbol: int
    subject: int
    object: int

    def turned(self) -> Claim:
        """Return the claim with its terms in the other order."""
        return Claim(self.symbol, self.object, self.subject)

    @property
    def variables(self) -> set[int]:
        """The variables among the terms."""
        return {term for term in (self.subject, self.object) if term >= 0}


class Demand(NamedTuple):
    """The head scores at least the least of the body; an empty body makes it certain."""

    body: tuple[Claim, ...]
    head: Claim

    @property
    def is_edge(self) -> bool:
        """Whether it is one symbol below another, straight or turned, for all pairs of entities."""
        head = self.head
        ends = {head.subject, head.object}
        return len(self.body) == 1 and len(ends) == 2 and min(ends) >= 0 and self.body[0].variables == ends

    def turned(self) -> Demand:
        """Return the same demand with the terms of its head in the other order."""
        return Demand(self.body, self.head.turned())


class HornPart(NamedTuple):
    """A Horn clause over ids; a constraint has no head."""

    body: tuple[Claim, ...]
    head: Claim | None


@dataclass(frozen=True, eq=False)
class Demands:
    """The demands of clauses by the symbol of the head: r is the case for relation r, r + relations that against it."""

    relations: int
    edges: dict[int, frozenset[Node]]
    """The nodes that are below each symbol by a clause of one atom."""
    others: dict[int, tuple[Demand, ...]]
    """All other demands."""
    opposed: frozenset[int]
    """Relations whose facts constraints may remove."""
    left_out: tuple[LeftOut, ...]

    def below(self, symbol: int) -> frozenset[Node]:
        """Return the nodes whose scores the symbol has at least, by clauses of one atom in turn; itself is one."""
        return self._below[symbol]

    @cached_property
    def _below(self) -> dict[int, frozenset[Node]]:
        return {symbol: self._reached(symbol) for symbol in range(2 * self.relations)}

    def _reached(self, symbol: int) -> frozenset[Node]:
        found: set[Node] = {(symbol, False)}
        waiting: list[Node] = [(symbol, False)]
        while waiting:
            here, turned = waiting.pop()
            for lower, inverse in self.edges.get(here, ()):
                node = (lower, inverse != turned)
                if node not in found:
                    found.add(node)
                    waiting.append(node)
        return frozenset(found)

    @cached_property
    def same(self) -> dict[int, Node]:
        """For each symbol one that has the same scores, and whether it is turned: relations and their inverses."""
        found: dict[int, Node] = {}
        for symbol in range(2 * self.relations):
            below = sorted(self.below(symbol))
            found[symbol] = next((lower, turned) for lower, turned in below if (symbol, turned) in self.below(lower))
        return found

    def of(self, symbol: int) -> tuple[Demand, ...]:
        """Return the demands on a symbol that are no edges, those of all that is below it too, each once."""
        return self._of[symbol]

    @cached_property
    def _of(self) -> dict[int, tuple[Demand, ...]]:
        found: dict[int, tuple[Demand, ...]] = {}
        for symbol in range(2 * self.relations):
            each: dict[Demand, None] = {}
            for lower, turned in sorted(self.below(symbol)):
                for demand in self.others.get(lower, ()):
                    each.setdefault(self._canonical(demand.turned() if turned else demand, symbol))
            found[symbol] = tuple(demand for demand in each if demand.head not in demand.body)
        return found

    def _canonical(self, demand: Demand, symbol: int) -> Demand:
        """Return a demand on this symbol, its body over the symbols that stand for others."""
        body = []
        for claim in demand.body:
            other, turned = self.same[claim.symbol]
            claim = claim._replace(symbol=other)
            body.append(claim.turned() if turned else claim)
        head = demand.head._replace(symbol=symbol)
        numbers: dict[int, int] = {}

        def number(term: int) -> int:
            return numbers.setdefault(term, len(numbers)) if term >= 0 else term

        head = Claim(symbol, number(head.subject), number(head.object))
        renamed = {self._ordered(Claim(one.symbol, number(one.subject), number(one.object))) for one in body}
        return Demand(tuple(sorted(renamed)), head)

    def _ordered(self, claim: Claim) -> Claim:
        """Return a claim of a symmetric symbol in one order of its terms."""
        return claim.turned() if self.is_symmetric(claim.symbol) and claim.subject > claim.object else claim

    def is_symmetric(self, symbol: int) -> bool:
        """Say whether a symbol has the same scores when it is turned round."""
        return (symbol, True) in self.below(symbol)

    def needs(self, symbol: int) -> frozenset[int]:
        """Return the symbols whose whole tables a symbol's demands are computed from, theirs too."""
        found: set[int] = set()
        waiting = [symbol]
        while waiting:
            for claim in (claim for demand in self.of(waiting.pop()) for claim in demand.body):
                if claim.symbol not in found:
                    found.add(claim.symbol)
                    waiting.append(claim.symbol)
        return frozenset(found)

    def touches(self, relation: int) -> bool:
        """Say whether a clause says anything of a relation's scores."""
        return len(self.below(relation)) > 1 or bool(self.of(relation)) or relation in self.opposed


def demands_of(clauses: Sequence[Clause], entities: Names, relations: Names) -> Demands:
    """Return what clauses demand, and those that demand nothing of single facts; unknown names are refused."""
    check_clauses(clauses, entities, relations)
    parts: list[HornPart] = []
    left_out = []
    for clause in clauses:
        found = horn_parts_of(clause, entities, relations)
        if isinstance(found, str):
            left_out.append(LeftOut(clause, found))
        else:
            parts += found
    opposed = _opposed(parts)
    edges: dict[int, set[Node]] = {}
    others: dict[int, list[Demand]] = {}
    for demand in dict.fromkeys(_all_demands(parts, opposed, len(relations))):
        head = demand.head
        if demand.is_edge:
            (body,) = demand.body
            edges.setdefault(head.symbol, set()).add((body.symbol, body.subject != head.subject))
        elif head not in demand.body:
            others.setdefault(head.symbol, []).append(demand)
    return Demands(
        len(relations),
        {symbol: frozenset(nodes) for symbol, nodes in edges.items()},
        {symbol: tuple(found) for symbol, found in others.items()},
        frozenset(opposed),
        tuple(left_out),
    )


def _opposed(parts: Sequence[HornPart]) -> set[int]:
    """Return the relations that constraints speak of, and those that would bring such facts back."""
    found = {claim.symbol for part in parts if part.head is None for claim in part.body}
    while True:
        more = {claim.symbol for part in parts if part.head and part.head.symbol in found for claim in part.body}
        if more <= found:
            return found
        found |= more


def _all_demands(parts: Iterable[HornPart], opposed: set[int], relations: int) -> Iterator[Demand]:
    for body, head in parts:
        if head is not None:
            yield Demand(body, head)
        if head is None or head.symbol in opposed:
            against = () if head is None else (_against(head, relations),)
            for place, claim in enumerate(body):
                yield Demand((*against, *body[:place], *body[place + 1 :]), _against(claim, relations))


def _against(claim: Claim, relations: int) -> Claim:
    return claim._replace(symbol=claim.symbol + relations)


def horn_parts_of(clause: Clause, entities: Names, relations: Names) -> list[HornPart] | str:
    """Return a clause as Horn clauses, or why it is none."""
    shape, names, constants = shape_of(clause)
    ids, fixed = [relations.id(name) for name in names], [entities.id(name) for name in constants]
    formula = simplified(shape.formula)
    if formula == Falsum():
        return _NEVER
    if formula == Not(Falsum()):
        return []
    conjuncts = _conjuncts(negation_normal(formula))
    if conjuncts is None:
        return _NOT_HORN

    def term(slot: Slot) -> int:
        return slot.index if slot.kind == "variable" else ~fixed[slot.index]

    found = []
    for conjunct in conjuncts:
        claims = [(Claim(ids[atom.index], *map(term, atom.slots)), positive) for atom, positive in conjunct]
        body = tuple(dict.fromkeys(claim for claim, positive in claims if not positive))
        heads = list(dict.fromkeys(claim for claim, positive in claims if positive))
        if len(heads) > 1:
            return _NOT_HORN
        if not heads or heads[0] not in body:
            found.append(HornPart(body, heads[0] if heads else None))
    return found


def _conjuncts(formula: Skeleton) -> list[list[tuple[AtomShape, bool]]] | None:
    """Return a formula in conjunctive normal form, as literals; None where that has too many parts."""
    match formula:
        case And(parts):
            each = [_conjuncts(part) for part in parts]
            found = None if None in each else [one for some in each for one in some or ()]
        case Or(parts):
            each = [_conjuncts(part) for part in parts]
            if None in each:
                return None
            found = [[literal for one in some for literal in one] for some in product(*(one or () for one in each))]
        case Not(AtomShape() as atom):
            return [[(atom, False)]]
        case AtomShape() as atom:
            return [[(atom, True)]]
        case _:
            raise AssertionError(f"not in negation normal form: {formula}")
    return None if found is None or len(found) > _MOST_PARTS else found
