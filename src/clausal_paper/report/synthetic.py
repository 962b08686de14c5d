"""The section for the synthetic tables: every cell by both protocols and both areas, and what closed forms cost."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import product
from pathlib import Path
from statistics import fmean
from typing import Any

from clausal.files import read_json
from clausal_paper.report.records import MISSING, made_on, notes, table
from clausal_paper.synthetic.bases import CLAUSE_TYPES
from clausal_paper.synthetic.cells import ADVERSARIES, DOMAINS, OWN, costs, paper_cells, time_ratio

POINTS = 5.0
"""A cell that is further below the paper than this is marked."""

_SCORERS = {"distmult": "DistMult", "complex": "ComplEx"}
_TITLES = {"none": "α = 0", "gradient": "ASR", "closed-form": "cASR"}
_ONE_ATOM = ("symmetry", "implication", "inverse")
_CELLS = sum(1 for _ in paper_cells())

FILES = {"scripts": "synthetic.json", "text": "synthetic-text.json"}
"""The records by protocol, as ``clausal reproduce synthetic`` names them."""

Cells = dict[tuple[str, ...], dict[str, Any]]


def synthetic_section(folder: Path) -> list[str]:
    """Return the lines of the section, from the files that ``clausal reproduce synthetic`` writes into a folder."""
    lines = ["## Synthetic knowledge bases", "", "```console", "clausal reproduce synthetic"]
    lines += ["clausal reproduce synthetic --protocol text", "```", ""]
    if not (folder / FILES["scripts"]).exists():
        return [*lines, "Nothing has been trained for these tables yet.", ""]
    found = read_json(folder / FILES["scripts"])
    cells = cells_of(found)
    compared = {key: cell for key, cell in cells.items() if cell["paper"] is not None}
    below = sum(_below(cell) for cell in compared.values())
    above = sum(cell["mean"] > cell["paper"] + POINTS for cell in compared.values())
    seconds = sum(cell["cpu_seconds"] for cell in cells.values())
    lines += [
        f"AUC-PR in percent, as average precision: mean and standard deviation over {len(found['seeds'])} knowledge",
        "bases. The mean of ten has a standard error of about a third of that deviation. The adversary is that of the",
        "authors' scripts: ten ascent steps on 100 sets, of which the worst counts.",
        f"{len(compared) - below} of {len(compared)} cells are within {POINTS:g} points of the paper, or above it:",
        f"{above} by more. ▼ marks the others.",
        "",
        *_by_adversary(cells, _cell),
        *_by_text(cells, folder / FILES["text"]),
        *_by_trapezoids(compared),
        *_own(cells),
        *_evidence(found, folder / FILES["text"]),
        f"All cells took {seconds / 60:.0f} minutes of CPU time. {_ratio(found)}Trained on {made_on([found])}.",
        "",
    ]
    return [*lines, *notes(folder / "synthetic-notes.md")]


def cells_of(found: dict[str, Any]) -> Cells:
    """Return the cells of a file by clauses, model, domain and adversary."""
    names = ("clauses", "scorer", "domain", "adversary")
    return {tuple(cell[name] for name in names): cell for cell in found["cells"]}


def _by_adversary(cells: Cells, shown: Callable[[dict[str, Any] | None], str]) -> list[str]:
    """Return the paper's two tables as one, with what is shown of a cell."""
    columns = list(product(ADVERSARIES, DOMAINS))
    head = ["clauses", "model", *(f"{_TITLES[adversary]}, {domain}" for adversary, domain in columns)]
    body = [
        [kind, title, *(shown(cells.get((kind, scorer, domain, adversary))) for adversary, domain in columns)]
        for kind in CLAUSE_TYPES
        for scorer, title in _SCORERS.items()
    ]
    return table(head, body)


def _by_text(cells: Cells, path: Path) -> list[str]:
    """Return ASR by both protocols; nothing where that of the text was not trained."""
    if not path.exists():
        return []
    text = cells_of(read_json(path))
    compared = [cell for key, cell in text.items() if key[3] == "gradient" and cell["paper"] is not None]
    within = sum(not _below(cell) for cell in compared)
    head = [word for domain in DOMAINS for word in (f"{domain}: paper", "scripts, ten steps", "text, one step")]
    body = [
        [kind, title, *(word for domain in DOMAINS for word in _both(cells, text, (kind, scorer, domain, "gradient")))]
        for kind in CLAUSE_TYPES
        for scorer, title in _SCORERS.items()
    ]
    return [
        "ASR by the paper's text, which has one ascent step, beside the scripts. By the text",
        f"{within} of {len(compared)} cells are within {POINTS:g} points of the paper, or above it.{_lower(compared)}",
        "",
        *table(["clauses", "model", *head], body),
    ]


def _lower(cells: Sequence[dict[str, Any]]) -> str:
    """Say how much lower areas by the trapezoidal rule are; nothing where some were not measured."""
    if not all("trapezoid" in cell for cell in cells):
        return ""
    lower = [cell["mean"] - cell["trapezoid"] for cell in cells]
    least, most = min(lower), max(lower)
    return f" Areas by trapezoids are {fmean(lower):.1f} points lower in the mean, by {least:.1f} to {most:.1f}."


