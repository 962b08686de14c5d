"""The least scores that obey all demands: those of the facts, raised until every head has at least its body's.

A symbol below which there are edges alone is the largest of a few rows. Other demands need tables of all pairs: a table
is kept of every symbol that such a body speaks of, if demands raise it, and of symbols that depend on themselves, which
are raised in rounds until nothing rises. Widest paths have a shorter way: a transitive symbol, and one that is carried
along the steps of another.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from clausal.errors import RunError, count
from clausal.evaluation.consistency.bodies import Columns, raise_by
from clausal.evaluation.consistency.demands import Claim, Demand, Demands
from clausal.evaluation.consistency.facts import FactScores
from clausal.evaluation.consistency.widest import widen_
from clausal.evaluation.entities.matrices import DEFAULT_MEMORY, Memory
from clausal.evaluation.entities.middles import SortedMiddles
from clausal.evaluation.known import Known
from clausal.evaluation.memory import free_memory
from clausal.evaluation.protocol import not_numbers
from clausal.fast import fastest
from clausal.observer import Observer

_ROWS_AT_ONCE = 512
_TO_RAISE, _TO_PATH = 2, 8
"""Tables to work with: of a product, and where a symbol depends on itself."""
_PLENTY = 2 * _TO_PATH
"""Tables that there must be room for where one is kept that can be computed again."""
_NUMBERS_AT_ONCE = 1 << 22
"""Scores of readings at once: fewer make slow products, and more take no less time."""


class Rows(NamedTuple):
    """Rows of scores without what is certain, which facts are, and what these score by themselves."""

    scores: Tensor  # [b, entities]
    certain: Tensor  # [certain, 2]
    own: Tensor  # [certain]


class Closure:
    """Scores of symbols, raised to what clauses demand; what is known scores +∞."""

    def __init__(
        self,
        facts: FactScores,
        demands: Demands,
        known: Known,
        *,
        entities: int,
        device: torch.device,
        memory: int | None = None,
        observer: Observer | None = None,
    ) -> None:
        self.facts, self.demands, self.known = facts, demands, known
        self.entities, self.device = entities, device
        self.memory = memory
        self.observer = observer or Observer()
        self._kept: dict[int, Tensor] = {}
        self._of_bodies: dict[int, Tensor] = {}
        self._some: dict[tuple[int, bool], tuple[Tensor, Tensor]] = {}
        self._diagonals: dict[int, Tensor] = {}
        self._done = 0

    def answers(self, symbol: int, turned: bool, ids: Tensor) -> Tensor:
        """Return rows of a symbol's table, or of that turned round: ids [b] → [b, entities]."""
        symbol, turned = self._standing_for(symbol, turned)
        if symbol not in self._kept and symbol in self.demands.needs(symbol):
            self._keep(symbol)
        table = self._table(symbol)
        if table is not None:
            return table[:, ids].T.contiguous() if turned else table[ids]
        if (symbol, turned) in self._some:
            places, rows = self._some[symbol, turned]
            if bool((places[ids] >= 0).all()):
                return rows[places[ids]]
        best = self._by_edges(symbol, turned, ids)
        for demand in self.demands.of(symbol):
            raise_by(self, demand.turned() if turned else demand, ids, best)
        return best

    def keep(self, symbol: int) -> None:
        """Compute the whole table of a symbol that demands raise, once: many of its rows will be asked for."""
        symbol, _ = self._standing_for(symbol, False)
        if self.demands.of(symbol):
            self._keep(symbol)

    def prepare(self, symbol: int, subjects: Tensor, objects: Tensor) -> None:
        """Compute rows and columns of a symbol that stands for others, once; its whole table where these are many."""
        if not self.demands.of(symbol):
            return
        if len(subjects) + len(objects) > self.entities // 2 or symbol in self.demands.needs(symbol):
            self._keep(symbol)
        elif symbol not in self._kept:
            for turned, ids in ((False, subjects), (True, objects)):
                rows = self.answers(symbol, turned, ids)
                places = torch.full((self.entities,), -1, device=self.device)
                places[ids] = torch.arange(len(ids), device=self.device)
                self._some[symbol, turned] = places, rows

    def rows(self, symbol: int, turned: bool, ids: Tensor) -> Tensor:
        """Return rows for a body, which asks for all of them sooner or later."""
        self.keep(symbol)
        self._keep_for_bodies(symbol)
        found = self.answers(symbol, turned, ids)
        if found.numel() and found.amax().isnan():
            raise not_numbers()
        return found

    def pairs(self, symbol: int, subjects: Tensor, objects: Tensor) -> Tensor:
        """Return the scores of facts of one symbol [facts]."""
        symbol, turned = self._standing_for(symbol, False)
        if turned:
            subjects, objects = objects, subjects
        table = self._table(symbol)
        if table is not None:
            return table[subjects, objects]
        if not self.demands.of(symbol):
            return self._pairs_by_edges(symbol, subjects, objects)
        distinct, places = subjects.unique(return_inverse=True)
        best = torch.empty(0, device=self.device)
        for start in range(0, len(distinct), _ROWS_AT_ONCE):
            rows = self.answers(symbol, False, distinct[start : start + _ROWS_AT_ONCE])
            here = (places >= start) & (places < start + _ROWS_AT_ONCE)
            if not len(best):
                best = rows.new_empty(len(subjects))
            best[here] = rows[places[here] - start, objects[here]]
        return best

    def diagonal(self, symbol: int) -> Tensor:
        """Return the scores of all entities with themselves [entities]."""
        if symbol not in self._diagonals or symbol in self._kept:
            self.keep(symbol)
            everyone = torch.arange(self.entities, device=self.device)
            self._diagonals[symbol] = self.pairs(symbol, everyone, everyone)
        return self._diagonals[symbol]

    def blocks(self) -> Iterator[Tensor]:
        """Yield all entities, some at a time."""
        yield from torch.arange(self.entities, device=self.device).split(_ROWS_AT_ONCE)

    def least(self, shape: tuple[int, ...]) -> Tensor:
        """Return a table that anything raises."""
        return torch.full(shape, -torch.inf, dtype=self.dtype, device=self.device)

    def greatest(self) -> Tensor:
        """Return +∞, as a tensor of no dimension."""
        return torch.tensor(torch.inf, dtype=self.dtype, device=self.device)

    @cached_property
    def dtype(self) -> torch.dtype:
        """The type of scores."""
        nobody = torch.zeros(1, dtype=torch.int64, device=self.device)
        return self.facts.pairs(0, nobody, nobody).dtype

    def raise_by_product(self, left: Tensor, right: Columns, best: Tensor) -> bool:
        """Raise best [b, entities] to max_y min(left(x, y), right(y, z)); say whether anything rose."""
        memory = Memory(DEFAULT_MEMORY, self.device)
        middles = SortedMiddles.of(_Rows(left), self.entities, memory, count=len(left), table=left)
        rose = False
        for ids in torch.arange(self.entities, device=self.device).split(memory.columns(self.entities, matrices=8)):
            floor = best[:, ids].contiguous()
            found = middles.product(right(ids).contiguous(), floor)
            if (found > floor).any():
                rose = True
                best[:, ids] = found
            self._advance(len(ids) * len(left))
        return rose

    def _advance(self, pairs: int) -> None:
        self._done += pairs
        self.observer.advanced("raising scores", self._done, None, "pairs")

    def _standing_for(self, symbol: int, turned: bool) -> tuple[int, bool]:
        other, flipped = self.demands.same[symbol]
        return other, turned != flipped

    def _by_edges(self, symbol: int, turned: bool, ids: Tensor) -> Tensor:
        """Return the largest rows of what is below a symbol by edges."""
        found = self.by_edges(torch.full_like(ids, symbol), turned, ids)
        found.scores[found.certain[:, 0], found.certain[:, 1]] = torch.inf
        return found.scores

    def by_edges(self, symbols: Tensor, turned: bool, ids: Tensor) -> Rows:
        """Return the largest rows of what is below symbols by edges, many at once: [b], [b] → [b, entities].

        Questions of which the same number of rows is looked at are answered together.
        """
        symbols_of = symbols.cpu().numpy()
        distinct, kinds = np.unique(symbols_of, return_inverse=True)
        nodes = [self._below_facts(symbol, turned) for symbol in distinct.tolist()]
        scores = torch.empty(len(ids), self.entities, dtype=self.dtype, device=self.device)
        certain, own = [torch.empty(0, 2, dtype=torch.int64, device=self.device)], [scores.new_empty(0)]
        sizes = np.array([len(one) for one in nodes], np.int64)[kinds.reshape(-1)]
        for size in np.unique(sizes).tolist():
            places = np.flatnonzero(sizes == size)
            if not size:
                scores[torch.from_numpy(places).to(self.device)] = -torch.inf
                continue
            at_once = max(1, _NUMBERS_AT_ONCE // max(1, size * self.entities))
            for start in range(0, len(places), at_once):
                some = places[start : start + at_once]
                below = np.array([nodes[kind] for kind in kinds.reshape(-1)[some]])  # [questions, size, 2]
                here = torch.from_numpy(some).to(self.device)
                rows = self._flat_rows(below, ids[here])
                marked = self._known_answers(below, ids[here])
                own.append(rows[marked[:, 0], 0, marked[:, 1]])
                scores[here] = rows[:, 0] if size == 1 else rows.amax(1)
                marked[:, 0] = here[marked[:, 0]]
                certain.append(marked)
        return Rows(scores, torch.cat(certain), torch.cat(own))

    def known_answers(self, relations: Tensor, turned: bool, ids: Tensor) -> Tensor:
        """Return the known answers of questions: pairs of the place of a question and an entity."""
        below = np.stack([relations.cpu().numpy(), np.full(len(relations), turned)], 1)[:, None]
        return self._known_answers(below.astype(np.int64), ids)

    def _below_facts(self, symbol: int, turned: bool) -> list[tuple[int, bool]]:
        """Return the relations below a symbol, and how they are read; itself first."""
        nodes = sorted(self.demands.below(symbol), key=lambda node: (node != (symbol, False), node))
        return [(lower, inverse != turned) for lower, inverse in nodes if lower < self.demands.relations]

    def _flat_rows(self, below: NDArray[np.int64], ids: Tensor) -> Tensor:
        """Return the rows of several readings of each question: [questions, size, 2] → [questions, size, entities]."""
        questions, size, _ = below.shape
        relations, turned = (
            torch.from_numpy(part.reshape(-1)).to(self.device) for part in (below[..., 0], below[..., 1])
        )
        rows = self.facts.rows(relations, turned.bool(), ids.repeat_interleave(size))
        return rows.view(questions, size, self.entities)

    def _known_answers(self, below: NDArray[np.int64], ids: Tensor) -> Tensor:
        """Return the answers that are known by one of the readings: pairs of the place of a question and an entity."""
        asked = np.repeat(ids.cpu().numpy().astype(np.int64), below.shape[1])
        relations, turned = below[..., 0].reshape(-1), below[..., 1].reshape(-1).astype(np.bool_)
        keys = []
        for here, index, queries in (
            (~turned, self.known.objects, asked * self.demands.relations + relations),
            (turned, self.known.subjects, relations * self.entities + asked),
        ):
            places = np.flatnonzero(here)
            answers, counts = index.find(queries[places])
            keys.append(np.repeat(places // below.shape[1], counts) * self.entities + answers)
        found = np.unique(np.concatenate(keys))
        return torch.from_numpy(np.stack([found // self.entities, found % self.entities], 1)).to(self.device)

    def _pairs_by_edges(self, symbol: int, subjects: Tensor, objects: Tensor) -> Tensor:
        best = self.least((len(subjects),))
        for lower, inverse in sorted(self.demands.below(symbol)):
            if lower < self.demands.relations:
                pair = (objects, subjects) if inverse else (subjects, objects)
                best = torch.maximum(best, self.facts.pairs(lower, *pair).to(best.dtype))
                first, second = (one.cpu().numpy().astype(np.int64) for one in pair)
                known = self.known.objects.contain(first * self.demands.relations + lower, second)
                best[torch.from_numpy(known).to(self.device)] = torch.inf
        return best

    def _table(self, symbol: int) -> Tensor | None:
        found = self._kept.get(symbol)
        return self._of_bodies.get(symbol) if found is None else found

    def _keep_for_bodies(self, symbol: int) -> None:
        """Keep the table of a symbol that no demand raises too, while there is plenty of room: bodies ask again."""
        symbol, _ = self._standing_for(symbol, False)
        if self._table(symbol) is None and self._free() > _PLENTY * self._size:
            self._of_bodies[symbol] = torch.cat([self._by_edges(symbol, False, ids) for ids in self.blocks()])

    def _keep(self, symbol: int) -> None:
        if symbol in self._kept:
            return
        needed = self.demands.needs(symbol)
        group = sorted({other for other in needed if symbol in self.demands.needs(other)} | {symbol})
        for other in sorted(needed - set(group)):
            self.keep(other)
        self._check_memory(len(group), _TO_PATH if symbol in needed else _TO_RAISE)
        for one in group:
            self._kept[one] = torch.cat([self._by_edges(one, False, ids) for ids in self.blocks()])
        if len(group) == 1:
            self._close_one(symbol)
        else:
            self._close_in_rounds([(one, self.demands.of(one)) for one in group])

    @property
    def _size(self) -> int:
        """The size of a table."""
        return self.entities**2 * self.dtype.itemsize

    def _free(self) -> int:
        kept = len(self._kept) + len(self._of_bodies)
        return free_memory(self.device) if self.memory is None else self.memory - self._size * kept

    def _check_memory(self, kept: int, spare: int) -> None:
        """Refuse tables that do not fit: those that will be kept, and some to work with."""
        size, more = self._size, kept + spare
        if more * size > self._free():
            self._of_bodies.clear()
        free = self._free()
        if more * size > free:
            wanted, left = (number / 2**30 for number in (more * size, max(0, free)))
            raise RunError(
                f"consistent answers by these clauses need {count(more, 'table')} more of {self.entities:,} × "
                f"{self.entities:,} scores, {wanted:.1f} GiB, and {left:.1f} GiB are free; "
                "name fewer clauses with several atoms in the body: --clauses FILE (those of one atom need none)"
            )

    def _close_one(self, symbol: int) -> None:
        """Raise a symbol's table to all demands on it."""
        table, everyone = self._kept[symbol], torch.arange(self.entities, device=self.device)
        demands = self.demands.of(symbol)
        own = [demand for demand in demands if all(claim.symbol != symbol for claim in demand.body)]
        again = [demand for demand in demands if demand not in own]
        for demand in own:
            raise_by(self, demand, everyone, table)
        symmetric = self.demands.is_symmetric(symbol)
        links = [_carried(demand) for demand in again]
        if not again:
            return
        if all(_is_transitive(demand, symmetric) for demand in again):
            if symmetric:
                _same_both_ways_(table)
            self._widen(table)
        elif not symmetric and None not in links:
            self._carry(table, [link for link in links if link is not None])
        else:
            self._close_in_rounds([(symbol, again)])

    def _carry(self, table: Tensor, links: Sequence[tuple[Claim, bool]]) -> None:
        """Raise a table by demands S(X, Y), t(Y, Z) ⇒ t(X, Z), along widest paths of S, and by those on its right."""
        for on_the_right in (False, True):
            claims = [claim for claim, right in links if right == on_the_right]
            if not claims:
                continue
            steps = self._steps(claims, asked=int(on_the_right))  # (X, Y) by X, which is 0; (Y, Z) by Z, which is 1
            if all(self.demands.is_symmetric(claim.symbol) for claim in claims):
                _same_both_ways_(steps)
            self._widen(steps, table.T if on_the_right else table)

    def _widen(self, steps: Tensor, carried: Tensor | None = None) -> None:
        widen = fastest(widen_, steps, self.raise_by_product, carried)
        widen(steps, self.raise_by_product, carried)

    def _steps(self, claims: Sequence[Claim], asked: int) -> Tensor:
        """Return the largest of tables, their rows the variable that is asked for."""

        def rows(ids: Tensor) -> Tensor:
            found = [self.answers(claim.symbol, claim.object == asked, ids) for claim in claims]
            return torch.stack(found).amax(0) if len(found) > 1 else found[0]

        return torch.cat([rows(ids) for ids in self.blocks()])

    def _close_in_rounds(self, group: Sequence[tuple[int, Sequence[Demand]]]) -> None:
        everyone = torch.arange(self.entities, device=self.device)
        rose = True
        while rose:
            rose = False
            for symbol, demands in group:
                for demand in demands:
                    self._diagonals.clear()
                    rose |= raise_by(self, demand, everyone, self._kept[symbol])


def _same_both_ways_(table: Tensor) -> None:
    """Take the larger of both ways, which differ by rounding at most."""
    for start in range(0, len(table), _ROWS_AT_ONCE):
        rows, columns = table[start : start + _ROWS_AT_ONCE, start:], table[start:, start : start + _ROWS_AT_ONCE]
        larger = torch.maximum(rows, columns.T)
        rows.copy_(larger)
        columns.copy_(larger.T)


def _is_transitive(demand: Demand, symmetric: bool) -> bool:
    symbol, *ends = demand.head
    steps = {Claim(symbol, 0, 2), Claim(symbol, 1, 2) if symmetric else Claim(symbol, 2, 1)}
    return ends == [0, 1] and set(demand.body) == steps


def _carried(demand: Demand) -> tuple[Claim, bool] | None:
    """Return the step S of S(X, Y), t(Y, Z) ⇒ t(X, Z), or of t(X, Y), S(Y, Z) ⇒ t(X, Z), and if it is the latter."""
    symbol = demand.head.symbol
    own = [claim for claim in demand.body if claim.symbol == symbol]
    others = [claim for claim in demand.body if claim.symbol != symbol]
    if demand.head[1:] != (0, 1) or len(own) != 1 or len(others) != 1:
        return None
    if own[0][1:] == (2, 1) and others[0].variables == {0, 2}:
        return others[0], False
    if own[0][1:] == (0, 2) and others[0].variables == {1, 2}:
        return others[0], True
    return None


class _Rows:
    """A table as the (max, min) product asks for it."""

    def __init__(self, table: Tensor) -> None:
        self.table = table

    def rows(self, ids: Tensor) -> Tensor:
        """Return some of its rows."""
        return self.table[ids]
