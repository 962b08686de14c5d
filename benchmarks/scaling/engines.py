"""The part of the page on closure and mining: beyond memory, with many relations, and on Spark."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

Found = dict[str, Any]


def engine_sections(stored: Found) -> Iterable[str]:
    """Yield the lines of what was measured."""
    if "disk" in stored:
        yield from _disk(stored["disk"])
    if "mining" in stored:
        yield from _mining(stored["mining"])
    if "spark" in stored:
        yield from _spark(stored["spark"])


def _disk(stored: Found) -> Iterable[str]:
    yield "## Closure beyond memory\n"
    yield (
        "Random graphs of several times the memory limit, 12 bytes a fact, closed under five clauses (a symmetry, an "
        "inverse, an implication, a composition and a transitivity) by `python benchmarks/engines.py disk`. The given "
        "facts are read from a file, and a result that is larger than the limit, 16 bytes a fact, is written to one. "
        "Core seconds are those of all threads; the memory is that of the process above what it had before, without "
        "pages of files, which the system can let go of.\n"
    )
    yield (
        "| `--memory` | facts | their size, GB | facts of the closure | seconds | core seconds | memory, GB | "
        "most on disk beside the result, GB | load before |"
    )
    yield "|---|---|---|---|---|---|---|---|---|"
    for memory, found in stored.items():
        yield (
            f"| {memory} | {found['facts in']:,} | {found['MB of facts in'] / 1000:.2f} | {found['facts out']:,} | "
            f"{found['seconds']:.0f} | {found['core seconds']:.0f} | "
            f"{found.get('more MB of its own', found['more MB']) / 1000:.2f} | "
            f"{found['most MB on disk'] / 1000:.2f} | {found['machine']['load']} |"
        )
    yield ""


def _mining(stored: Found) -> Iterable[str]:
    yield "## Mining dense graphs and many relations\n"
    yield (
        "1,500 entities, rules of up to two atoms, pruned, by `python benchmarks/engines.py mining`; load "
        f"{stored['machine']['load']} before the start. Where walking all paths would take more than 10⁹ edges, a "
        "sample of the entities begins them.\n"
    )
    yield "| graph | facts | rules | seconds | core seconds | memory beside, GB |"
    yield "|---|---|---|---|---|---|"
    for name, found in stored.items():
        if name != "machine":
            yield (
                f"| {name} | {found['facts']:,} | {found['rules']:,} | {found['seconds']:.1f} | "
                f"{found['core seconds']:.1f} | {found['more MB'] / 1000:.2f} |"
            )
    yield ""


def _spark(stored: Found) -> Iterable[str]:
    yield "## Closure on Spark\n"
    same = "the same facts in the same rounds" if stored["same facts and rounds"] else "NOT the same facts"
    spark, duckdb = (stored[engine]["seconds"] for engine in ("Spark", "DuckDB"))
    yield (
        f"{stored['facts in']:,} facts, {stored['facts out']:,} in the closure, on a cluster of this machine: "
        f"{stored['workers']} workers of {stored['memory of a worker']}. Spark took {spark:.0f} s, and DuckDB "
        f"{duckdb:.0f} s; {same}. `python benchmarks/engines.py spark`; load {stored['machine']['load']} before the "
        "start.\n"
    )
