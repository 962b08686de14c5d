"""What a demand says of single numbers: an integer combination of them is 0, or is not above 0.

A condition is about one parameter of each of some relations, or one component of each of some entities, and holds for
all columns of an orbit alike. It is proven on numbers as they are stored, without rounding.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import fsum, gcd

import torch
from torch import Tensor

from clausal.adversary.hard.demands import Below, Matrix
from clausal.model.orders import Orbits

Node = tuple[int, int]
"""A row of a table, and which member of an orbit."""
_SURE = 2.0**-40
"""Sums in double precision are off by less than this, relative to the sum of sizes."""


@dataclass(frozen=True)
class Condition:
    """Σ coefficient · number ≤ 0, or = 0 where ``equal``."""

    terms: tuple[tuple[Node, int], ...]
    equal: bool

    @property
    def ordered(self) -> bool:
        """Whether it says that one number is at most another, or that two are equal up to their signs."""
        return [abs(factor) for _, factor in self.terms] == [1, 1] and (
            self.equal or sum(factor for _, factor in self.terms) == 0
        )

    def proven(self, numbers: Callable[[Node], Tensor]) -> bool:
        """Tell whether numbers [columns] of the nodes obey it, to the last bit."""
        factors = [factor for _, factor in self.terms]
        values = torch.stack([numbers(node) for node, _ in self.terms]).double()
        if self.equal and len(factors) == 1:
            return bool((values == 0).all())
        if self.equal:
            return self.ordered and torch.equal(factors[0] * values[0], -factors[1] * values[1])
        products = torch.tensor(factors, device=values.device).unsqueeze(1) * values
        unsure = products.sum(0) > -_SURE * products.abs().sum(0)
        # A sum by fsum is rounded once, so that its sign is right.
        exact = (
            fsum(
                value if factor > 0 else -value
                for value, factor in zip(column, factors, strict=True)
                for _ in range(abs(factor))
            )
            for column in values[:, unsure].T.tolist()
        )
        return all(total <= 0 for total in exact)


def conditions_of(demand: Below, orbits: Orbits) -> Iterator[Condition]:
    """Say what a demand asks of the parameters of each orbit.

    Where what stands beside the parameters can have both signs, it asks for equal ones: of several bodies or heads all
    are made equal there, and all are 0 where a side is empty.
    """
    for member in range(1 if demand.matrices[0].way == "both" else len(orbits.columns)):
        bodies = [_entries(matrix, orbits, member) for matrix in demand.bodies]
        heads = [_entries(matrix, orbits, member) for matrix in demand.heads]
        terms = _merged(
            [(one, len(heads) or 1) for entries in bodies for one in entries]
            + [(one, -(len(bodies) or 1)) for entries in heads for one in entries]
        )
        if not orbits.equal or len(terms) <= 1 or [abs(factor) for _, factor in terms] == [1, 1]:
            found = [terms]
        elif bodies and heads:
            found = [
                _merged([(one, 1), (other, -1)])
                for body in bodies
                for head in heads
                for one, other in zip(body, head, strict=True)
            ]
        else:
            found = [((node, 1),) for node, _ in terms]
        yield from (Condition(one, orbits.equal) for one in found if one)


def non_negative(relation: int, orbits: Orbits) -> Iterator[Condition]:
    """Say what M(r) ≥ 0 asks of the parameters of each orbit."""
    for member in range(len(orbits.columns)):
        yield Condition((((relation, member), -1),), orbits.equal)


def classes_below(bodies: tuple[int, ...], head: int) -> Iterator[Condition]:
    """Say what the mean of entities' vectors being below another's asks of each component."""
    terms = _merged([(((entity, 0), 1), 1) for entity in bodies] + [(((head, 0), 1), -len(bodies))])
    if terms:
        yield Condition(terms, False)


def _entries(matrix: Matrix, orbits: Orbits, member: int) -> list[tuple[Node, int]]:
    """Return the parameters, with signs, whose sum is an entry of a matrix; twice the entry for ``both``."""
    last = len(orbits.columns) - 1
    if matrix.way == "straight":
        return [((matrix.relation, member), 1)]
    if matrix.way == "turned":
        return [((matrix.relation, last - member), orbits.sign)]
    return [((matrix.relation, 0), 1), ((matrix.relation, last), orbits.sign)]


def _merged(weighed: list[tuple[tuple[Node, int], int]]) -> tuple[tuple[Node, int], ...]:
    """Add up the coefficients of each number, and divide by what they share."""
    total: Counter[Node] = Counter()
    for (node, sign), weight in weighed:
        total[node] += sign * weight
    shared = gcd(*total.values()) or 1
    return tuple((node, factor // shared) for node, factor in total.items() if factor)
