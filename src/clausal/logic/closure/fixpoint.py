"""The deductive closure: every fact that follows from facts by Horn clauses, round by round to the fixpoint.

It parts test facts into Test-I, what does not follow from train, and Test-II, what does (Guo et al. 2016).
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import count
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from clausal.errors import InputError, RunError
from clausal.graph import Facts, Graph
from clausal.graph.facts import fact_keys, no_facts, occur_in
from clausal.logic.closure.engine import DuckEngine, Engine
from clausal.logic.rules import LeftOut, RuleSet, encode_rules
from clausal.logic.sql import round_query
from clausal.logic.syntax import Clause
from clausal.observer import Observer, replaces

EngineName = Literal["duckdb", "spark"]


class Round(NamedTuple):
    """One round of forward chaining: how many facts it was the first to derive, and how long it took."""

    number: int
    new: int
    seconds: float


@dataclass(frozen=True, eq=False)
class Closure:
    """Facts and what follows from them.

    ``facts`` are the given facts as they were given, then those derived, by round; ``round_of`` is the round in
    which each was first derived, 0 for a given one. ``complete`` says whether the last round found nothing more
    to derive. ``left_out`` are the clauses that derive no facts, with the reasons.
    """

    facts: Facts
    round_of: NDArray[np.int32]
    rounds: tuple[Round, ...]
    complete: bool
    left_out: tuple[LeftOut, ...] = ()

    @property
    def derived(self) -> Facts:
        """The facts that were not given."""
        return self.facts[np.searchsorted(self.round_of, 1) :]


@replaces(progress=("derived", lambda number, new, total, seconds: (Round(number, new, seconds),)))
def close(
    graph: Graph,
    clauses: Iterable[Clause],
    *,
    facts: Facts | None = None,
    engine: EngineName = "duckdb",
    rounds: int | None = None,
    limit: int | None = None,
    memory: str | None = None,
    threads: int | None = None,
    master: str | None = None,
    observer: Observer | None = None,
) -> Closure:
    """Close facts, those of train unless others are given, under the clauses that are Horn.

    ``rounds`` stops early, after that many; ``limit`` is the largest number of facts, beyond which a ``RunError``
    is raised. ``memory`` (``"2GB"``) and ``threads`` bound the engine; ``master`` is the URL of a Spark cluster.
    """
    rules = encode_rules(clauses, graph.entities, graph.relations)
    given = graph.train if facts is None else facts
    options = {"engine": engine, "memory": memory, "threads": threads, "master": master}
    return close_rules(given, rules, rounds=rounds, limit=limit, observer=observer, **options)  # type: ignore[arg-type]


def close_rules(
    facts: Facts,
    rules: RuleSet,
    *,
    engine: EngineName = "duckdb",
    rounds: int | None = None,
    limit: int | None = None,
    memory: str | None = None,
    threads: int | None = None,
    master: str | None = None,
    observer: Observer | None = None,
) -> Closure:
    """Close facts under clauses that are encoded already; the options are those of ``close``."""
    for name, value in (("rounds", rounds), ("limit", limit), ("threads", threads)):
        if value is not None and value < 1:
            raise InputError(f"{name} must be at least 1, not {value}")
    layers: list[Facts] = []
    done: list[Round] = []
    with closing(_open_engine(engine, memory, threads, master)) as running:
        running.load(_facts_with(facts, rules.relations), rules.groups)
        complete = False
        fresh = None
        total = len(facts)
        for number in count(1):
            started = time.perf_counter()
            query = round_query(rules.groups, fresh)
            new = no_facts() if query is None else running.derive(query)
            if not len(new):
                complete = True
                break
            fresh = set(np.unique(new[:, 1]).tolist())
            total += len(new)
            if limit is not None and total > limit:
                raise RunError(
                    f"the closure has {total:,} facts after round {number}, more than the limit of {limit:,}; "
                    f"raise the limit, or take fewer rounds"
                )
            done.append(Round(number, len(new), time.perf_counter() - started))
            layers.append(_sorted_by_id(new))
            if observer is not None:
                observer.derived(number, len(new), total, done[-1].seconds)
            if number == rounds:
                break
    sizes = [len(facts), *(len(layer) for layer in layers)]
    round_of = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)
    return Closure(np.concatenate([facts, *layers]), round_of, tuple(done), complete, rules.left_out)


def _open_engine(engine: str, memory: str | None, threads: int | None, master: str | None) -> Engine:
    if engine == "duckdb":
        if master is not None:
            raise InputError("a master is for the Spark engine; DuckDB runs on this machine alone")
        return DuckEngine(memory, threads)
    if engine == "spark":
        from clausal.logic.closure.spark import SparkEngine

        return SparkEngine(master, memory)
    raise InputError(f"unknown engine '{engine}'; expected duckdb or spark")


def _facts_with(facts: Facts, relations: Collection[int]) -> Facts:
    """Return the facts whose relation occurs in a rule: no other can be joined with or derived again."""
    if not len(facts):
        return facts
    occurs = np.zeros(max(int(facts[:, 1].max()), *relations, 0) + 1, dtype=np.bool_)
    occurs[list(relations)] = True
    return facts[occurs[facts[:, 1]]]


def _sorted_by_id(facts: Facts) -> Facts:
    """Sort facts by id, so that every engine and every number of threads gives the same array."""
    entities, relations = int(facts[:, [0, 2]].max()) + 1, int(facts[:, 1].max()) + 1
    keys = np.sort(fact_keys(facts, entities, relations))
    ordered = np.empty_like(facts)
    keys, ordered[:, 2] = np.divmod(keys, entities)
    ordered[:, 0], ordered[:, 1] = np.divmod(keys, relations)
    return ordered


def partition(graph: Graph, closure: Closure) -> Graph:
    """Return the graph with the parts ``test-I`` (not in the closure of train) and ``test-II`` (in it)."""
    if not closure.complete:
        raise InputError("a closure that was stopped early does not tell which test facts follow; close to the end")
    if not len(graph.test):
        raise InputError(f"{graph.name}: no test facts to partition; expected a folder with train and test")
    deducible = occur_in(graph.test, closure.facts, len(graph.entities), len(graph.relations))
    return replace(graph, parts={"test-I": graph.test[~deducible], "test-II": graph.test[deducible]})
