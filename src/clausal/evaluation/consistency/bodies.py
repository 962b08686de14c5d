"""The least score of a body, for the best entities in its other variables: variable after variable is put away.

The claims of a body are tables over pairs of variables. A variable that no head asks for goes by a maximum over its
entities: beside one other variable it leaves a vector, between two others the (max, min) product of two tables. One
that has more neighbours is tried entity by entity. Nothing is sampled, and no table has more than two variables.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Protocol, TypeAlias

import torch
from torch import Tensor

from clausal.evaluation.consistency.demands import Claim, Demand

Columns: TypeAlias = Callable[[Tensor], Tensor]
"""The columns of a table, ids [k] → [k, entities]."""


class Tables(Protocol):
    """The scores of symbols: tables [entities, entities] of which some rows are asked for."""

    @property
    def entities(self) -> int:
        """How many entities there are."""

    @property
    def device(self) -> torch.device:
        """Where tables are."""

    def rows(self, symbol: int, turned: bool, ids: Tensor) -> Tensor:
        """Return rows of a symbol's table, or of that turned round: ids [b] → [b, entities]."""

    def diagonal(self, symbol: int) -> Tensor:
        """Return the scores of all entities with themselves [entities]."""

    def raise_by_product(self, left: Tensor, right: Columns, best: Tensor) -> bool:
        """Raise best [b, entities] to max_y min(left(x, y), right(y, z)), left [b, entities]; say whether any rose."""

    def blocks(self) -> Iterator[Tensor]:
        """Yield all entities, some at a time."""

    def least(self, shape: tuple[int, ...]) -> Tensor:
        """Return a table that anything raises."""

    def greatest(self) -> Tensor:
        """Return what is above all scores, as a tensor of no dimension."""


class _Table(Protocol):
    """A table over two variables."""

    def rows(self, variable: int, ids: Tensor) -> Tensor:
        """Return its rows where that variable has these entities: [b, entities]."""


@dataclass(frozen=True)
class _OfClaim:
    tables: Tables
    claim: Claim

    def rows(self, variable: int, ids: Tensor) -> Tensor:
        return self.tables.rows(self.claim.symbol, variable == self.claim.object, ids)


@dataclass(frozen=True)
class _Whole:
    """A table that was computed; for the row's variable it has the rows that were asked for."""

    first: int
    values: Tensor
    of_row: bool = False

    def rows(self, variable: int, ids: Tensor) -> Tensor:
        if variable != self.first:
            return self.values[:, ids].T
        return self.values if self.of_row else self.values[ids]


@dataclass(frozen=True)
class _Least:
    """The least of several tables over the same two variables."""

    tables: Sequence[_Table]

    def rows(self, variable: int, ids: Tensor) -> Tensor:
        return reduce(torch.minimum, [table.rows(variable, ids) for table in self.tables])


def raise_by(tables: Tables, demand: Demand, ids: Tensor, best: Tensor) -> bool:
    """Raise rows [b, entities] of the head's table to what a body demands; say whether anything rose."""
    head = demand.head
    if head.subject < 0:  # an entity: its row alone
        places = (ids == ~head.subject).nonzero().squeeze(1)
        if not len(places):
            return False
        variable = max([-1, *(term for claim in (*demand.body, head) for term in claim.variables)]) + 1
        free = Demand(demand.body, head._replace(subject=variable))
        own = best[places]
        rose = _Body(tables, free, ids[places]).raise_(own)
        best[places] = own
        return rose
    return _Body(tables, demand, ids).raise_(best)


