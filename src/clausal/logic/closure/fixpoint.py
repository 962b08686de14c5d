"""The deductive closure: every fact that follows from facts by Horn clauses, round by round to the fixpoint.

It parts test facts into Test-I, what does not follow from train, and Test-II, what does (Guo et al. 2016).
"""

from __future__ import annotations

import math
import os
import tempfile
import time
from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import count, pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from clausal.errors import InputError, RunError
from clausal.graph import Facts, Graph
from clausal.graph.facts import fact_keys, occur_in
from clausal.logic.closure.layers import Layers
from clausal.logic.engines import EngineName, open_engine
from clausal.logic.rules import LeftOut, RuleSet, encode_rules
from clausal.logic.sql import round_queries
from clausal.logic.store import memory_bytes
from clausal.logic.syntax import Clause
from clausal.observer import Observer, replaces


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
    shared: str | None = None,
    observer: Observer | None = None,
) -> Closure:
    """Close facts, those of train unless others are given, under the clauses that are Horn.

    ``rounds`` stops early, after that many; ``limit`` is the largest number of facts, beyond which a ``RunError``
    is raised. ``memory`` (``"2GB"``) and ``threads`` bound the engine; ``master`` is the URL of a Spark cluster, and
    ``shared`` a folder that all its machines see.
    """
    rules = encode_rules(clauses, graph.entities, graph.relations)
    given = graph.train if facts is None else facts
    options = {"engine": engine, "memory": memory, "threads": threads, "master": master, "shared": shared}
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
    shared: str | None = None,
    observer: Observer | None = None,
) -> Closure:
    """Close facts under clauses that are encoded already; the options are those of ``close``."""
    for name, value in (("rounds", rounds), ("limit", limit), ("threads", threads)):
        if value is not None and value < 1:
            raise InputError(f"{name} must be at least 1, not {value}")
    done: list[Round] = []
    options = {"memory": memory, "threads": threads, "master": master, "shared": shared}
    with closing(open_engine(engine, "the closure", **options)) as running:  # type: ignore[arg-type]
        layers = Layers(running, facts, rules.groups, rules.relations)
        complete = False
        fresh = None
        total = len(facts)
        for number in count(1):
            started = time.perf_counter()
            queries = round_queries(rules.groups, fresh)
            new = layers.derive(queries, number, limit, total) if queries else {}
            if not new:
                complete = True
                break
            fresh = set(new)
            total += sum(new.values())
            done.append(Round(number, sum(new.values()), time.perf_counter() - started))
            if observer is not None:
                observer.derived(number, done[-1].new, total, done[-1].seconds)
            if number == rounds:
                break
        every = _room((total, 3), facts.dtype, memory)
        every[: len(facts)] = facts
        ends = np.cumsum([len(facts), *(one.new for one in done)]).tolist()
        places = list(ends)  # where the next facts of each round go
        for found in filter(len, layers.fetch()):  # the last round finds nothing
            first, last = int(found[:, 3].min()), int(found[:, 3].max())
            for number in range(first, last + 1):
                derived = found[:, :3] if first == last else found[found[:, 3] == number, :3]
                start, places[number - 1] = places[number - 1], places[number - 1] + len(derived)
                every[start : places[number - 1]] = _sorted_by_id(derived)
    round_of = _room((total,), np.dtype(np.int32), memory)
    for number, (start, end) in enumerate(pairwise([0, *ends])):
        round_of[start:end] = number
    return Closure(every, round_of, tuple(done), complete, rules.left_out)


def _room(shape: tuple[int, ...], dtype: np.dtype[Any], memory: str | None) -> NDArray[Any]:
    """Return an array; one that is larger than the memory limit lies in a file that nobody else sees."""
    size = dtype.itemsize * math.prod(shape)
    if memory is None or size <= memory_bytes(memory):
        return np.empty(shape, dtype)
    with tempfile.TemporaryFile() as file:
        try:
            if hasattr(os, "posix_fallocate"):  # or else a full disk would be noticed too late
                os.posix_fallocate(file.fileno(), 0, size)
            else:
                file.truncate(size)
        except OSError as error:
            raise RunError(
                f"{tempfile.gettempdir()}: no room for the {size / 1e9:.1f} GB of the closure ({error.strerror}); name "
                "another folder by TMPDIR"
            ) from None
        return np.memmap(file, dtype, "r+", shape=shape)


def _sorted_by_id(facts: Facts) -> Facts:
    """Sort facts by id, so that every engine and every number of threads gives the same array."""
    if not len(facts):
        return facts
    subjects, relations, objects = (int(column.max()) + 1 for column in facts.T)
    entities = max(subjects, objects)
    keys = fact_keys(facts, entities, relations)
    keys.sort()
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
