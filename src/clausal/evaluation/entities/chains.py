"""Chain clauses, such as r(X, Y), s(Y, Z) => t(X, Z), over all entities.

``chain_of`` recognises them, with atoms in any direction and of any length. ``ChainCheck`` then goes through all pairs
of entities for the two ends, each with the entities in the middle that violate the clause most.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import torch
from torch import Tensor

from clausal.adversary.semantics import Godel, Semantics, Threshold
from clausal.evaluation.entities.matrices import ClauseScores, Conjunction, FormulaScores, Matrix, Memory
from clausal.evaluation.entities.middles import SortedMiddles
from clausal.evaluation.entities.tally import Tally
from clausal.logic.normal_forms import negation_normal, simplified
from clausal.logic.shape import AtomShape, Shape, Skeleton
from clausal.logic.syntax import And, Implies, Not, leaves

CHAIN_SEMANTICS: tuple[type[Semantics], ...] = (Godel, Threshold)
"""The semantics under which a chain's violation grows with the least score of its body, so that one middle counts."""
_SAMPLE = 32
"""Entities on either end from which the cheaper side of a product is guessed."""


@dataclass(frozen=True)
class Chain:
    """A body that leads from one variable to another over the others, and a head on its two ends.

    ``links`` lists for each two neighbours the indices of the atoms between them; an atom with one variable, or
    none, stands in the first link that can take it. ``head`` is None if the body must never hold.
    """

    variables: tuple[int, ...]
    links: tuple[tuple[int, ...], ...]
    head: Skeleton | None


def chain_of(shape: Shape) -> Chain | None:
    """Recognise a clause of three or more variables as a chain."""
    match simplified(shape.formula):
        case Implies(body, head):
            return _chain(body, head, shape.variables)
        case Not(body):
            return _chain(body, None, shape.variables)
        case _:
            return None


def _chain(body: Skeleton, head: Skeleton | None, variables: int) -> Chain | None:
    conjuncts = list(_conjuncts(body))
    atoms = [part for part in conjuncts if isinstance(part, AtomShape)]
    if len(atoms) < len(conjuncts):
        return None
    path = _path([_variables([atom]) for atom in atoms], variables)
    if path is None or (head is not None and not _variables(leaves(head)) <= {path[0], path[-1]}):
        return None
    links: list[tuple[int, ...]] = []
    left = atoms
    for pair in pairwise(path):
        links.append(tuple(atom.index for atom in left if _variables([atom]) <= set(pair)))
        left = [atom for atom in left if atom.index not in links[-1]]
    return Chain(path, tuple(links), head)


def _path(pairs: Iterable[set[int]], variables: int) -> tuple[int, ...] | None:
    """Order the variables so that exactly those next to each other share an atom, if that can be done."""
    edges = {frozenset(pair) for pair in pairs if len(pair) == 2}
    neighbours = {v: sorted(other for edge in edges if v in edge for other in edge - {v}) for v in range(variables)}
    ends = [v for v in range(variables) if len(neighbours[v]) == 1]
    if len(ends) != 2 or len(edges) != variables - 1:
        return None
    path = [ends[0]]
    while onward := [v for v in neighbours[path[-1]] if v not in path]:
        path.append(onward[0])
    return tuple(path) if len(path) == variables else None


def _conjuncts(formula: Skeleton) -> Iterator[Skeleton]:
    if isinstance(formula, And):
        for part in formula.formulas:
            yield from _conjuncts(part)
    else:
        yield formula


def _variables(atoms: Iterable[AtomShape]) -> set[int]:
    return {slot.index for atom in atoms for slot in atom.slots if slot.kind == "variable"}


class ChainPrefix:
    """The first links of a longer chain as one matrix: max_y min(left(x, y), right(y, z))."""

    def __init__(self, left: Matrix, right: Conjunction, entities: int, memory: Memory) -> None:
        self.left = left
        self.right = right
        self.entities = entities
        self.memory = memory

    @cached_property
    def middles(self) -> SortedMiddles:
        """The candidates in between, from the side of z, since rows are asked for."""
        return SortedMiddles.of(self.right.transposed(), self.entities, self.memory)

    def rows(self, ids: Tensor) -> Tensor:
        """Return rows: ids [b] → [b, entities]."""
        left = self.left.rows(ids)
        return self.middles.product(left, torch.full_like(left.T, -torch.inf)).T.contiguous()


