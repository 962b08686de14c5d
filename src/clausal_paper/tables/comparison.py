"""The paper's numbers and ours, cell by cell: mean and spread over seeds, and whether the two differ."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import Any, Literal

from clausal.evaluation.evaluate import Filter
from clausal.evaluation.ranks import Ties
from clausal_paper.tables.paper import METRICS, PARTS
from clausal_paper.tables.rows import Row
from clausal_paper.tables.run import Record

TOLERANCE = {"mrr": 0.01, "hits@3": 1.0, "hits@5": 1.0, "hits@10": 1.0}
"""Ours differs from the paper where it is further away than this: MRR as a number, Hits in percent."""

Key = tuple[str, str, str]
"""A row's name, a part of test and a metric."""


@dataclass(frozen=True)
class Comparison:
    """One cell: the paper's number, if it has one, and ours by seed; MRR as a number, Hits in percent."""

    metric: str
    paper: float | None
    ours: tuple[float, ...]

    @property
    def mean(self) -> float | None:
        """The mean over seeds; None where nothing was trained."""
        return fmean(self.ours) if self.ours else None

    @property
    def spread(self) -> float | None:
        """The standard deviation between seeds; None with fewer than two."""
        return stdev(self.ours) if len(self.ours) > 1 else None

    @property
    def difference(self) -> float | None:
        """Ours minus the paper's."""
        return None if self.mean is None or self.paper is None else self.mean - self.paper

    @property
    def differs(self) -> bool:
        """Whether the difference is more than 0.01 MRR or one point of Hits."""
        return self.difference is not None and abs(self.difference) > TOLERANCE[self.metric] + 1e-9

    @property
    def measured(self) -> str:
        """Ours ± spread in words."""
        spread = "" if self.spread is None else f" ± {self._text(self.spread)}"
        return f"{self._text(self.mean)}{spread}"

    def __str__(self) -> str:
        """Return paper → ours ± spread, with ▲ or ▼ where ours differs."""
        mark = "" if not self.differs else " ▲" if (self.difference or 0) > 0 else " ▼"
        return f"{self._text(self.paper)} → {self.measured}{mark}"

    def _text(self, value: float | None) -> str:
        return "–" if value is None else f"{value:.{3 if self.metric == 'mrr' else 1}f}"


def compare(
    rows: Sequence[Row], records: Iterable[Record], *, filter: Filter = "full", ties: Ties = "realistic"
) -> dict[Key, Comparison]:
    """Compare records with the paper; cells that neither has are left out."""
    by_row: dict[str, list[Record]] = {row.name: [] for row in rows}
    for record in records:
        by_row[record["row"]].append(record)
    cells: dict[Key, Comparison] = {}
    for row in rows:
        for part in PARTS:
            for metric in METRICS:
                paper = row.paper.get(part, {}).get(metric)
                ours = tuple(values(by_row[row.name], part, metric, filter=filter, ties=ties))
                if paper is not None or ours:
                    cells[row.name, part, metric] = Comparison(metric, paper, ours)
    return cells


def values(
    records: Iterable[Record],
    part: str,
    metric: str,
    *,
    filter: Filter | Literal["whole"] = "full",
    ties: Ties = "realistic",
    of: Literal["metrics", "entailed"] = "metrics",
) -> Iterator[float]:
    """Yield a metric of a part of test from each record that has it: of the model, or with what train entails first."""
    scale = 1 if metric == "mrr" else 100
    for record in records:
        found: dict[str, Any] = record.get(of, {}).get(filter, {}).get(ties, {}).get(part, {})
        if metric in found:
            yield scale * found[metric]
