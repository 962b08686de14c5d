"""The AUC-PR of the paper's two synthetic tables: without clauses, with gradient ascent, and in closed form."""

from __future__ import annotations

from collections.abc import Iterator

from clausal_paper.synthetic.cells import Cell

ADVERSARIES = ("none", "gradient", "closed-form")
DOMAINS = ("cube", "sphere")

# For each adversary in turn: cube, sphere.
_AREAS: dict[tuple[str, str], tuple[tuple[float, float], ...]] = {
    ("symmetry", "distmult"): ((96.0, 95.7), (95.9, 95.6), (97.3, 95.2)),
    ("symmetry", "complex"): ((45.0, 42.4), (90.6, 91.2), (91.7, 90.1)),
    ("implication", "distmult"): ((59.2, 61.3), (86.3, 79.2), (85.0, 69.5)),
    ("implication", "complex"): ((60.8, 61.2), (85.8, 79.7), (83.6, 75.5)),
    ("inverse", "distmult"): ((59.6, 59.1), (76.6, 73.1), (76.9, 67.8)),
    ("inverse", "complex"): ((54.7, 51.4), (87.5, 81.0), (80.2, 73.9)),
    ("transitivity", "distmult"): ((45.0, 37.5), (65.9, 45.8)),
    ("transitivity", "complex"): ((40.9, 36.3), (54.8, 42.5)),
    ("composition", "distmult"): ((41.9, 39.5), (44.9, 49.8)),
    ("composition", "complex"): ((39.1, 37.8), (40.3, 45.4)),
}


def paper_cells() -> Iterator[tuple[Cell, float]]:
    """Yield the 40 cells of the iterative table and the 12 of the closed-form one, with the paper's AUC-PR."""
    for (clause_type, scorer), by_adversary in _AREAS.items():
        for adversary, by_domain in zip(ADVERSARIES, by_adversary, strict=False):
            for domain, area in zip(DOMAINS, by_domain, strict=True):
                yield Cell(clause_type, scorer, domain, adversary), area
