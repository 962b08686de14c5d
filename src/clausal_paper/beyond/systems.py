"""What the records of a table beyond the paper say: of each row's model, and of the same with entailment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Literal

from clausal_paper.beyond.published import TARGETS
from clausal_paper.beyond.rows import BeyondRow
from clausal_paper.tables.comparison import Comparison, values
from clausal_paper.tables.run import Record


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