class _Body:
    """The tables of a body's claims: of pairs of variables, of single ones, and numbers."""

    def __init__(self, tables: Tables, demand: Demand, ids: Tensor) -> None:
        self.tables, self.demand, self.ids = tables, demand, ids
        self.row, self.column = demand.head.subject, demand.head.object
        self.numbers: list[Tensor] = []
        self.vectors: dict[int, Tensor] = {}
        self.pairs: dict[frozenset[int], list[_Table]] = {}

    def raise_(self, best: Tensor) -> bool:
        hard = self._most_neighbours()
        if hard is not None:
            rose = False
            for entity in range(self.tables.entities):
                body = tuple(_with_entity(claim, hard, entity) for claim in self.demand.body)
                rose |= raise_by(self.tables, self.demand._replace(body=body), self.ids, best)
            return rose
        for claim in self.demand.body:
            self._add(claim)
        while (variable := self._next()) is not None:
            neighbours = sorted(self._neighbours(variable), key=lambda one: one != self.row)
            if len(neighbours) == 2 and set(neighbours) == {self.row, self.column} and self._is_last(variable):
                return self._raise_between(variable, best)
            self._put_away(variable, neighbours)
        return self._raise(self._value(), best)

    def _most_neighbours(self) -> int | None:
        """Return a variable to try entity by entity, where some cannot be put away between two others."""
        links = [claim.variables for claim in self.demand.body if len(claim.variables) == 2]
        edges = {frozenset(link) for link in links}
        inner = {variable for edge in edges for variable in edge} - {self.row, self.column}
        while inner:
            degree = {one: len({other for edge in edges if one in edge for other in edge}) - 1 for one in inner}
            least = min(inner, key=lambda one: (degree[one], one))
            if degree[least] > 2:
                return max(inner, key=lambda one: (degree[one], one))
            around = {other for edge in edges if least in edge for other in edge} - {least}
            edges = {edge for edge in edges if least not in edge} | ({frozenset(around)} if len(around) == 2 else set())
            inner.remove(least)
        return None

    def _add(self, claim: Claim) -> None:
        symbol, subject, object = claim
        if subject < 0 and object < 0:
            self.numbers.append(self._row_of(symbol, False, ~subject)[~object])
        elif subject < 0 or object < 0:
            turned = object < 0
            self._add_vector(subject if turned else object, self._row_of(symbol, turned, ~min(subject, object)))
        elif subject == object:
            self._add_vector(subject, self.tables.diagonal(symbol))
        else:
            self.pairs.setdefault(frozenset((subject, object)), []).append(_OfClaim(self.tables, claim))

    def _row_of(self, symbol: int, turned: bool, entity: int) -> Tensor:
        return self.tables.rows(symbol, turned, torch.tensor([entity], device=self.tables.device))[0]

    def _add_vector(self, variable: int, values: Tensor, *, of_row: bool = False) -> None:
        """Add a vector over all entities, or over those of the rows that were asked for."""
        if variable == self.row and not of_row:
            values = values[self.ids]
        old = self.vectors.get(variable)
        self.vectors[variable] = values if old is None else torch.minimum(old, values)

    def _inner(self) -> set[int]:
        return {one for pair in self.pairs for one in pair} | set(self.vectors)

    def _neighbours(self, variable: int) -> set[int]:
        return {one for pair in self.pairs if variable in pair for one in pair} - {variable}

    def _next(self) -> int | None:
        inner = self._inner() - {self.row, self.column}
        return min(inner, key=lambda one: (len(self._neighbours(one)), one), default=None)

    def _is_last(self, variable: int) -> bool:
        return self._inner() <= {self.row, self.column, variable}

    def _between(self, variable: int, other: int) -> _Table:
        """Take the table of two variables, the vector of the first in it."""
        return _Least(self.pairs.pop(frozenset((variable, other))))

    def _rows(self, table: _Table, variable: int, other: int, ids: Tensor) -> Tensor:
        """Return rows of a table over (variable, other), with the vector of the other in it."""
        rows = table.rows(variable, ids)
        vector = self.vectors.get(other)
        return rows if vector is None else torch.minimum(rows, vector)

    def _put_away(self, variable: int, neighbours: Sequence[int]) -> None:
        tables = [self._between(variable, one) for one in neighbours]
        if not neighbours:
            self.numbers.append(self.vectors[variable].amax())
        elif len(neighbours) == 1:
            (kept,) = neighbours
            self._add_vector(kept, self._largest(tables[0], kept, variable), of_row=kept == self.row)
        else:
            (first, second), (left, right) = neighbours, tables
            ids = self.ids if first == self.row else torch.arange(self.tables.entities, device=self.tables.device)
            rows = self._rows(left, first, variable, ids)
            found = self.tables.least((len(ids), self.tables.entities))
            self.tables.raise_by_product(rows, lambda some: right.rows(second, some), found)
            self.pairs.setdefault(frozenset(neighbours), []).append(_Whole(first, found, first == self.row))
        self.vectors.pop(variable, None)

    def _largest(self, table: _Table, kept: int, variable: int) -> Tensor:
        """Return the largest of each row of a table over (kept, variable)."""
        if kept == self.row:
            return self._rows(table, kept, variable, self.ids).amax(1)
        return torch.cat([self._rows(table, kept, variable, ids).amax(1) for ids in self.tables.blocks()])

    def _raise_between(self, variable: int, best: Tensor) -> bool:
        """Put the last variable away, between row and column, where the rest of the body leaves something to raise."""
        left, right = self._between(variable, self.row), self._between(variable, self.column)
        rows = self._rows(left, self.row, variable, self.ids)
        rest = self._rest()
        if rest is None:
            return self.tables.raise_by_product(rows, lambda some: right.rows(self.column, some), best)
        floor = torch.where(rest > best, best, self.tables.greatest())
        self.tables.raise_by_product(rows, lambda some: right.rows(self.column, some), floor)
        return self._raise(torch.where(rest > best, torch.minimum(floor, rest), best), best)

    def _rest(self) -> Tensor | None:
        """Return the least of all that is left, over row and column; None where nothing is."""
        parts = [number.reshape(1, 1) for number in self.numbers]
        if self.row in self.vectors:
            parts.append(self.vectors[self.row].unsqueeze(1))
        if self.column in self.vectors and self.column != self.row:
            parts.append(self.vectors[self.column].unsqueeze(0))
        pair = self.pairs.get(frozenset((self.row, self.column)))
        if pair is not None:
            parts.append(_Least(pair).rows(self.row, self.ids))
        return reduce(torch.minimum, parts) if parts else None

    def _value(self) -> Tensor:
        rest = self._rest()
        return self.tables.greatest().reshape(1, 1) if rest is None else rest

    def _raise(self, value: Tensor, best: Tensor) -> bool:
        """Raise what the head speaks of: the diagonal, one column, or all."""
        if self.column == self.row:
            rows = torch.arange(len(self.ids), device=best.device)
            old = best[rows, self.ids]
            new = torch.maximum(old, value.expand(len(rows), 1)[:, 0])
            best[rows, self.ids] = new
        elif self.column < 0:
            old = best[:, ~self.column].clone()
            new = torch.maximum(old, value.expand(len(best), 1)[:, 0])
            best[:, ~self.column] = new
        else:
            rose = bool((value > best).any())
            if rose:
                torch.maximum(best, value, out=best)
            return rose
        return bool((new > old).any())


def _with_entity(claim: Claim, variable: int, entity: int) -> Claim:
    return Claim(claim.symbol, *(~entity if term == variable else term for term in claim[1:]))
