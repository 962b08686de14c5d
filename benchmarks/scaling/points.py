"""The points that are measured: along each axis one size grows and the others stay."""

from __future__ import annotations

from typing import NamedTuple

TRIPLES_PER_ENTITY = 4


class Point(NamedTuple):
    """The size of one measurement; ``adversary`` matters where there are clauses."""

    axis: str
    triples: int
    entities: int
    dim: int = 100
    clauses: int = 0
    adversary: str = "none"

    @property
    def key(self) -> str:
        """The name under which the measurement is stored."""
        return f"{self.axis} {getattr(self, self.axis)} {self.adversary}".removesuffix(" none")


def all_points() -> list[Point]:
    """Return every point, those of an axis in growing order."""
    million = 1_000_000
    triples = [
        Point("triples", n, n // TRIPLES_PER_ENTITY)
        for n in (1 * million, 2 * million, 5 * million, 10 * million, 20 * million)
    ]
    entities = [Point("entities", 5 * million, n) for n in (10_000, 100_000, million, 5 * million)]
    dims = [Point("dim", million, 250_000, dim) for dim in (50, 100, 200, 400)]
    few = Point("clauses", 200_000, 50_000)
    clauses = [
        few._replace(clauses=n, adversary=adversary)
        for adversary in ("gradient", "closed-form")
        for n in (0, 10, 100, 1_000)
    ]
    return [*triples, *entities, *dims, *clauses]
