"""``clausal fuse``: rules vote beside a run's model, by weights that are fitted on valid."""

from __future__ import annotations

from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any

import typer

from clausal.cli.clause_use import say_votes
from clausal.cli.inputs import DeviceOption, read_clauses
from clausal.cli.output import Format, FormatOption, print_results, say
from clausal.cli.progress import Bars
from clausal.cli.unknown import UnknownOption, fitting
from clausal.errors import InputError

if TYPE_CHECKING:
    from clausal.run import Run

_METRICS = {"mrr": "MRR", "hits@1": "Hits@1", "hits@3": "Hits@3", "hits@10": "Hits@10"}


def fuse(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="Run directory of a finished training.")],
    out: Annotated[Path, typer.Option(help="New run directory: the run with its votes.")],
    clauses: Annotated[
        str | None, typer.Option(metavar="FILE", help="Clauses that vote, by their confidence in train.")
    ] = None,
    unknown: UnknownOption = None,
    mine: Annotated[bool, typer.Option("--mine", help="Rules mined from train vote, with or without clauses.")] = False,
    seconds: Annotated[float | None, typer.Option(min=0, help="Stop mining after so many seconds.")] = None,
    signed: Annotated[
        bool, typer.Option("--signed", help="Votes may count against an answer, and so may a link in train.")
    ] = False,
    device: DeviceOption = "auto",
    format: FormatOption = Format.table,
) -> None:
    """Let rules vote beside a run's model, and fit on valid how much their votes count."""
    from clausal.files import check_new_folder
    from clausal.run import load

    if clauses is None and not mine:
        raise InputError("no rules to vote: name a file of clauses (--clauses FILE), or mine them (--mine), or both")
    check_new_folder(out, "choose another --out")
    loaded = load(run, device=device)
    rules = None if clauses is None else fitting(clauses, read_clauses(clauses), loaded.graph, unknown)
    with Bars() as bars:
        fused = loaded.fuse(rules, mine=mine, signed=signed, seconds=seconds, out=out, observer=bars)
        fusion = fused.fusion
        tested = _test_metrics(fused, bars)
    say_votes(fusion)
    name = "fused, signed" if signed else "fused"
    measured = {"valid": dict(fusion.valid), "test": tested}
    payload = {
        "run": str(out),
        "path_rules": len(fusion.rules.paths),
        "constant_rules": len(fusion.rules.beside_a_model),
        "basis": fusion.basis,
        "signed": signed,
        "gain": fusion.gain,
        "error": fusion.error,
        **measured,
    }
    rows = [
        {"split": split, "ranking": name if ranking == "fused" else ranking}
        | {title: found[key] for key, title in _METRICS.items()}
        for split, rankings in measured.items()
        for ranking, found in rankings.items()
    ]
    print_results(
        format, rows, payload, title=f"{out}: filtered ranking; valid by cross-fitting, among sampled answers"
    )
    say(f"next: clausal predict {quote(str(out))} 'relation(subject, ?)' --ranking fused --explain")


def _test_metrics(run: Run, bars: Bars) -> dict[str, Any]:
    if not len(run.graph.test):
        return {}
    return {
        ranking: run.evaluate("test", ranking=ranking, observer=bars).filtered["both"]
        for ranking in ("model", "rules", "fused")
    }
