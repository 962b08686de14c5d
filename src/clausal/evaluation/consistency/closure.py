"""The least scores that obey all demands: those of the facts, raised until every head has at least its body's.

A symbol below which there are edges alone is the largest of a few rows. Other demands need tables of all pairs: a table
is kept of every symbol that such a body speaks of, if demands raise it, and of symbols that depend on themselves, which
are raised in rounds until nothing rises. Widest paths have a shorter way: a transitive symbol, and one that is carried
along the steps of another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from clausal.errors import RunError, count
from clausal.evaluation.consistency.bodies import raise_by
from clausal.evaluation.consistency.demands import Claim, Demand, Demands
from clausal.evaluation.consistency.facts import FactScores
from clausal.evaluation.consistency.memory import free_memory
from clausal.evaluation.consistency.widest import widen_
from clausal.evaluation.entities.matrices import DEFAULT_MEMORY, Memory
from clausal.evaluation.entities.middles import SortedMiddles
from clausal.evaluation.known import Known
from clausal.observer import Observer

_ROWS_AT_ONCE = 512


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
        self._diagonals: dict[int, Tensor] = {}
        self._done = 0

    def answers(self, symbol: int, turned: bool, ids: Tensor) -> Tensor:
        """Return rows of a symbol's table, or of that turned round: ids [b] → [b, entities]."""
        symbol, turned = self._standing_for(symbol, turned)
        if symbol not in self._kept and symbol in self.demands.needs(symbol):
            self._keep(symbol)
        if symbol in self._kept:
            table = self._kept[symbol]
            return table[:, ids].T.contiguous() if turned else table[ids]
        best = self._by_edges(symbol, turned, ids)
        for demand in self.demands.of(symbol):
            raise_by(self, demand.turned() if turned else demand, ids, best)
        return best

    def keep(self, symbol: int) -> None:
        """Compute the whole table of a symbol that demands raise, once: many of its rows will be asked for."""
        symbol, _ = self._standing_for(symbol, False)
        if self.demands.of(symbol):
            self._keep(symbol)

    def rows(self, symbol: int, turned: bool, ids: Tensor) -> Tensor:
        """Return rows for a body, which asks for all of them sooner or later."""
        self.keep(symbol)
        return self.answers(symbol, turned, ids)

    def pairs(self, symbol: int, subjects: Tensor, objects: Tensor) -> Tensor:
        """Return the scores of facts of one symbol [facts]."""
        symbol, turned = self._standing_for(symbol, False)
        if turned:
            subjects, objects = objects, subjects
        if symbol in self._kept:
            return self._kept[symbol][subjects, objects]
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

    def raise_by_product(self, left: Tensor, columns: Callable[[Tensor], Tensor], best: Tensor) -> bool:
        """Raise best [b, entities] to max_y min(left(x, y), right(y, z)); say whether anything rose."""
        memory = Memory(DEFAULT_MEMORY, self.device)
        middles = _sorted_middles(left, memory)
        rose = False
        everyone = torch.arange(self.entities, device=self.device)
        for ids in everyone.split(memory.columns(max(len(left), self.entities), matrices=8)):
            floor = best[:, ids].contiguous()
            found = middles.product(columns(ids).contiguous(), floor)
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
        best: Tensor | None = None
        for lower, inverse in sorted(self.demands.below(symbol)):
            if lower < self.demands.relations:
                rows = self.facts.rows(lower, turned != inverse, ids)
                best = rows if best is None else torch.maximum(best, rows, out=best)
                self._mark_known(best, lower, turned != inverse, ids)
        return self.least((len(ids), self.entities)) if best is None else best

    def _mark_known(self, rows: Tensor, relation: int, turned: bool, ids: Tensor) -> None:
        asked = ids.cpu().numpy().astype(np.int64)
        answers, counts = (
            self.known.subjects.find(relation * self.entities + asked)
            if turned
            else self.known.objects.find(asked * self.demands.relations + relation)
        )
        places = torch.from_numpy(np.repeat(np.arange(len(asked)), counts)).to(self.device)
        rows[places, torch.from_numpy(answers.astype(np.int64)).to(self.device)] = torch.inf

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

    def _keep(self, symbol: int) -> None:
        if symbol in self._kept:
            return
        needed = self.demands.needs(symbol)
        group = sorted({other for other in needed if symbol in self.demands.needs(other)} | {symbol})
        for other in sorted(needed - set(group)):
            self.keep(other)
        self._check_memory(len(group))
        for one in group:
            self._kept[one] = torch.cat([self._by_edges(one, False, ids) for ids in self.blocks()])
        if len(group) == 1:
            self._close_one(symbol)
        else:
            self._close_in_rounds([(one, self.demands.of(one)) for one in group])

    def _check_memory(self, more: int) -> None:
        """Refuse tables that do not fit: those that are kept, and two to work with."""
        size = self.entities**2 * self.dtype.itemsize
        free = free_memory(self.device) if self.memory is None else self.memory - size * len(self._kept)
        if (more + 2) * size > free:
            raise RunError(
                f"consistent answers by these clauses need {count(more + 2, 'more table')} of {self.entities:,} × "
                f"{self.entities:,} scores, {(more + 2) * size / 2**30:.1f} GiB, and {max(0, free) / 2**30:.1f} GiB are "
                "free; name fewer clauses with several atoms in the body: --clauses FILE (those of one atom need no tables)"
            )

    def _close_one(self, symbol: int) -> None:
        """Raise a symbol's table to all demands on it."""
        table, everyone = self._kept[symbol], torch.arange(self.entities, device=self.device)
        demands = self.demands.of(symbol)
        own = [demand for demand in demands if all(claim.symbol != symbol for claim in demand.body)]
        again = [demand for demand in demands if demand not in own]
        for demand in own:
            raise_by(self, demand, everyone, table)
        symmetric = (symbol, True) in self.demands.below(symbol)
        links = [_carried(demand) for demand in again]
        if not again:
            return
        if all(_is_transitive(demand) for demand in again):
            widen_(table, self.raise_by_product, symmetric=symmetric)
        elif not symmetric and None not in links:
            self._carry(table, [link for link in links if link is not None])
        else:
            self._close_in_rounds([(symbol, again)])

    def _carry(self, table: Tensor, links: Sequence[tuple[Claim, bool]]) -> None:
        """Raise a table by demands S(X, Y), table(Y, Z) ⇒ table(X, Z) along widest paths of S, and those on its right."""
        for on_the_right in (False, True):
            claims = [claim for claim, right in links if right == on_the_right]
            if not claims:
                continue
            steps = self._steps(claims, asked=int(on_the_right))  # (X, Y) by X, which is 0; (Y, Z) by Z, which is 1
            lone = claims[0].symbol if len(claims) == 1 else None
            symmetric = lone is not None and (lone, True) in self.demands.below(lone)
            widen_(steps, self.raise_by_product, symmetric=symmetric)
            target = table.T if on_the_right else table
            self.raise_by_product(steps, lambda ids, target=target: target[:, ids].T, target)

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


