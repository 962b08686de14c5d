"""The page of results, written from the files under ``results/`` alone: the paper's numbers and ours side by side."""

from __future__ import annotations

from pathlib import Path

from clausal_paper.report.beyond import beyond_section
from clausal_paper.report.claims import claims_section
from clausal_paper.report.records import table
from clausal_paper.report.robustness import robustness_section
from clausal_paper.report.synthetic import synthetic_section
from clausal_paper.report.tables import table_section
from clausal_paper.report.unseen import unseen_section
from clausal_paper.report.untuned import untuned_section
from clausal_paper.tables.rows import PAPER_TABLES

__all__ = ["results_page"]

_INTRODUCTION = """\
# Results

First the paper of Minervini et al. (2017): [what it claims](#what-the-paper-claims), sentence by sentence, then its
tables made again. After that [how robust](#how-robust-the-models-are) its models are,
[better models](#beyond-the-paper), and models [without tuning](#without-tuning---preset-best-and-votes). Every figure
is of a record under `results/`; [how to repeat this](how-to/reproduce.md).

<!-- Generated from results/ by `make docs`. -->
"""

_WORDS = {
    "ASR": "Adversarial Set Regularisation: a model trained with clauses, for which gradient ascent looks for vectors "
    "that violate them most",
    "cASR": "the same with the largest violation in closed form; for clauses with one atom in the body",
    "Test-I, Test-II, Test-ALL": "the test facts that do not follow from train by the clauses, those that do, and all",
    "paper": "the figure that the paper prints; those of TransE and KALE are of Guo et al. (2016)",
    "best, last": "ours, of the same training: the model of the epoch with the best MRR on valid, and that of the last "
    "epoch, which the paper reports",
    "0.320 ± 0.011": "the mean over seeds, and the standard deviation between them where there are several",
    "▲, ▼": "above or below the paper by more than 0.01 MRR, or one point of Hits",
    "full filter, realistic ties": "how ours are ranked: without the other answers that train, valid and test know, "
    "and among equal scores at the mean of their places. The paper's are probably by "
    "[a partial filter and optimistic ties](explanation/differences.md#evaluation); a table has ours by these too",
    "k, γ, α, B, τ_a": "dimension, margin, weight of the clauses, adversarial sets for each clause, ascent steps",
}

_CHOICE = """\
Models were chosen by MRR on valid, and so were settings, as far as the journals under `results/` go; the remarks below
each table say how far.
"""


def results_page(results: Path) -> str:
    """Return the page in Markdown, from the files under a folder of results."""
    paper = results / "paper"
    lines = [_INTRODUCTION, *table(["word", "meaning"], _WORDS.items()), _CHOICE, *claims_section(results)]
    for name in PAPER_TABLES:
        lines += table_section(name, paper / name)
    lines += synthetic_section(paper)
    lines += robustness_section(paper / "certify")
    lines += beyond_section(results / "beyond")
    lines += untuned_section(results / "best")
    lines += unseen_section(results / "inductive")
    return "\n".join(lines).rstrip("\n") + "\n"
