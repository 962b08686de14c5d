"""The bodies of requests."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from clausal.choices import RankingName, RegionName, SemanticsName

Name = Annotated[str, StringConstraints(max_length=10_000)]
Count = Annotated[int, Field(ge=1, le=1_000, strict=True)]
Number = Annotated[int, Field(ge=0, strict=True)]


class Body(BaseModel):
    """A body: a field that is not known is refused, as it is probably misspelt."""

    model_config = ConfigDict(extra="forbid")


class FactBody(Body):
    """A fact in names."""

    subject: Name
    relation: Name
    object: Name


class QueryBody(Body):
    """A question in names; null, or nothing, for the one that is asked for."""

    subject: Name | None = None
    relation: Name | None = None
    object: Name | None = None


QuestionText = Annotated[str, StringConstraints(max_length=5_000)]
Question = QueryBody | QuestionText
GivenFact = FactBody | QuestionText


Descriptions = Annotated[
    dict[Name, Annotated[str, StringConstraints(min_length=1, max_length=100_000)]], Field(max_length=1_000)
]
"""Texts of entities that a run has never seen, by their names."""


class PredictBody(Body):
    """Questions, and how to answer them."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {"queries": ["located_in(Spain, ?)"], "k": 5, "new": True},
                {"queries": [{"relation": "located_in", "object": "Europe"}], "ranking": "entailed", "explain": True},
                {"queries": ["is_a(rex, ?)"], "describe": {"rex": "a brave dog that lives on a farm"}},
            ]
        },
    )
    run: Name | None = None
    queries: Annotated[list[Question], Field(min_length=1, max_length=1_000)]
    k: Count = 10
    new: bool = False
    ranking: RankingName = "model"
    explain: bool = False
    consistent: bool = False
    describe: Descriptions = {}


class ScoreBody(Body):
    """Facts to be scored."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={"examples": [{"facts": [["Spain", "located_in", "Europe"]], "unknown": "skip"}]},
    )
    run: Name | None = None
    facts: Annotated[list[tuple[Name, Name, Name]], Field(max_length=100_000)]
    ranking: RankingName = "model"
    unknown: Literal["refuse", "skip"] = "refuse"
    consistent: bool = False
    describe: Descriptions = {}


class ProveBody(Body):
    """A fact to be proved."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"fact": "located_in(Spain, Europe)", "most": 3}]}
    )
    run: Name | None = None
    fact: GivenFact
    most: Annotated[int, Field(ge=0, le=20, strict=True)] = 3


class CertifyBody(Body):
    """Clauses to be certified, by their numbers; all of the run if none are given."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{}, {"clauses": [0], "entities": True}]})
    run: Name | None = None
    clauses: Annotated[list[Number], Field(min_length=1, max_length=10_000)] | None = None
    region: RegionName = "auto"
    entities: bool = True
    semantics: SemanticsName | None = None


class WhatIfBody(Body):
    """Clauses and facts to be switched off and on, and a question to answer before and after."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={"examples": [{"clauses_off": [0], "query": "located_in(Spain, ?)", "k": 5}]},
    )
    run: Name | None = None
    clauses_off: Annotated[list[Number], Field(max_length=10_000)] = []
    clauses_on: Annotated[list[Annotated[str, StringConstraints(max_length=10_000)]], Field(max_length=100)] = []
    facts_off: Annotated[list[GivenFact], Field(max_length=1_000)] = []
    facts_on: Annotated[list[GivenFact], Field(max_length=1_000)] = []
    query: Question | None = None
    k: Count = 10
    limit: Annotated[int, Field(ge=0, le=1_000, strict=True)] = 200
