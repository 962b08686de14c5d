"""The bodies of answers that the explorer asks for, for the description of the service."""

from __future__ import annotations

from pydantic import BaseModel, Field

from clausal.serve.responses import FactAnswer, Named


class RelationAnswer(Named):
    """A relation with some of its facts."""

    name: str
    short: str
    label: str | None
    facts: list[FactAnswer]
    total: int


class OtherRank(BaseModel):
    """The rank that a run without clauses gives a fact."""

    run: str
    rank: int


class Suggestion(FactAnswer):
    """A fact that follows, the last clause of its proof, and its rank among objects by the model."""

    clause: str
    clause_id: int | None
    shown: str | None
    rank: int
    without: OtherRank | None = None


class SuggestionsAnswer(Named):
    """Facts to begin with."""

    facts: list[Suggestion]


class Heads(BaseModel):
    """How many facts a clause predicts from train, by where the graph has them."""

    train: int
    held_back: int
    nowhere: int


class Bin(BaseModel):
    """How many instances break a clause by as much."""

    above: float = Field(alias="from")
    to: float
    count: int


class BrokenInstance(BaseModel):
    """An instance that breaks a clause; ``head`` is null where the clause's head is false."""

    entities: dict[str, str]
    body: float
    head: float | None
    violation: float
    facts: list[FactAnswer]


class ViolationsAnswer(Named):
    """By how much the model breaks a clause where train has its body."""

    id: int
    checked: int
    broken: int
    complete: bool
    heads: Heads | None
    bins: list[Bin]
    worst: list[BrokenInstance]
