"""Queries with their answers: the two of each fact (1-vs-all), or the distinct ones of train (k-vs-all)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import torch
from torch import Tensor

from clausal.model.predictor import LinkPredictor
from clausal.model.tensors import ranges


@dataclass(frozen=True, eq=False)
class Answers:
    """The answers of queries, query after query; ``shares`` of one query add up to 1."""

    rows: Tensor  # [answers], which query each one answers
    entities: Tensor  # [answers]
    shares: Tensor  # [answers]
    starts: list[int] | None = None  # where each query's answers start, and the last one's end; None if one each

    @staticmethod
    def one_each(entities: Tensor) -> Answers:
        """Return one answer to each query."""
        places = torch.arange(len(entities), device=entities.device)
        return Answers(places, entities, torch.ones(len(entities), device=entities.device))

    def of_rows(self, start: int, stop: int) -> Answers:
        """Return the answers of some consecutive queries."""
        own = slice(start, stop) if self.starts is None else slice(self.starts[start], self.starts[stop])
        return Answers(self.rows[own] - start, self.entities[own], self.shares[own])


@dataclass(frozen=True, eq=False)
class Queries:
    """Queries (s, r, ?), and after them queries (?, r, o)."""

    known: Tensor  # [queries], s or o
    relations: Tensor  # [queries]
    forward: int  # how many ask for an object
    answers: Answers

    @property
    def entities(self) -> Tensor:
        """The entities whose vectors a batch needs: what is known in each query, then the answers."""
        return torch.cat([self.known, self.answers.entities])

    def relation_rows(self, predictor: LinkPredictor) -> Tensor:
        """Return the row of the relation table that answers each query: that of r⁻¹ for (?, r, o), if there is one."""
        forward, backward = self.relations.tensor_split([self.forward])
        return torch.cat([forward, predictor.inverse(backward)])


class QuerySource(ABC):
    """What a pass goes through, and the queries that a batch of it stands for."""

    rows: Tensor
    """What a pass shuffles and cuts into batches [rows, ...]."""

    @abstractmethod
    def queries(self, rows: Tensor) -> Queries:
        """Return the queries of a batch of rows."""


class OneVsAll(QuerySource):
    """Both queries of each fact, with that fact's answer alone.

    A row asks for the object of one fact and for the subject of another, always the same two. Both queries of one fact
    in a batch would say much the same of its vectors, and it would learn more slowly.
    """

    def __init__(self, facts: Tensor) -> None:
        others = torch.randperm(len(facts), generator=torch.Generator().manual_seed(0)).to(facts.device)
        self.rows = torch.cat([facts, facts[others]], dim=1)  # [facts, 6]

    def queries(self, rows: Tensor) -> Queries:
        return ask(rows[:, :3], rows[:, 3:])


def ask(for_object: Tensor, for_subject: Tensor) -> Queries:
    """Return the queries for the object of facts [b, 3], and for the subject of others [c, 3]."""
    answers = torch.cat([for_object[:, 2], for_subject[:, 0]])
    known = torch.cat([for_object[:, 0], for_subject[:, 2]])
    relations = torch.cat([for_object[:, 1], for_subject[:, 1]])
    return Queries(known, relations, len(for_object), Answers.one_each(answers))


class KVsAll(QuerySource):
    """Each distinct query of train once, with all its answers there."""

    def __init__(self, facts: Tensor, num_entities: int) -> None:
        subject, relation, object = facts.long().unbind(1)
        forward, backward = torch.zeros_like(relation), torch.ones_like(relation)
        asked = torch.stack(
            [torch.cat([forward, backward]), torch.cat([relation, relation]), torch.cat([subject, object])], 1
        )
        self.asked, which = torch.unique(asked, dim=0, return_inverse=True)  # [queries, 3]: side, relation, known
        keys = torch.unique(which * num_entities + torch.cat([object, subject]))  # sorted, repeated facts once
        self.entities = keys % num_entities
        starts = torch.searchsorted(keys, torch.arange(len(self.asked) + 1, device=facts.device) * num_entities)
        self.starts, self.stops = starts[:-1], starts[1:]
        self.rows = torch.arange(len(self.asked), device=facts.device).unsqueeze(1)

    def queries(self, rows: Tensor) -> Queries:
        places = rows.squeeze(1).sort().values  # queries are sorted by side: those for objects come first
        side, relations, known = self.asked[places].unbind(1)
        start, stop = self.starts[places], self.stops[places]
        counts = stop - start
        which, positions = ranges(start, stop)
        begins = [0, *counts.cumsum(0).tolist()]
        answers = Answers(which, self.entities[positions], 1 / counts[which], begins)
        return Queries(known, relations, int((side == 0).sum()), answers)