def _both(scripts: Cells, text: Cells, key: tuple[str, ...]) -> list[str]:
    paper = next((one[key]["paper"] for one in (scripts, text) if key in one), None)
    return [MISSING if paper is None else f"{paper:.1f}", *(_ours(one.get(key)) for one in (scripts, text))]


def _by_trapezoids(cells: Cells) -> list[str]:
    """Return the mean areas by the trapezoidal rule; nothing where they were not measured."""
    measured = {key: cell for key, cell in cells.items() if "trapezoid" in cell}
    if not measured:
        return []
    within = sum(cell["trapezoid"] >= cell["paper"] - POINTS for cell in measured.values())
    return [
        "The same models with areas by the trapezoidal rule, as the authors' scripts compute them, *paper → ours*.",
        f"{within} of {len(measured)} cells are within {POINTS:g} points of the paper, or above it."
        + _lower(list(measured.values())),
        "",
        *_by_adversary(measured, lambda cell: f"{cell['paper']:.1f} → {cell['trapezoid']:.1f}" if cell else MISSING),
    ]


def _cell(cell: dict[str, Any] | None) -> str:
    if cell is None or cell["paper"] is None:
        return _ours(cell)
    return f"{cell['paper']:.1f} → {_ours(cell)}"


def _ours(cell: dict[str, Any] | None) -> str:
    if cell is None:
        return MISSING
    mark = " ▼" if cell["paper"] is not None and _below(cell) else ""
    return f"{cell['mean']:.1f} ± {cell['spread']:.1f}{mark}"


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
    lines = ["Other ways to climb, random real entities, and grounded clauses:", "", *table(head, body)]
    return [*lines, *_own_means(cells)]


def _own_means(cells: Cells) -> list[str]:
    """Return the means of ASR and of our own adversaries by domain; nothing before all of their cells were trained."""
    places = list(product(CLAUSE_TYPES, _SCORERS))
    body = []
    for adversary in ("gradient", *OWN):
        found = {where: [cells.get((*place, where, adversary)) for place in places] for where in DOMAINS}
        if any(cell is None for some in found.values() for cell in some):
            return []
        means = [fmean(cell["mean"] for cell in some if cell) for some in found.values()]
        body.append([_TITLES.get(adversary, adversary), *(f"{mean:.1f}" for mean in means)])
    return ["In the mean of the ten cells of a column:", "", *table(["adversary", *DOMAINS], body)]


def _evidence(found: dict[str, Any], text: Path) -> list[str]:
    """Say how much evidence of the clauses train has, of which the paper says that there is none.

    Both protocols have the same knowledge bases; records of the first versions do not count it.
    """
    counted = found.get("evidence") or (read_json(text).get("evidence") if text.exists() else None)
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


def synthetic_claims(folder: Path, protocol: str) -> dict[str, tuple[str, bool]]:
    """Return what the paper says in words, with figures by a protocol and whether it holds.

    Cells without ascent are the same by both. Nothing is said before all cells were trained.
    """
    paths = [folder / name for name in dict.fromkeys((FILES["scripts"], FILES[protocol]))]
    if not all(path.exists() for path in paths):
        return {}
    scripts, *text = (cells_of(read_json(path)) for path in paths)
    cells = {key: cell for key, cell in scripts.items() if cell["paper"] is not None}
    if text and not all(key in text[0] for key in cells if key[3] == "gradient"):
        return {}
    cells |= {key: cell for one in text for key, cell in one.items() if cell["paper"] is not None}
    return {words: (figures, holds) for words, figures, holds in _claims(cells)} if len(cells) == _CELLS else {}


def _claims(cells: Cells) -> Iterator[tuple[str, str, bool]]:
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

    def claim(words: str, greater: float, less: float, slack: float = 0.0) -> tuple[str, str, bool]:
        return words, f"{greater:.1f} and {less:.1f}", greater > less - slack

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
    yield _cell_by_cell(
        "clauses of two atoms in the body have a lower AUC than all others, in every cell (ASR)",
        {
            key: (min((cells[kind, *key[1:]] for kind in _ONE_ATOM), key=lambda one: float(one["mean"])), cell)
            for key, cell in cells.items()
            if key[0] not in _ONE_ATOM and key[3] == "gradient"
        },
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


def _cell_by_cell(words: str, pairs: dict[tuple[str, ...], tuple[Any, Any]]) -> tuple[str, str, bool]:
    """Say in how many cells the first is above the second, and in which it is not."""
    known = {key: pair for key, pair in pairs.items() if None not in pair}
    failed = [
        f"{kind} {_SCORERS[scorer]} {less['mean'] - greater['mean']:+.1f}"
        for (kind, scorer, *_), (greater, less) in known.items()
        if greater["mean"] <= less["mean"]
    ]
    here = f"{len(known) - len(failed)} of {len(known)}"
    return words, here + (f" (not {', '.join(failed)})" if failed else ""), not failed
