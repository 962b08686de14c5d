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
from clausal_paper.synthetic.cells import ADVERSARIES, DOMAINS, OWN, costs, time_ratio

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
    compared = {key: cell for key, cell in cells.items() if cell["paper"] is not None}
    below = sum(_below(cell) for cell in compared.values())
    above = sum(cell["mean"] > cell["paper"] + POINTS for cell in compared.values())
    seconds = sum(cell["cpu_seconds"] for cell in cells.values())
    lines += [
        f"AUC-PR in percent, as average precision: mean and standard deviation over {len(found['seeds'])} knowledge",
        "bases. The mean of ten has a standard error of about a third of that deviation.",
        f"{len(compared) - below} of {len(compared)} cells are within {POINTS:g} points of the paper, or above it:",
        f"{above} by more. ▼ marks the others.",
        "",
        *table(head, body),
        *_own(cells),
        *table(["what the paper says", "here", ""], _claims(compared)),
        *_evidence(found),
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
    if cell["paper"] is None:
        return f"{cell['mean']:.1f} ± {cell['spread']:.1f}"
    return f"{cell['paper']:.1f} → {cell['mean']:.1f} ± {cell['spread']:.1f}{' ▼' if _below(cell) else ''}"


def _own(cells: Cells) -> list[str]:
    """Return the table of cells that the paper does not have; nothing where none was trained."""
    columns = [(adversary, domain) for adversary in OWN for domain in DOMAINS]
    body = [
        [kind, title, *(_cell(cells.get((kind, scorer, domain, adversary))) for adversary, domain in columns)]
        for kind in CLAUSE_TYPES
        for scorer, title in _SCORERS.items()
    ]
    if all(cell == MISSING for row in body for cell in row[2:]):
        return []
    head = ["clauses", "model", *(f"{adversary}, {domain}" for adversary, domain in columns)]
    return ["Other ways to climb, random real entities, and grounded clauses:", "", *table(head, body)]


def _evidence(found: dict[str, Any]) -> list[str]:
    """Say how much evidence of the clauses train has, of which the paper says that there is none."""
    counted = found.get("evidence")
    if not counted:
        return []
    words = [f"{kind} {both:,} of {body:,}" for kind, (both, body) in counted.items()]
    return [
        "The paper says that train has no evidence of the clauses. Of the instances whose body train has, it has the",
        f"head of these by chance: {', '.join(words)}.",
        "",
    ]


def _below(cell: dict[str, Any]) -> bool:
    return bool(cell["mean"] < cell["paper"] - POINTS)


def _ratio(found: dict[str, Any]) -> str:
    ratio = time_ratio(found)
    if ratio is None:
        return ""
    by_domain = [
        f"on the {domain} {cost.whole:.2f}, and {cost.clauses:.2f} of what clauses add to a training without"
        for domain, cost in costs(found).items()
    ]
    each = f": {'; '.join(by_domain)}" if by_domain else ""
    return f"Closed form took {ratio:.2f} of the CPU time of gradient ascent (paper: about a fifth){each}. "


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
    for adversary in ("gradient", "closed-form"):
        yield _cell_by_cell(
            f"the cube is better than the sphere, in every cell ({_TITLES[adversary]})",
            {key: (cell, cells.get((*key[:2], "sphere", key[3]))) for key, cell in _of(cells, "cube", adversary)},
        )
    yield _cell_by_cell(
        "on the sphere ascent is better than the closed form, in every cell",
        {
            key: (cells.get((*key[:3], "gradient")), cell)
            for key, cell in _of(cells, "sphere", "closed-form")
            if key[:2] != ("symmetry", "distmult")
        },
    )
    simple = min(mean((kind,), "gradient") for kind in _ONE_ATOM)
    hardest = max(mean((kind,), "gradient") for kind in every if kind not in _ONE_ATOM)
    yield claim(
        "clauses of two atoms in the body have the lowest AUC (of others, and of these, at best)", simple, hardest
    )
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


def _of(cells: Cells, domain: str, adversary: str) -> Iterator[tuple[tuple[str, ...], dict[str, Any]]]:
    return ((key, cell) for key, cell in cells.items() if key[2:] == (domain, adversary))


def _cell_by_cell(words: str, pairs: dict[tuple[str, ...], tuple[Any, Any]]) -> Sequence[str]:
    """Say in how many cells the first is above the second, and in which it is not."""
    known = {key: pair for key, pair in pairs.items() if None not in pair}
    failed = [
        f"{kind} {_SCORERS[scorer]} {less['mean'] - greater['mean']:+.1f}"
        for (kind, scorer, *_), (greater, less) in known.items()
        if greater["mean"] <= less["mean"]
    ]
    here = f"{len(known) - len(failed)} of {len(known)}"
    return words, here + (f" (not {', '.join(failed)})" if failed else ""), "does not hold" if failed else "holds"
