"""What records say: each cell as mean and spread over seeds, next to the paper's number or to a target."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import fmean, stdev
from typing import Any, Literal

from clausal.evaluation import Filter, Ties
from clausal_paper.tables.clauses import DEDUCIBLE
from clausal_paper.tables.published import DEDUCIBLE_TARGET, METRICS, PARTS, TARGETS
from clausal_paper.tables.rows import BeyondRow, PaperRow
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
    def published(self) -> str:
        """The paper's number in words."""
        return self._text(self.paper)

    @property
    def measured(self) -> str:
        """Ours ± spread in words."""
        spread = "" if self.spread is None else f" ± {self._text(self.spread)}"
        return f"{self._text(self.mean)}{spread}"

    @property
    def marked(self) -> str:
        """Ours ± spread, with ▲ or ▼ where ours differs from the paper's."""
        mark = "" if not self.differs else " ▲" if (self.difference or 0) > 0 else " ▼"
        return f"{self.measured}{mark}"

    def __str__(self) -> str:
        """Return paper → ours ± spread, with ▲ or ▼ where ours differs."""
        return f"{self.published} → {self.marked}"

    def _text(self, value: float | None) -> str:
        return "–" if value is None else f"{value:.{3 if self.metric == 'mrr' else 1}f}"


def compare(
    rows: Sequence[PaperRow],
    records: Iterable[Record],
    *,
    filter: Filter = "full",
    ties: Ties = "realistic",
    of: Literal["metrics", "last"] = "metrics",
) -> dict[Key, Comparison]:
    """Compare records with the paper, by the best epoch on valid or the last; cells that neither has are left out."""
    by_row: dict[str, list[Record]] = {row.name: [] for row in rows}
    for record in records:
        by_row[record["row"]].append(record)
    cells: dict[Key, Comparison] = {}
    for row in rows:
        for part in PARTS:
            for metric in METRICS:
                paper = row.paper.get(part, {}).get(metric)
                ours = tuple(values(by_row[row.name], part, metric, filter=filter, ties=ties, of=of))
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
    of: Literal["metrics", "last", "entailed"] = "metrics",
) -> Iterator[float]:
    """Yield a metric of a part of test from each record that has it: of the best model on valid, of the one of the last
    epoch, or of the best with what train entails first.
    """
    scale = 1 if metric == "mrr" else 100
    for record in records:
        found: dict[str, Any] = _measured(record, of).get(filter, {}).get(ties, {}).get(part, {})
        if metric in found:
            yield scale * found[metric]


def _measured(record: Record, of: str) -> dict[str, Any]:
    """Return the metrics of one of a record's models; where the best pass of KALE is its last, the best is the last."""
    if of == "last" and of not in record and record["best_epoch"] == record["settings"].get("kale", {}).get("passes"):
        of = "metrics"
    found: dict[str, Any] = record.get(of, {})
    return found


@dataclass(frozen=True, eq=False)
class System:
    """A row's trained model as it is, or ``entailed``: with what train entails before all else."""

    row: BeyondRow
    records: tuple[Record, ...]
    entailed: bool

    @property
    def title(self) -> str:
        """How tables for people name it: entailment stands below the row that it is added to."""
        return "+ entailment" if self.entailed else self.row.title

    @property
    def seconds(self) -> float:
        """The mean time of a training."""
        return fmean(record["seconds"] for record in self.records)

    def cell(self, part: str, metric: str, filter: Literal["full", "whole"] = "full") -> Comparison:
        """Return a metric of a part of test by seed; MRR as a number, Hits in percent."""
        ours = values(self.records, part, metric, filter=filter, of="entailed" if self.entailed else "metrics")
        return Comparison(metric, None, tuple(ours))

    def short_of_target(self) -> dict[str, float]:
        """Return by how much mean MRR is below the table's target, for each part where it is."""
        least = TARGETS.get(self.row.table, {})
        reached = {part: self.cell(part, "mrr").mean for part in least}
        return {part: least[part] - (mean or 0.0) for part, mean in reached.items() if (mean or 0.0) < least[part]}


def systems_of(rows: Sequence[BeyondRow], records: Sequence[Record]) -> list[System]:
    """Return the systems that were trained, in the order of the table."""
    systems = []
    for row in rows:
        found = tuple(record for record in records if record["row"] == row.name)
        if found:
            systems.append(System(row, found, entailed=False))
            if any("entailed" in record for record in found):
                systems.append(System(row, found, entailed=True))
    return systems


SizeFilter = Literal["full", "whole"]


@dataclass(frozen=True, eq=False)
class Size:
    """One share of the facts, with the seeds that both the base and the model with clauses were trained by.

    The filter is ``full``, that of the limited graph, or ``whole``, which knows the facts that were taken away too.
    """

    share: float
    base: System
    with_clauses: System
    filter: SizeFilter = "full"

    @property
    def entailed(self) -> System:
        """The model with clauses, with what train entails before all else."""
        return replace(self.with_clauses, entailed=True)

    def mrr(self, system: System, part: str = "test") -> Comparison:
        """Return the MRR of one of the systems by seed, by this filter."""
        return system.cell(part, "mrr", self.filter)

    @property
    def gain(self) -> Comparison:
        """The MRR that clauses add, by seed: both models see the same facts."""
        pairs = zip(self.mrr(self.with_clauses).ours, self.mrr(self.base).ours, strict=True)
        return Comparison("mrr", None, tuple(after - before for after, before in pairs))

    @property
    def ceiling(self) -> Comparison:
        """The MRR of deduction alone, by seed."""
        return Comparison("mrr", None, tuple(found["mrr"] for found in self._ceilings()))

    @property
    def share_of_ceiling(self) -> float:
        """The MRR with clauses over that of deduction alone: above 1 where the model learns what does not follow."""
        pairs = zip(self.mrr(self.with_clauses).ours, self.ceiling.ours, strict=True)
        return fmean(mrr / ceiling for mrr, ceiling in pairs)

    @property
    def deducible_share(self) -> float:
        """The share of test facts that follow from the limited train facts."""
        return fmean(found["share"] for found in self._ceilings())

    def missed(self) -> list[str]:
        """Name the targets that are missed: clauses add something, and facts that follow are ranked accordingly."""
        deducible = self.mrr(self.with_clauses, DEDUCIBLE).mean or 0.0
        gain = self.gain.mean or 0.0
        return ["gain"] * (gain <= 0) + ["deducible MRR"] * (deducible < DEDUCIBLE_TARGET)

    def _ceilings(self) -> list[dict[str, Any]]:
        return [record["ceiling"][self.filter] for record in self.with_clauses.records]


def sizes_of(systems: Sequence[System]) -> list[Size]:
    """Return the sizes that were trained both without and with clauses, by the same seeds."""
    found = {(system.row.share, system.row.model): system for system in systems if not system.entailed}
    sizes = []
    for share, model in found:
        if model != "base" or share is None or (share, "all") not in found:
            continue
        base, with_clauses = found[share, "base"], found[share, "all"]
        seeds = _seeds(base) & _seeds(with_clauses)
        if seeds:
            sizes.append(Size(share, _of(base, seeds), _of(with_clauses, seeds)))
    return sizes


def _seeds(system: System) -> set[int]:
    return {record["seed"] for record in system.records}


def _of(system: System, seeds: set[int]) -> System:
    """Return a system's trainings by some seeds, in their order."""
    records = [record for record in system.records if record["seed"] in seeds]
    return replace(system, records=tuple(sorted(records, key=lambda record: int(record["seed"]))))
