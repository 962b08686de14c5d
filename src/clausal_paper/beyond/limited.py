"""WN18 with limited data: what clauses add to the same base, seed by seed, and how near it comes to deduction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any, Literal

from clausal_paper.beyond.published import DEDUCIBLE_TARGET
from clausal_paper.beyond.systems import System
from clausal_paper.tables.comparison import Comparison
from clausal_paper.tables.entailment import DEDUCIBLE

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
