"""The section for the synthetic tables: every cell, what the paper claims in words, and the cost of the closed form."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path
from statistics import fmean
from typing import Any

from clausal.files import read_json
from clausal_paper.report.records import MISSING, made_on, notes, table
from clausal_paper.synthetic.bases import CLAUSE_TYPES
from clausal_paper.synthetic.cells import ADVERSARIES, DOMAINS, time_ratio

POINTS = 5.0
"""A cell that is further below the paper than this is marked."""

_SCORERS = {"distmult": "DistMult", "complex": "ComplEx"}
_TITLES = {"none": "α = 0", "gradient": "ASR", "closed-form": "cASR"}
_ONE_ATOM = ("symmetry", "implication", "inverse")

Cells = dict[tuple[str, ...], dict[str, Any]]


def synthetic_section(path: Path) -> list[str]:
    """Return the lines of the section, from the file that ``clausal reproduce synthetic`` writes."""
    lines = ["## Synthetic knowledge bases", ""]
    if not path.exists():
        return [*lines, "Nothing has been trained for these tables yet.", ""]
    found = read_json(path)
    cells: Cells = {
        tuple(cell[name] for name in ("clauses", "scorer", "domain", "adversary")): cell for cell in found["cells"]
    }
    columns = list(product(ADVERSARIES, DOMAINS))
    head = ["clauses", "model", *(f"{_TITLES[adversary]}, {domain}" for adversary, domain in columns)]
    body = [
        [kind, title, *(_cell(cells.get((kind, scorer, domain, adversary))) for adversary, domain in columns)]
        for kind in CLAUSE_TYPES
        for scorer, title in _SCORERS.items()
    ]
    below = sum(_below(cell) for cell in cells.values())
    seconds = sum(cell["cpu_seconds"] for cell in cells.values())
    lines += [
        f"AUC-PR in percent, mean and standard deviation over {len(found['seeds'])} knowledge bases. The mean of ten",
        "has a standard error of about a third of that deviation.",
        f"{len(cells) - below} of {len(cells)} cells are within {POINTS:g} points of the paper or above; ▼ marks the",
        "others.",
        "",
        *table(head, body),
        *table(["what the paper says", "here", ""], _claims(cells)),
        f"All cells took {seconds / 60:.0f} minutes of CPU time. {_ratio(found)}Trained on {made_on([found])}.",
        "",
        "```console",
        "clausal reproduce synthetic",
        "```",
        "",
    ]
    return [*lines, *notes(path.with_name("synthetic-notes.md"))]


def _cell(cell: dict[str, Any] | None) -> str:
    if cell is None:
        return MISSING
    return f"{cell['paper']:.1f} → {cell['mean']:.1f} ± {cell['spread']:.1f}{' ▼' if _below(cell) else ''}"


def _below(cell: dict[str, Any]) -> bool:
    return bool(cell["mean"] < cell["paper"] - POINTS)


def _ratio(found: dict[str, Any]) -> str:
    ratio = time_ratio(found)
    if ratio is None:
        return ""
    return f"Closed form took {ratio:.2f} of the CPU time of gradient ascent (paper: about a fifth). "


def _claims(cells: Cells) -> Iterator[Sequence[str]]:
    """Yield what the paper says in words, the figures here, and whether it holds."""

    def mean(kinds: Sequence[str], adversary: str, domain: str | None = None) -> float:
        chosen = [
            cell["mean"]
            for (kind, scorer, where, how), cell in cells.items()
            if kind in kinds
            and how == adversary
            and domain in (None, where)
            # DistMult cannot help being symmetric.
            and (kind, scorer) != ("symmetry", "distmult")
        ]
        return fmean(chosen) if chosen else float("nan")

    def claim(words: str, greater: float, less: float, slack: float = 0.0) -> Sequence[str]:
        return words, f"{greater:.1f} and {less:.1f}", "holds" if greater > less - slack else "does not hold"

    every = tuple(CLAUSE_TYPES)
    yield claim("clauses help (ASR and α = 0)", mean(every, "gradient"), mean(every, "none"))
    implications = ("implication", "inverse")
    for adversary in ("gradient", "closed-form"):
        words = f"the cube is better than the sphere for implications ({_TITLES[adversary]})"
        yield claim(words, mean(implications, adversary, "cube"), mean(implications, adversary, "sphere"))
    plain, with_clauses = (
        fmean(cells["symmetry", "distmult", domain, adversary]["mean"] for domain in DOMAINS)
        for adversary in ("none", "gradient")
    )
    yield claim("DistMult is symmetric without clauses (α = 0 and ASR, within 2)", plain, with_clauses, slack=2.0)
    closed, ascent = mean(_ONE_ATOM, "closed-form", "cube"), mean(_ONE_ATOM, "gradient", "cube")
    yield claim(
        "the closed form is about as good (cASR and ASR on the cube, within 5)",
        closed,
        ascent,
        slack=5.0,
    )
