"""``clausal demo``: what clauses do, on an embedded graph of countries, in well under a minute."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from clausal.cli.output import Format, FormatOption, print_results, print_text, say
from clausal.cli.progress import Bars

if TYPE_CHECKING:
    from clausal.demo import Comparison, Rescued

_PARTS = {"test": "all test facts", "test-II": "deducible by the clauses", "test-I": "not deducible"}


def demo(
    out: Annotated[
        Path | None,
        typer.Option(help="Keep the run trained with clauses in this new directory, and beside it the one without."),
    ] = None,
    format: FormatOption = Format.table,
) -> None:
    """Train on an embedded graph of countries without and with clauses, side by side."""
    from clausal.demo import compare, world

    started = time.perf_counter()
    graph, clauses = world()
    say(f"{graph.summary()}\nfacts about countries from GeoNames (CC BY 4.0) and Unicode CLDR (Unicode-3.0)\n")
    say("the clauses:\n" + "".join(f"  {clause}\n" for clause in clauses))

    comparison = compare(graph, clauses, out, observe=Bars)
    gains = _gains(comparison)
    rescued = comparison.rescued()
    payload = {"gains": gains, "rescued": [_rescued_json(row) for row in rescued]}
    print_results(format, gains, payload, title="ComplEx, filtered ranking of test facts")
    if format is Format.table:
        print_text("\nTest facts that only the clauses put first:")
        for row in rescued:
            print_text(_rescued_text(row))
    say(f"\ndone in {time.perf_counter() - started:.0f} s. {_next_steps(out)}")


def _gains(comparison: Comparison) -> list[dict[str, Any]]:
    """Return the metrics of both models side by side."""

    def metrics(evaluation: Any, part: str) -> Any:
        return evaluation.filtered["both"] if part == "test" else evaluation.parts[part]["filtered"]["both"]

    rows = []
    for part, meaning in _PARTS.items():
        before = metrics(comparison.evaluation_without, part)
        after = metrics(comparison.evaluation_with, part)
        rows.append(
            {
                "part": part,
                "what it holds": meaning,
                "facts": before["count"],
                "MRR without": before["mrr"],
                "with clauses": after["mrr"],
                "gain": after["mrr"] - before["mrr"],
            }
        )
    return rows


def _rescued_text(row: Rescued) -> str:
    """Return the ranks of a test fact, and below it the clauses and the train facts of its proof."""
    lines = [f"  {row.proof.fact}: rank {row.rank_without:g} → {row.rank_with:g}"]
    lines += [f"    by {clause}" for clause in row.proof.clauses()]
    return "\n".join([*lines, f"    as {', '.join(map(str, row.proof.facts()))}"])


def _rescued_json(row: Rescued) -> dict[str, Any]:
    from clausal.logic.proofs import proof_to_json

    return {
        "fact": str(row.proof.fact),
        "rank_without": row.rank_without,
        "rank_with": row.rank_with,
        "proof": proof_to_json(row.proof),
    }


def _next_steps(out: Path | None) -> str:
    from clausal.demo import without_beside

    look = (
        f"\n  clausal serve {out} {without_beside(out)}  # open the address: what the clauses rescued, and why"
        f"\n  clausal predict {out} 'borders(Spain, ?)' --explain"
        if out
        else "\n  clausal demo --out world; clausal serve world world-without  # the same to look at, in a browser"
    )
    return (
        f"Next:{look}\n"
        "  clausal train FACTS.tsv --clauses CLAUSES.txt --out RUN\n"
        "  clausal predict RUN 'relation(subject, ?)'\n"
        "with one fact a line: subject, relation, object; docs/tutorial.md walks through it"
    )
