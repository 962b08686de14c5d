"""The bodies of answers, for the description of the service; answers are written without them, to save time."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel

from clausal.serve.statuses import Status


class Named(BaseModel):
    """What answers of a run share: its name, and how full names are shown to people where that differs."""

    run: str
    names: dict[str, str] = {}


class FactAnswer(BaseModel):
    """A fact, and what is known of it."""

    subject: str
    relation: str
    object: str
    status: Status
    confidence: float | None
    follows: Literal["entailed", "rule"] | None
    score: float | None
    probability: float | None
    split: Literal["train", "valid", "test"] | None


class PlainFact(BaseModel):
    """A fact in names."""

    subject: str
    relation: str
    object: str


class RunSummary(BaseModel):
    """A run in short."""

    name: str
    digest: str
    finished: bool
    graph: str
    entities: int
    relations: int
    facts: dict[str, int]
    clauses: int


class RunsAnswer(BaseModel):
    """The runs of a service."""

    version: str
    runs: list[RunSummary]


class RunAnswer(RunSummary):
    """A run."""

    version: str
    trained_by: str | None
    scorer: str
    dim: int
    settings: dict[str, Any]
    calibrated: bool | None
    rankings: list[str]
    metrics: dict[str, Any] | None
    derived: int | None


class LogAnswer(BaseModel):
    """The learning curve of a run."""

    run: str
    finished: bool
    epochs: list[dict[str, Any]]


class ProofStep(PlainFact):
    """A fact in a proof: given, or by a clause from premises, which are positions in the list of steps."""

    clause: str | None
    clause_id: int | None
    shown: str | None
    premises: list[int]


class ProofAnswer(BaseModel):
    """A proof."""

    size: int
    depth: int
    steps: list[ProofStep]


class MissingFact(PlainFact):
    """A fact that a proof lacks, with the model's score and its rank among objects."""

    score: float
    rank: int


class NearAnswer(BaseModel):
    """A clause by which a fact would follow."""

    clause: str
    clause_id: int | None
    shown: str | None
    holds: list[PlainFact]
    missing: list[MissingFact]


class ReasonAnswer(BaseModel):
    """Why an answer: a proof, or what is near to one; or what the model and rules contributed."""

    proof: ProofAnswer | None = None
    near: list[NearAnswer] = []
    contributions: list[dict[str, Any]] | None = None


class RankedAnswer(FactAnswer):
    """An answer to a question."""

    rank: int
    explanation: ReasonAnswer | None = None


class QueryAnswer(BaseModel):
    """A question as it was read."""

    subject: str | None
    relation: str | None
    object: str | None


class ResultAnswer(BaseModel):
    """The answers to a question."""

    query: QueryAnswer
    answers: list[RankedAnswer]


class PredictAnswer(Named):
    """The answers to questions."""

    ranking: str
    results: list[ResultAnswer]


class ScoreAnswer(BaseModel):
    """Scores of facts, in their order."""

    run: str
    ranking: str
    facts: list[FactAnswer | None]
    skipped: int


class NameAnswer(BaseModel):
    """A name, how it is shown, and how many facts it is in."""

    name: str
    short: str
    label: str | None
    facts: int


class EntitiesAnswer(BaseModel):
    """Entities that were found."""

    run: str
    entities: list[NameAnswer]
    total: int


class RelationsAnswer(BaseModel):
    """Relations that were found."""

    run: str
    relations: list[NameAnswer]
    total: int


class EntityAnswer(Named):
    """An entity with its facts."""

    name: str
    short: str
    label: str | None
    facts: list[FactAnswer]
    total: dict[str, int]


class FactsAnswer(Named):
    """Facts of an entity."""

    name: str
    facts: list[FactAnswer]


class Node(BaseModel):
    """An entity in a picture of a graph."""

    name: str
    facts: int


class NeighboursAnswer(FactsAnswer):
    """The graph around an entity."""

    entities: list[Node]
    left_out: int


class NearestAnswer(Named):
    """Entities of near vectors."""

    class One(BaseModel):
        """A near entity."""

        rank: int
        name: str
        score: float

    name: str
    metric: str
    nearest: list[One]


class ProveAnswer(Named):
    """A fact with its proof, or what is near to one."""

    fact: FactAnswer
    status: Status
    proof: ProofAnswer | None
    near: list[NearAnswer]


class ClauseAnswer(BaseModel):
    """A clause, what it counts in train, and its newest certificate."""

    id: int
    clause: str
    shown: str
    weight: float
    certainty: float
    confidence: float | None
    pca_confidence: float | None
    support: int | None
    predictions: int | None
    exceptions: int | None
    all_facts: dict[str, Any] | None
    certificate: dict[str, Any] | None


class ClausesAnswer(BaseModel):
    """The clauses of a run."""

    run: str
    clauses: list[ClauseAnswer]
    tolerance: float | None


class Instance(BaseModel):
    """An instance of a clause."""

    body: list[PlainFact]
    head: FactAnswer | None


class OneClauseAnswer(ClauseAnswer):
    """A clause with instances whose head train does not have."""

    run: str
    tolerance: float | None
    left_out: list[str]
    exceptions_shown: list[Instance]
    uses: list[Instance]
    unsupported: int
    cut: bool


class WhatIfAnswer(Named):
    """What follows under other clauses or from other facts."""

    before: int
    entailed: int
    gained_total: int
    lost_total: int
    gained: list[FactAnswer]
    lost: list[FactAnswer]
    query: QueryAnswer | None
    answers_before: list[RankedAnswer]
    answers_after: list[RankedAnswer]


class JobBegun(BaseModel):
    """A job that was added."""

    job: str
    state: str


class JobAnswer(BaseModel):
    """A job."""

    id: str
    kind: str
    run: str
    state: Literal["waiting", "running", "done", "failed", "cancelled"]
    what: str | None
    done: int
    total: int | None
    seconds: float | None
    error: str | None
    result: dict[str, Any] | None


class JobsAnswer(BaseModel):
    """The last jobs."""

    jobs: list[JobAnswer]


class Live(BaseModel):
    """The process lives."""

    status: str


class Ready(Live):
    """The service is ready."""

    runs: list[str]
