"""``clausal demo``: what clauses do, on an embedded graph of countries, in well under a minute."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from clausal.cli.output import Format, FormatOption, print_results, print_table, print_text, say
from clausal.cli.progress import Bars

if TYPE_CHECKING:
    from clausal.demo import Comparison, Measured, Rescued
    from clausal.logic import Clause

_PARTS = {"test": "all test facts", "test-II": "deducible by the clauses", "test-I": "not deducible"}


def demo(
    out: Annotated[
        Path | None,
        typer.Option(help="Keep the run trained with soft clauses in this new directory, and beside it the others."),
    ] = None,
    format: FormatOption = Format.table,
) -> None:
    """Train on an embedded graph of countries without clauses, with soft and with hard ones, side by side."""
    from clausal.demo import compare, world

    started = time.perf_counter()
    graph, clauses = world()
    say(f"{graph.summary()}\nfacts about countries from GeoNames (CC BY 4.0) and Unicode CLDR (Unicode-3.0)\n")
    say("the clauses:\n" + "".join(f"  {clause}\n" for clause in clauses))

    comparison = compare(graph, clauses, out, observe=Bars)
    gains, promises, rescued = _gains(comparison), _promises(comparison, clauses), comparison.rescued()
    payload = {"gains": gains, "promises": promises, "rescued": [_rescued_json(row) for row in rescued]}
    print_results(format, gains, payload, title="ComplEx, filtered MRR of test facts")
    if format is Format.table:
        print_text("")
        print_table(promises, f"What the model can promise about the {len(clauses)} clauses")
        print_text("\nTest facts that only the clauses put first:")
        for row in rescued:
            print_text(_rescued_text(row))
    say(f"\ndone in {time.perf_counter() - started:.0f} s. {_next_steps(out)}")


def _models(comparison: Comparison) -> dict[str, Measured]:
    """Return the models by the names of their columns."""
    return {"no clauses": comparison.without, "soft": comparison.soft, "hard": comparison.hard}


def _gains(comparison: Comparison) -> list[dict[str, Any]]:
    """Return the MRR of all models side by side, for test and its parts."""

    def metrics(model: Measured, part: str) -> Any:
        evaluation = model.evaluation
        return evaluation.filtered["both"] if part == "test" else evaluation.parts[part]["filtered"]["both"]

    return [
        {"part": part, "what it holds": meaning, "facts": metrics(comparison.without, part)["count"]}
        | {name: metrics(model, part)["mrr"] for name, model in _models(comparison).items()}
        for part, meaning in _PARTS.items()
    ]


def _promises(comparison: Comparison, clauses: list[Clause]) -> list[dict[str, Any]]:
    """Return what all models promise about the clauses, side by side."""
    models = _models(comparison)
    guaranteed = {name: model.guaranteed(clauses) for name, model in models.items()}
    hard = guaranteed["hard"]
    broken = {name: model.broken(clauses) for name, model in models.items()}

    def decisions(which: bool) -> dict[str, int]:
        return {
            name: sum(times for times, can in zip(found, hard, strict=True) if can == which)
            for name, found in broken.items()
        }

    return [
        {"what": "clauses that no entity can break"} | {name: sum(found) for name, found in guaranteed.items()},
        {"what": f"decisions against the {sum(hard)} that can be hard"} | decisions(True),
        {"what": f"decisions against the other {len(hard) - sum(hard)}; --consistent: 0"} | decisions(False),
    ]


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
    from clausal.demo import hard_beside, without_beside

    look = (
        f"\n  clausal serve {out} {without_beside(out)}  # open the address: what the clauses rescued, and why"
        f"\n  clausal predict {out} 'borders(Spain, ?)' --explain"
        f"\n  clausal certify {hard_beside(out)} --tolerance 0  # what no entity can break"
        if out
        else "\n  clausal demo --out world; clausal serve world world-without  # the same to look at, in a browser"
    )
    return (
        f"Next:{look}\n"
        "  clausal train FACTS.tsv --clauses CLAUSES.txt --out RUN\n"
        "  clausal predict RUN 'relation(subject, ?)'\n"
        "with one fact a line: subject, relation, object; docs/tutorial.md walks through it"
    )