class ChainCheck:
    """Checks one chain clause: φ(body) is the largest over the middle variables, and min over the atoms."""

    def __init__(self, scores: ClauseScores, chain: Chain, memory: Memory) -> None:
        self.entities = scores.predictor.num_entities
        self.chain = chain
        self.memory = memory
        path = chain.variables
        self.links = [
            Conjunction(tuple(scores.atom(index, path[i], path[i + 1]) for index in link))
            for i, link in enumerate(chain.links)
        ]
        self.prefixes: list[Matrix] = [self.links[0]]
        for link in self.links[1:-1]:
            self.prefixes.append(ChainPrefix(self.prefixes[-1], link, self.entities, memory))
        self.threshold = scores.semantics if isinstance(scores.semantics, Threshold) else None
        self.head: FormulaScores | None = None
        if chain.head is not None:
            head = negation_normal(Not(chain.head)) if self.threshold else chain.head
            self.head = scores.formula(head, path[0], path[-1])

    def run(self, tally: Tally, advance: Callable[[int], None]) -> list[int]:
        """Tally all pairs of ends; return the entities of the worst assignment by variable."""
        left, right, head = self.prefixes[-1], self.links[-1].transposed(), self.head
        # A product is costly: in a longer chain each of its rows is asked for once, as a column of the other side.
        swapped = len(self.links) > 2 or self._prefers_the_other_side(left, right)
        if swapped:
            left, right = right, left
        elif head is not None:
            head = head.transposed()
        middles = SortedMiddles.of(left, self.entities, self.memory)
        everyone = torch.arange(self.entities, device=self.memory.device)
        for ids in everyone.split(self.memory.columns(self.entities, matrices=8)):
            columns = right.rows(ids)
            exists = None if head is None else head.exists(ids)
            violation = self._violation(middles, columns, None if head is None else head.value(ids).T, exists)
            tally.add(violation, None if exists is None else exists.T, 0, int(ids[0]))
            advance(len(ids))
        ends = (tally.column, tally.row) if swapped else (tally.row, tally.column)
        return self._with_middles(*ends)

    def _violation(self, middles: SortedMiddles, columns: Tensor, head: Tensor | None, exists: Tensor | None) -> Tensor:
        """Return the violation of pairs of ends, given the head's value: [entities, columns].

        The floor is what the body must exceed to violate the clause. Nothing exceeds infinity, so that no middle is
        looked for where the head holds or a pair has no head.
        """
        if self.threshold is None:
            floor = torch.zeros_like(columns.T) if head is None else head.contiguous()
        else:
            floor = torch.full_like(columns.T, self.threshold.body)
            if head is not None:  # how far it fails
                floor = torch.where(head > 0, floor, torch.inf)
        if exists is not None:
            floor = torch.where(exists.T, floor, torch.inf)
        body = middles.product(columns, floor)
        if self.threshold is None:
            return body - floor
        excess = body - self.threshold.body
        return excess if head is None else torch.minimum(excess, head).relu_()

    def _prefers_the_other_side(self, left: Matrix, right: Matrix) -> bool:
        """Say whether candidates in the order of the second end's scores are settled sooner, by a sample."""
        count = min(_SAMPLE, self.memory.columns(self.entities, matrices=8))
        ids = torch.linspace(0, self.entities - 1, count, device=self.memory.device).long()
        one, other = left.rows(ids), right.rows(ids)
        depths = [0, 0]
        for scores in one:
            body = torch.minimum(scores, other).amax(1, keepdim=True)  # [sample, 1]
            depths[0] += int((scores > body).sum())
            depths[1] += int((other > body).sum())
        return depths[1] < depths[0]

    def _with_middles(self, first: int, last: int) -> list[int]:
        """Find the middles of one pair of ends, from the last to the first."""
        start = torch.tensor([first], device=self.memory.device)
        found = torch.tensor([last], device=self.memory.device)
        entities = {self.chain.variables[0]: first, self.chain.variables[-1]: last}
        for i in reversed(range(len(self.prefixes))):
            body = torch.minimum(self.prefixes[i].rows(start), self.links[i + 1].transposed().rows(found))
            found = body.argmax(1)
            entities[self.chain.variables[i + 1]] = int(found)
        return [entities[variable] for variable in sorted(entities)]