def _is_transitive(demand: Demand) -> bool:
    symbol = demand.head.symbol
    return demand.head[1:] == (0, 1) and set(demand.body) == {Claim(symbol, 0, 2), Claim(symbol, 2, 1)}


def _carried(demand: Demand) -> tuple[Claim, bool] | None:
    """Return the step S of S(X, Y), t(Y, Z) ⇒ t(X, Z), or of t(X, Y), S(Y, Z) ⇒ t(X, Z), and whether it is the latter."""
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

    def __init__(self, values: Tensor) -> None:
        self.values = values

    def rows(self, ids: Tensor) -> Tensor:
        return self.values[ids]


def _sorted_middles(left: Tensor, memory: Memory) -> SortedMiddles:
    """Sort the best candidates of every row of a table [b, entities]."""
    entities = left.shape[1]
    kept = memory.depth(max(left.shape))
    tops = [rows.topk(min(kept + 1, entities), dim=1) for rows in left.split(max(1, memory.rows(entities, matrices=4)))]
    values = torch.cat([top.values for top in tops])
    ids = torch.cat([top.indices[:, :kept].int() for top in tops])
    if kept >= entities:
        values = torch.cat([values, values.new_full((len(left), 1), -torch.inf)], 1)
    return SortedMiddles(_Rows(left), values, ids, memory)
