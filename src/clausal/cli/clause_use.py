"""What became of clauses and rules: a table of how each was used, their votes, and when to use them in another way."""

from __future__ import annotations

from shlex import quote
from typing import TYPE_CHECKING, Any

from clausal.cli.output import print_table, say
from clausal.errors import InputError, count

if TYPE_CHECKING:
    from clausal.fusion import Fusion
    from clausal.graph.display import DisplayNames
    from clausal.run import Run

_SHOWN = 10


def show_clauses(run: Run, names: DisplayNames) -> None:
    """Print what a race found out about the clauses, those with the largest effect first, and where all of it is."""
    found = run.metrics.get("clauses")
    rows = [row for row in found if isinstance(row, dict)] if isinstance(found, list) else []
    if not rows:
        return
    from clausal.run.clause_uses import HARD, LOSS, VOTE, clause_uses

    uses = clause_uses(run)
    if len(uses) == len(rows):
        rows = [row | {"used": used} for row, used in zip(rows, uses, strict=True)]
    shown = sorted(rows, key=_effect, reverse=True)[:_SHOWN]
    counts = ", ".join(f"{name} {sum(name in str(row.get('used')) for row in rows):,}" for name in (LOSS, HARD, VOTE))
    title = f"{count(len(rows), 'clause')} ({counts}); MRR is of their heads' valid facts in the race, with the loss"
    print_table([row | {"clause": _shown(str(row.get("clause")), names)} for row in shown], title)
    if len(rows) > len(shown):
        say(f"and {count(len(rows) - len(shown), 'more clause')}: in {run.path}/metrics.json")


def _shown(text: str, names: DisplayNames) -> str:
    """Return a clause that a run has as text in display names; a damaged one as it is."""
    from clausal.logic.parser import parse_clause
    from clausal.logic.printer import print_clause

    try:
        return print_clause(parse_clause(text), names)
    except InputError:
        return text


def _effect(row: dict[str, Any]) -> tuple[bool, float]:
    before, after = row.get("mrr without"), row.get("mrr with")
    change = abs(after - before) if isinstance(before, float) and isinstance(after, float) else 0.0
    return "loss" in str(row.get("used")), change


def advice(run: Run) -> list[str]:
    """Return when clauses are for the loss, for entailment and for votes, a line each; votes that gain are named."""
    path = quote(str(run.path))
    votes = f"clausal evaluate {path} --ranking fused" if run.is_fused else f"clausal fuse {path} --mine --out RUN2"
    lines = []
    if not run.is_fused or run.fusion.basis != "no gain":
        lines.append(f"rules with exceptions, such as mined ones, are best as votes: {votes}")
    if run.clauses:
        lines += [
            f"clauses that hold for certain can put what follows first: clausal evaluate {path} --ranking entailed",
            _about_hard(run, path),
        ]
    return lines


def _about_hard(run: Run, path: str) -> str:
    """Return how clauses become hard or, where some are, how that is proven."""
    kept = run.settings.clauses.hard
    if kept == "all" or (kept == "marked" and any(clause.hard for clause in run.clauses)):
        return f"what is hard holds for every entity, seen or not; the proof: clausal certify {path} --tolerance 0"
    return "clauses that must hold for entities to come: mark them <hard>, and clausal certify can prove it"


def say_votes(fusion: Fusion) -> None:
    """Say which rules vote, and how their weights were found."""
    paths, constants = len(fusion.rules.paths), len(fusion.rules.beside_a_model)
    found = [f"{count(paths, 'path rule')} and {count(constants, 'rule')} with constants vote"]
    if not (fusion.rules.paths.complete and fusion.rules.attributes.complete):
        found.append("note: mining was stopped by --seconds; longer rules may be missing")
    if fusion.basis == "default":
        found.append(
            "note: too few valid facts to fit weights on: fixed ones are used, and nobody knows whether they help"
        )
    elif fusion.basis == "no gain":
        found.append(
            f"note: votes gain nothing on valid beyond noise ({fusion.gain:+.4f} MRR, standard error "
            f"{fusion.error:.4f}): their weights are 0, and the fused ranking is the model's"
        )
    else:
        found.append(
            f"weights fitted on valid: {fusion.gain:+.4f} MRR by cross-fitting (standard error {fusion.error:.4f})"
        )
    if fusion.signed:
        found.append(
            "note: signed weights can use that valid answers are seldom linked to the question in train, "
            "which may be so in this data set alone"
        )
    for sentence in found:
        say(sentence)
