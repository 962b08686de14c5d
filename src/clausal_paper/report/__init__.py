"""The page of results, written from the files under ``results/`` alone: the paper's numbers and ours side by side."""

from __future__ import annotations

from pathlib import Path

from clausal_paper.report.claims import claims_section
from clausal_paper.report.synthetic import synthetic_section
from clausal_paper.report.tables import beyond_section, table_section
from clausal_paper.report.unseen import unseen_section
from clausal_paper.report.untuned import untuned_section
from clausal_paper.tables.rows import PAPER_TABLES

__all__ = ["results_page"]

_INTRODUCTION = """\
# Results

The tables of Minervini et al. (2017) made again. A cell reads *paper → ours ± spread*: the mean over seeds, and the
standard deviation between them where there are several. ▲ and ▼ mark cells that differ from the paper by more than
0.01 MRR or one point of Hits. Ours are filtered ranks with the full filter (train, valid and all of test) and
realistic ties; the paper's are probably with a
[smaller filter and optimistic ties](explanation/differences.md#evaluation). Models were chosen by MRR on valid, and so
were settings, as far as the journals under `results/` go; the notes say how far. The paper has the last epoch and not
the best: where records have both, a table shows both. [How to repeat this](how-to/reproduce.md).

<!-- Generated from results/ by `make docs`. -->
"""


def results_page(results: Path) -> str:
    """Return the page in Markdown, from the files under a folder of results."""
    paper = results / "paper"
    lines = [_INTRODUCTION]
    for name in PAPER_TABLES:
        lines += table_section(name, paper / name)
    lines += claims_section(results)
    lines += synthetic_section(paper / "synthetic.json")
    lines += beyond_section(results / "beyond")
    lines += untuned_section(results / "best")
    lines += unseen_section(results / "inductive")
    return "\n".join(lines).rstrip("\n") + "\n"
